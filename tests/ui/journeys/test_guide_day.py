"""A day with the built-in guide, which needs no model."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from ..lab import LabServer
from .desk import Desk, discuss, execute, press, role_is, roll_back, stands

TABLE = "day,price\n" + "".join(f"2026-{n % 12 + 1:02d}-01,{n % 7}.5\n" for n in range(50))


def made(lab: LabServer) -> set[str]:
    return {path.name for path in Path(lab.root).glob("prices*")}


def test_two_plans_of_the_guide_are_executed_and_taken_back(page: Page, lab: LabServer) -> None:
    (lab.root / "prices.csv").write_text(TABLE)
    goals = ("Clean prices.csv", "Profile prices.csv and plot price over time")
    desk = Desk(page, lab, "guide-day.ipynb", *(f"%%plan\n{goal}" for goal in goals))
    clean = desk.run(goals[0])
    stands(clean, "Plan ready")
    desk.is_as_it_happened()
    plot = desk.run(goals[1])
    stands(plot, "Plan ready")
    desk.reload()
    stands(clean, "Plan ready")
    execute(clean)
    assert "prices_clean.csv" in made(lab)
    stands(plot, "Plan ready")
    role_is(plot, "Planner")
    desk.is_as_it_happened()

    desk.reload()
    execute(plot)
    expect(page.locator(".jp-CodeCell .jp-OutputArea img").first).to_be_visible()
    desk.reload()
    stands(clean, "Completed")
    stands(plot, "Completed")
    desk.is_as_it_happened()
    roll_back(clean)
    assert "prices_clean.csv" not in made(lab)
    press(clean, "Undo the rollback")
    expect(clean).to_contain_text("The rollback is undone.")
    assert "prices_clean.csv" in made(lab)
    press(clean, "Close")
    discuss(clean, "What is in prices.csv?")
    expect(clean.locator(".cw-said-user")).to_contain_text("What is in prices.csv?")
    desk.restart_kernel()
    desk.reload()
