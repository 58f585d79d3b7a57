"""Several plans in one notebook, whose steps have the same ids."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.scripted import plan, text

from ..lab import LabServer
from .desk import Desk, discuss, execute, press, role_is, stands
from .script import Script, write


def test_two_goals_are_two_plans_and_each_card_executes_its_own(
    page: Page, desk_lab: LabServer, script: Script
) -> None:
    script.when("Report on north", script.writes("north", 1, 2))
    script.when("Report on south", script.writes("south", 1, 2))
    script.when("Report on east", script.writes("east", 1))
    goals = (f"%%plan\nReport on {name}" for name in ("north", "south", "east"))
    desk = Desk(page, desk_lab, "goals.ipynb", *goals)
    north = desk.run(1)
    execute(north)
    south = desk.run(2)
    stands(south, "Plan ready")
    desk.is_as_it_happened()
    desk.reload()
    stands(south, "Plan ready")
    role_is(south, "Planner")
    role_is(north, "Actor")
    desk.is_as_it_happened()

    east = desk.run(3)
    stands(east, "Plan ready")
    assert not desk.has("south1.txt")
    execute(south)  # not the newest: its card executes it all the same
    assert desk.has("south1.txt", "south2.txt")
    assert not desk.has("east1.txt")
    stands(east, "Plan ready")
    desk.is_as_it_happened()
    execute(east)
    desk.reload()
    press(south, "Changes")
    expect(south).to_contain_text("south2.txt")
    expect(south.locator(".cw-sub")).not_to_contain_text("east1.txt")
    for card in (north, south, east):
        stands(card, "Completed")


@pytest.mark.slow
def test_a_plan_is_edited_discussed_executed_and_planned_anew(
    page: Page, desk_lab: LabServer, script: Script
) -> None:
    script.when("Report on west", script.writes("west", 1, 2))
    script.when("Without the second", script.writes("west", 1))
    script.when("Why west?", text("Because you asked for it."))
    desk = Desk(page, desk_lab, "anew.ipynb", "%%plan\nReport on west")
    card = desk.run(1)
    stands(card, "Plan ready")
    press(card, "Edit steps")
    card.locator("textarea").first.fill("Write west1.txt")
    card.locator("textarea").nth(1).fill("Write west2.txt")
    press(card, "Save")
    expect(card).to_contain_text("revision 2")
    discuss(card, "Why west?")
    expect(card).to_contain_text("Because you asked for it.")
    stands(card, "Plan ready")
    role_is(card, "Planner")
    desk.is_as_it_happened()

    discuss(card, "Without the second, please")
    expect(card.locator(".cw-step")).to_have_count(1)
    execute(card)
    assert desk.has("west1.txt")
    assert not desk.has("west2.txt")
    desk.reload()
    stands(card, "Completed")
    script.when("plan again", plan("Report on west again", write("west", 1), write("west", 2)))
    press(card, "Re-plan")
    expect(card).to_contain_text("Report on west again")
    stands(card, "Plan ready")
    desk.reload()
    stands(card, "Plan ready")
    role_is(card, "Planner")
    discuss(card, "Why west?")
    stands(card, "Plan ready")
    desk.is_as_it_happened()
