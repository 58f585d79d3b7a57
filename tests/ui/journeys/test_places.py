"""Notebooks are renamed, copied, opened twice, and worked on side by side."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.scripted import stall

from ..lab import LabServer
from ..visit import has, open_panel, rows
from .desk import Desk, execute, press, role_is, stands
from .script import Script


def test_two_tabs_show_the_same_run(
    page: Page, second: Page, desk_lab: LabServer, script: Script
) -> None:
    script.step("Write snow2.txt", stall("One moment"))
    script.when("Report on snow", script.writes("snow", 1, 2))
    script.when("Report on rain", script.writes("rain", 1))
    cells = ("%%plan\nReport on snow", "%%plan\nReport on rain")
    desk = Desk(page, desk_lab, "weather.ipynb", *cells)
    snow = desk.run(1)
    stands(snow, "Plan ready")
    desk.reload()
    other = Desk(second, desk_lab, "weather.ipynb")
    stands(other.card(1), "Plan ready")
    press(other.card(1), "Execute plan")
    expect(snow.locator(".cw-step-running")).to_contain_text("Write snow2.txt")
    expect(snow.get_by_role("button", name="Execute plan")).to_have_count(0)
    other.is_as_it_happened()
    desk.is_as_it_happened()
    press(snow, "Stop")
    for card in (snow, other.card(1)):
        stands(card, "Stopped")
        role_is(card, "Actor")
    press(other.card(1), "Go on")
    for card in (snow, other.card(1)):
        stands(card, "Completed")
    other.is_as_it_happened()

    rain = desk.run(2)
    stands(rain, "Plan ready")
    stands(snow, "Completed")
    desk.reload()
    second.reload()
    stands(other.card(2), "Plan ready")
    stands(other.card(1), "Completed")
    other.is_as_it_happened()
    execute(other.card(2))
    stands(rain, "Completed")
    assert desk.has("snow1.txt", "snow2.txt", "rain1.txt")


def test_two_notebooks_are_two_conversations(
    page: Page, second: Page, desk_lab: LabServer, script: Script
) -> None:
    script.step("Write hills1.txt", stall("One moment"))
    script.when("Report on hills", script.writes("hills", 1))
    script.when("Report on vales", script.writes("vales", 1))
    hills = Desk(page, desk_lab, "hills.ipynb", "%%plan\nReport on hills")
    vales = Desk(second, desk_lab, "vales.ipynb", "%%plan\nReport on vales")
    up, down = hills.run(1), vales.run(1)
    stands(up, "Plan ready")
    press(up, "Execute plan")
    expect(up.locator(".cw-step-running")).to_have_count(1)
    stands(down, "Plan ready")
    vales.is_as_it_happened()
    execute(down)  # while the other one is still at work
    assert hills.has("vales1.txt")
    hills.is_as_it_happened()
    panel = open_panel(page)
    for name in ("hills", "vales"):
        expect(rows(panel).filter(has_text=has(name))).to_have_count(1)
    press(up, "Stop")
    stands(up, "Stopped")
    press(up, "Go on")
    stands(up, "Completed")
    hills.reload()
    vales.reload()
    stands(up, "Completed")
    stands(down, "Completed")
