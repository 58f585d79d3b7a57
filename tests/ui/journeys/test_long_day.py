"""A whole day in one notebook."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.scripted import call, plan, text

from ..lab import LabServer
from ..visit import open_panel, rows, say
from .desk import Desk, answer, discuss, execute, press, role_is, roll_back, stands
from .script import Script, question, write

pytestmark = pytest.mark.slow

CELLS = (
    "%%plan\nReport on bread",
    "%%act\nBuy flour",
    "%%act\nWhich oven?",
    "%%plan\nReport on cake",
    "%%act",
    "%%act\nTaste it",
)


def test_a_day_of_plans_acts_questions_and_second_thoughts(
    page: Page, desk_lab: LabServer, script: Script
) -> None:
    script.when("Report on bread", script.writes("bread", 1, 2))
    script.when(
        "Buy flour", call("create_file", path="flour.md", content="1 kg\n"), text("Bought.")
    )
    script.when("Which oven?", question("Gas or not?", "Gas", "Electric"), text("Gas it is."))
    script.when("Report on cake", script.writes("cake", 1, 2))
    script.when("Only one cake", plan("Report on one cake", write("cake", 1)))
    script.when("Taste it", text("Good."))
    script.when("What is left?", text("Crumbs."))
    desk = Desk(page, desk_lab, "bakery.ipynb", *CELLS)
    bread = desk.run(1)
    stands(bread, "Plan ready")
    flour = desk.run(2)
    press(flour, "Deny")
    stands(flour, "Completed")
    assert not desk.has("flour.md")
    discuss(flour, "Buy flour after all")
    press(flour, "Allow once")
    stands(flour, "Completed")
    assert desk.has("flour.md")
    role_is(bread, "Planner")
    desk.is_as_it_happened()

    oven = desk.run(3)
    expect(oven).to_contain_text("Gas or not?")
    desk.reload()
    answer(oven, "Gas")
    expect(oven).to_contain_text("Gas it is.")
    stands(oven, "Completed")
    execute(bread)
    cake = desk.run(4)
    stands(cake, "Plan ready")
    discuss(cake, "Only one cake")
    expect(cake.locator(".cw-step")).to_have_count(1)
    role_is(cake, "Planner")
    desk.is_as_it_happened()
    desk.restart_kernel()
    run = desk.run(5)  # the empty cell executes the current plan
    stands(run, "Completed")
    stands(cake, "Completed")
    assert desk.has("cake1.txt")
    assert not desk.has("cake2.txt")
    desk.is_as_it_happened()

    desk.reload()
    roll_back(bread)
    assert not desk.has("bread1.txt")
    assert desk.has("cake1.txt", "flour.md")
    press(bread, "Close")
    taste = desk.run(6)
    stands(taste, "Completed")
    panel = open_panel(page)
    rows(panel).filter(has_text="Report on bread").click()  # what the conversation began with
    expect(panel.locator(".cw-run").last).to_contain_text("Good.")
    say(panel, "What is left?")
    expect(panel.locator(".cw-run").last).to_contain_text("Crumbs.")
    desk.is_as_it_happened()
    desk.reload()
    for card in (bread, flour, oven, cake, run, taste):
        stands(card, "Completed")
