"""Notebooks are renamed, copied, opened twice, and worked on side by side."""

from __future__ import annotations

import shutil

import pytest
from playwright.sync_api import Page, expect

from tests.scripted import Scripted, call, plan, stall, text

from ..lab import LabServer
from ..visit import has, open_panel, rows
from .desk import Desk, execute, press, role_is, stands
from .script import Script

pytestmark = pytest.mark.slow


def test_a_renamed_notebook_keeps_its_conversation(
    page: Page, desk_lab: LabServer, script: Script
) -> None:
    script.when("Report on roads", script.writes("roads", 1, 2))
    script.when("Report on rails", script.writes("rails", 1))
    script.when("How many?", text("Two."))
    cells = ("%%plan\nReport on roads", "%%plan\nReport on rails", "%%act\nHow many?")
    desk = Desk(page, desk_lab, "draft.ipynb", *cells)
    roads = desk.run(1)
    stands(roads, "Plan ready")
    desk.reload()
    desk.rename("traffic.ipynb")
    desk.is_as_it_happened()
    execute(roads)
    assert desk.has("roads1.txt", "roads2.txt", "traffic.ipynb")
    rails = desk.run(2)
    stands(rails, "Plan ready")
    desk.reload()
    stands(roads, "Completed")
    desk.restart_kernel()
    asked = desk.run(3)
    expect(asked).to_contain_text("Two.")
    stands(asked, "Completed")
    execute(rails)
    assert desk.has("rails1.txt")
    panel = open_panel(page)
    expect(rows(panel).filter(has_text="Report on roads")).to_have_count(1)
    for later in ("Report on rails", "How many?"):
        expect(rows(panel).filter(has_text=later)).to_have_count(0)
    desk.reload()
    desk.is_as_it_happened()


def test_a_plan_for_a_notebook_follows_its_name(
    page: Page, desk_lab: LabServer, script: Script
) -> None:
    def insert(path: str, source: str) -> Scripted:
        return call("insert_cell", path=path, source=source)

    step = {"tools_needed": ["insert_cell"], "files": ["notes.ipynb"]}
    steps = ({"action": "Greet", **step}, {"action": "Part", **step, "depends_on": ["1"]})
    script.when("Fill the notebook", plan("Fill the notebook", *steps))
    script.step("Greet", insert("diary.ipynb", "'hello'"), text("Greeted."))
    # The agent of this step goes on with the old name, until it is told the new one.
    goodbye = (insert(name, "'goodbye'") for name in ("diary.ipynb", "journal.ipynb"))
    script.step("Part", stall("One moment"), *goodbye, text("Parted."))
    desk = Desk(page, desk_lab, "notes.ipynb", "%%plan\nFill the notebook")
    filling = desk.run(1)
    stands(filling, "Plan ready")
    desk.rename("diary.ipynb")
    expect(filling).to_contain_text("diary.ipynb")
    expect(filling).not_to_contain_text("notes.ipynb")
    press(filling, "Execute plan")
    expect(filling.locator(".cw-step-running")).to_contain_text("Part")
    expect(desk.cell("'hello'")).to_have_count(1)
    press(filling, "Stop")
    stands(filling, "Stopped")
    desk.rename("journal.ipynb")
    press(filling, "Continue")
    stands(filling, "Completed")
    expect(desk.cell("'goodbye'")).to_have_count(1)
    assert desk.has("journal.ipynb")
    assert not desk.has("notes.ipynb")
    assert not desk.has("diary.ipynb")
    desk.is_as_it_happened()
    press(filling, "Roll back…")
    expect(filling).to_contain_text("journal.ipynb")
    press(filling, "Roll back now")
    expect(filling).to_contain_text("Rolled back.")
    for words in ("'hello'", "'goodbye'"):
        expect(desk.cell(words)).to_have_count(0)
    desk.reload()
    stands(filling, "Completed")


def test_the_cards_of_a_copy_are_records(page: Page, desk_lab: LabServer, script: Script) -> None:
    script.when("Report on ships", script.writes("ships", 1))
    script.when("Report on boats", script.writes("boats", 1))
    cells = ("%%plan\nReport on ships", "%%plan\nReport on boats")
    desk = Desk(page, desk_lab, "ships.ipynb", *cells)
    ships = desk.run(1)
    stands(ships, "Plan ready")
    desk.reload()
    stands(ships, "Plan ready")
    shutil.copy(desk_lab.root / "ships.ipynb", desk_lab.root / "copy.ipynb")

    copy = Desk(page, desk_lab, "copy.ipynb")
    expect(copy.card(1)).to_contain_text("A record")
    expect(copy.card(1)).to_contain_text("Write ships1.txt")
    for name in ("Execute plan", "Discuss…", "Re-plan", "Edit steps"):
        expect(copy.card(1).get_by_role("button", name=name)).to_have_count(0)
    copy.run(0)
    boats = copy.run(2)  # which begins a conversation of the copy's own
    execute(boats)
    assert desk.has("boats1.txt")
    assert not desk.has("ships1.txt")
    copy.reload()
    stands(boats, "Completed")

    desk = Desk(page, desk_lab, "ships.ipynb")
    execute(desk.card(1))
    assert desk.has("ships1.txt")
    expect(desk.card(2)).to_have_count(0)
    desk.reload()
    desk.is_as_it_happened()


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
    press(other.card(1), "Continue")
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
    press(up, "Continue")
    stands(up, "Completed")
    hills.reload()
    vales.reload()
    stands(up, "Completed")
    stands(down, "Completed")
