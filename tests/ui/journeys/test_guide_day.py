"""A day with the built-in guide, which needs no model."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from ..lab import LabServer
from .desk import Desk, answer, discuss, execute, press, role_is, roll_back, stands

pytestmark = pytest.mark.slow

TABLE = "day,price\n" + "".join(f"2026-{n % 12 + 1:02d}-01,{n % 7}.5\n" for n in range(50))


def made(lab: LabServer) -> set[str]:
    return {path.name for path in Path(lab.root).glob("prices*")}


def test_two_plans_of_the_guide_are_executed_and_taken_back(page: Page, lab: LabServer) -> None:
    (lab.root / "prices.csv").write_text(TABLE)
    goals = (
        "Remove duplicate rows from prices.csv",
        "Profile prices.csv and plot price over time",
    )
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
    expect(page.locator(".jp-CodeCell .jp-OutputArea img").first).to_be_visible()
    press(clean, "Undo the rollback")
    expect(clean).to_contain_text("The rollback is undone.")
    assert "prices_clean.csv" in made(lab)
    press(clean, "Close")
    desk.reload()
    expect(clean).to_contain_text("Rolled back. Restored: guide-day.ipynb. Removed: ")
    expect(clean).to_contain_text("The rollback is undone.")
    expect(plot).not_to_contain_text("Rolled back.")
    discuss(clean, "Why those rows?")
    expect(clean.locator(".cw-said-user")).to_contain_text("Why those rows?")
    expect(clean).to_contain_text("I cannot use “those”. What should I do instead?")
    answer(clean, "Nothing of this")
    expect(clean).to_contain_text("I cannot use “those”, so I did nothing.")
    stands(clean, "Completed")  # it said so, which is no failure
    desk.restart_kernel()
    desk.reload()
    stands(clean, "Completed")
    expect(clean).to_contain_text("I cannot use “those”, so I did nothing.")
    stands(plot, "Completed")


def test_the_guide_asks_acts_and_says_what_it_cannot_do(page: Page, lab: LabServer) -> None:
    (lab.root / "rents.csv").write_text(TABLE.replace(",3.5", ",").replace("price", "rent"))
    goals = ("Fill missing rent in rents.csv", "Profile rents.csv", "Write a poem")
    magics = ("%%plan", "%%act", "%%act")
    cells = (f"{magic}\n{goal}" for magic, goal in zip(magics, goals, strict=True))
    desk = Desk(page, lab, "rents.ipynb", *cells)
    clean = desk.run(goals[0])
    expect(clean).to_contain_text("Fill them with what?")
    desk.reload()
    desk.is_as_it_happened()
    clean.locator(".cw-option", has_text="the median value").click()
    stands(clean, "Plan ready")
    first = clean.locator(".cw-step").first
    expect(first).to_contain_text("fill missing rent with the median value")
    discuss(clean, "Also plot the mean rent over time")
    expect(clean.locator(".cw-step")).to_have_count(2)
    expect(first).to_contain_text("fill missing rent with the median value")
    role_is(clean, "Planner")
    desk.is_as_it_happened()

    poem = desk.run(goals[2])
    stands(poem, "Completed")
    expect(poem).to_contain_text("I cannot use “poem”, so I did nothing.")
    expect(poem).to_contain_text("For anything else, connect a language model")
    stands(clean, "Plan ready")
    desk.reload()
    execute(clean)
    assert (lab.root / "rents_clean.csv").exists()
    profile = desk.run(goals[1])
    # The table is loaded already, and looking at packages runs in scratch, which needs no approval.
    for what in ("Insert a cell", "Run a cell") * 2:
        expect(profile.locator(".cw-card").nth(1)).to_contain_text(what)
        press(profile, "Allow once")
    stands(profile, "Completed")
    desk.is_as_it_happened()
    desk.restart_kernel()
    desk.reload()
    stands(poem, "Completed")
    stands(profile, "Completed")
    press(clean, "Re-plan")
    stands(clean, "Plan ready")
    role_is(clean, "Planner")
