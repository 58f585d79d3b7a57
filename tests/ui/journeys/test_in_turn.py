"""Cells that must wait their turn, cells that are run again, and what is said in between."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.scripted import call, plan, text

from ..lab import LabServer
from ..visit import go_back, open_panel, rows, say
from .desk import Desk, execute, press, role_is, stands
from .script import Script, write

pytestmark = pytest.mark.slow


def test_a_cell_waits_its_turn_and_is_run_again(
    page: Page, desk_lab: LabServer, script: Script
) -> None:
    menu = call("create_file", path="menu.md", content="# Menu\n")
    script.when("Write the menu", menu, text("Wrote it."), text("It is there already."))
    script.when("Report on soup", script.writes("soup", 1, 2))
    script.when("Report on soup", plan("Report on soup once more", write("soup", 3)))
    script.writes("soup", 3)
    cells = ("%%act\nWrite the menu", "%%plan\nReport on soup")
    desk = Desk(page, desk_lab, "kitchen.ipynb", *cells)
    act = desk.run(1)
    expect(act).to_contain_text("menu.md")
    soup = desk.run(2)
    expect(desk.cell(2)).to_contain_text("Nothing was sent.")
    expect(desk.cell(2)).to_contain_text("waits for your permission")
    expect(soup).to_have_count(0)
    desk.is_as_it_happened()

    press(act, "Allow once")
    stands(act, "Completed")
    desk.run(2)
    stands(soup, "Plan ready")
    desk.run(2)  # which only shows it once more
    expect(soup).to_contain_text("This cell has run before.")
    execute(soup)
    assert desk.has("soup1.txt", "soup2.txt")
    desk.reload()
    desk.restart_kernel()
    desk.run(2)
    expect(soup).to_contain_text("This cell has run before.")
    stands(soup, "Completed")
    desk.is_as_it_happened()
    press(soup, "Run again")
    expect(soup).to_contain_text("Report on soup once more")
    execute(soup)
    assert desk.has("soup3.txt")
    desk.run(1)
    press(act, "Start over")  # in a conversation of its own
    expect(act).to_contain_text("It is there already.")
    expect(act).not_to_contain_text("Wrote it.")
    desk.reload()
    stands(act, "Completed")
    stands(soup, "Completed")


def test_a_run_is_accompanied_in_the_panel(page: Page, desk_lab: LabServer, script: Script) -> None:
    script.when("Report on fish", script.writes("fish", 1))
    note = call("create_file", path="catch.md", content="Carp\n")
    script.when("Note the catch", note, text("Noted at length."))
    script.when("Make it short", text("Short it is."))
    script.when("What is a carp?", text("A fish."))
    desk = Desk(page, desk_lab, "fish.ipynb", "%%plan\nReport on fish")
    fish = desk.run(1)
    stands(fish, "Plan ready")
    panel = open_panel(page)
    rows(panel).filter(has_text="Report on fish").click()
    told = panel.locator(".cw-run")
    execute(told)
    stands(fish, "Completed")
    role_is(fish, "Actor")
    desk.is_as_it_happened()

    say(panel, "Note the catch")
    expect(told.last).to_contain_text("catch.md")
    field = panel.locator(".cw-composer textarea")
    for words in ("Make it short", "Make it long"):
        field.fill(words)
        field.press("Enter")
        expect(panel.locator(".cw-queue")).to_contain_text(f"Queued: {words}")
    press(panel, "Withdraw: Make it long")
    expect(panel.locator(".cw-queue li")).to_have_count(1)
    stands(told.last, "Waiting for you")
    desk.is_as_it_happened()
    press(told.last, "Allow once")
    expect(told.last).to_contain_text("Short it is.")
    stands(told.last, "Completed")
    expect(panel.locator(".cw-queue li")).to_have_count(0)
    expect(told.last.locator(".cw-said-user")).to_have_count(1)
    expect(fish).not_to_contain_text("Short it is.")
    assert desk.has("fish1.txt", "catch.md")
    desk.is_as_it_happened()

    desk.reload()
    stands(fish, "Completed")
    panel = open_panel(page)
    rows(panel).filter(has_text="Report on fish").click()
    expect(panel.locator(".cw-run").last).to_contain_text("Short it is.")
    go_back(panel)
    say(panel, "What is a carp?")  # which begins another conversation
    expect(panel.locator(".cw-run")).to_contain_text("A fish.")
    stands(panel.locator(".cw-run"), "Completed")
    go_back(panel)
    expect(rows(panel).filter(has_text="What is a carp?")).to_have_count(1)
