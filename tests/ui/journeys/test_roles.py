"""Who works: a commander and those it sends, a tester, a reviewer; and who is spoken to."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from cowork_jupyter.domain.roles import AgentRole
from tests.scripted import call, stall, text

from ..lab import LabServer
from .desk import Desk, answer, choose_role, discuss, execute, press, role_is, stands
from .script import Script

pytestmark = pytest.mark.slow

REVIEW = {
    "type": "review",
    "format_version": "1.0",
    "summary": "It reads well.",
    "verdict": "approve",
    "findings": [
        {
            "file": "notes.md",
            "line": 1,
            "severity": "minor",
            "comment": "No title.",
            "suggestion": "",
        }
    ],
}


def test_a_commander_sends_others_and_the_plan_stays(
    page: Page, desk_lab: LabServer, script: Script
) -> None:
    script.when("Report on birds", script.writes("birds", 1))
    script.when(
        "Lead the work",
        call("delegate", role="planner", task="Plan the nests"),
        call("delegate", role="actor", task="Write the nests"),
        text("All of it is done."),
    )
    script.when("Plan the nests", script.writes("nests", 1), to=AgentRole.PLANNER)
    nests = call("create_file", path="nests.md", content="# Nests\n")
    script.when("Write the nests", nests, text("Wrote nests.md."), to=AgentRole.ACTOR)
    script.when("Say more", text("There is no more."))
    cells = ("%%plan\nReport on birds", "%%ask commander\nLead the work")
    desk = Desk(page, desk_lab, "birds.ipynb", *cells)
    birds = desk.run(1)
    stands(birds, "Plan ready")
    lead = desk.run(2)
    role_is(lead, "Commander")
    answer(lead, "Allow")  # that the actor is sent
    expect(lead).to_contain_text("nests.md")
    press(lead, "Allow once")  # that it writes
    stands(lead, "Completed")
    role_is(lead, "Commander")
    expect(lead).to_contain_text("All of it is done.")
    expect(lead.get_by_role("button", name="Execute plan")).to_have_count(0)
    expect(birds.locator(".cw-step-action")).to_have_text(["Write birds1.txt"])
    desk.is_as_it_happened()

    desk.reload()
    role_is(lead, "Commander")
    expect(lead).to_contain_text("Plan the nests")
    expect(lead).to_contain_text("Wrote nests.md.")
    discuss(lead, "Say more")
    expect(lead).to_contain_text("There is no more.")
    role_is(lead, "Commander")
    stands(birds, "Plan ready")
    execute(birds)
    assert desk.has("birds1.txt", "nests.md")
    desk.reload()
    desk.is_as_it_happened()


def test_a_tester_and_a_reviewer_look_at_what_was_done(
    page: Page, desk_lab: LabServer, script: Script
) -> None:
    note = call("create_file", path="notes.md", content="Notes\n")
    script.when("Take notes", note, text("Noted."))
    script.when("Test it", call("execute_command", command="ls notes.md"), text("It is there."))
    fetch = call("execute_command", command="pip download pyarrow")
    script.when("Test it again", fetch, text("Not without the network."))
    script.when("Review it", call("read_file", path="notes.md"), text(json.dumps(REVIEW)))
    script.when("And the title?", text("It should have one."))
    script.when("Report on notes", script.writes("title", 1))
    cells = (
        "%%act\nTake notes",
        "%%ask tester\nTest it",
        "%%ask reviewer\nReview it",
        "%%plan\nReport on notes",
    )
    desk = Desk(page, desk_lab, "notes.ipynb", *cells)
    act = desk.run(1)
    press(act, "Allow once")
    stands(act, "Completed")
    tester = desk.run(2)
    stands(tester, "Completed")
    expect(tester).to_contain_text("It is there.")
    reviewer = desk.run(3)
    stands(reviewer, "Completed")
    expect(reviewer).to_contain_text("No title.")
    desk.is_as_it_happened()
    desk.reload()
    for card, role in ((act, "Actor"), (tester, "Tester"), (reviewer, "Reviewer")):
        role_is(card, role)
        stands(card, "Completed")
    discuss(reviewer, "And the title?")
    expect(reviewer).to_contain_text("It should have one.")
    role_is(reviewer, "Reviewer")
    plan = desk.run(4)
    stands(plan, "Plan ready")
    discuss(tester, "Test it again")
    role_is(tester, "Tester")
    press(tester, "Deny")
    expect(tester).to_contain_text("Not without the network.")
    stands(tester, "Completed")
    execute(plan)
    role_is(reviewer, "Reviewer")
    desk.reload()
    desk.is_as_it_happened()


def test_a_role_is_switched_while_a_job_runs(
    page: Page, desk_lab: LabServer, script: Script
) -> None:
    script.when("Think about trees", stall("Let me think", after=3), text("Trees are tall."))
    script.when("Report on trees", script.writes("trees", 1))
    script.when("Look at them", text("I have looked."))
    cells = ("%%act\nThink about trees", "%%plan\nReport on trees", "%%ask\nLook at them")
    desk = Desk(page, desk_lab, "trees.ipynb", *cells)
    think = desk.run(1)
    expect(think).to_contain_text("Let me")
    choose_role(think, "Reviewer")
    expect(think).to_contain_text("A job is running")
    press(think, "Keep running")
    stands(think, "Working…")
    choose_role(think, "Reviewer")
    press(think, "Switch and stop")
    stands(think, "Stopped")
    role_is(think, "Reviewer")
    desk.is_as_it_happened()
    look = desk.run(3)
    stands(look, "Completed")
    role_is(look, "Reviewer")
    press(think, "Continue", "Continue as Reviewer")
    stands(think, "Completed")
    plan = desk.run(2)
    role_is(plan, "Planner")
    execute(plan)
    role_is(plan, "Actor")
    desk.reload()
    role_is(plan, "Actor")
    role_is(look, "Reviewer")
    desk.is_as_it_happened()
