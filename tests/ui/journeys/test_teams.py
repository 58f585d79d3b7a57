"""Several roles carry out one plan: shown, given to others, approved, sent back by a review."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.scripted import Scripted, call, plan, text

from ..lab import LabServer
from ..person import start_in_light, use_dark_theme
from ..visit import complaints
from .desk import Desk, press, stands
from .script import Script

pytestmark = pytest.mark.slow

WRITE = {"id": "1", "action": "Write larks.txt", "tools_needed": ["create"], "role": "actor"}
COUNT = {"id": "2", "action": "Count the larks", "depends_on": ["1"], "role": "planner"}
JUDGE = {
    "id": "3",
    "action": "Judge the larks",
    "depends_on": ["2"],
    "role": "reviewer",
    "rounds": 2,
}


def review(verdict: str, *findings: str) -> Scripted:
    found = [{"file": "larks.txt", "severity": "major", "comment": one} for one in findings]
    said = {"type": "review", "summary": "Read it.", "verdict": verdict, "findings": found}
    return text(json.dumps(said))


def writing(name: str) -> Scripted:
    return call("create_file", terminate=True, path=name, content="larks\n")


def roles(card: Locator) -> Locator:
    return card.locator(".cw-step .cw-pill")


def audit(page: Page, lab: LabServer, card: Locator) -> dict[str, Any]:
    context = card.get_attribute("data-context-id")
    found: dict[str, Any] = page.request.get(lab.url(f"cowork/context/{context}/audit")).json()
    return found


def test_a_commanders_plan_is_carried_out_by_a_team_and_sent_back_twice(
    page: Page, desk_lab: LabServer, script: Script
) -> None:
    script.when("Look after the larks", plan("Look after the larks", WRITE, COUNT, JUDGE))
    script.step("Write larks.txt", *(writing(f"larks{n}.txt") for n in range(3)))
    script.step("Count the larks", text("One lark."))
    script.step(
        "Judge the larks",
        review("request_changes", "Two are missing."),
        review("request_changes", "One is missing."),
        review("approve"),
    )
    start_in_light(desk_lab)
    desk = Desk(page, desk_lab, "larks.ipynb", "%%ask commander\nLook after the larks")
    card = desk.run(1)
    stands(card, "Plan ready")
    expect(roles(card)).to_have_text(["Actor", "Planner", "Reviewer"])
    rights = card.locator(".cw-rights")
    expect(rights).to_contain_text("planner only reads")
    expect(rights).to_contain_text("steps 1 and 2 run again with the same rights, twice at most")

    press(card, "Edit steps")
    who = card.get_by_label("Step 2: who does it")
    expect(who.locator("option[value=commander]")).to_have_count(0)
    who.focus()
    page.keyboard.type("Tester")  # as one does with a keyboard
    expect(who).to_have_value("tester")
    assert complaints(page, ".cw-editor") == []
    press(card, "Save")
    expect(roles(card)).to_have_text(["Actor", "Tester", "Reviewer"])
    expect(rights).to_contain_text("tester may run commands with the workspace read-only")
    for part in (".cw-plan", ".cw-decide"):
        assert complaints(page, part) == []
    use_dark_theme(page)
    for part in (".cw-plan", ".cw-decide"):
        assert complaints(page, part) == []

    press(card, "Execute plan")
    stands(card, "Completed")
    for reloaded in (False, True):
        if reloaded:
            desk.reload()
        expect(roles(card)).to_have_text(["Actor", "Tester", "Reviewer"])
        for row in card.locator(".cw-step").all():
            logs = row.locator("summary", has_text="Round ")
            expect(logs).to_have_count(3)
        expect(card.locator(".cw-step").nth(2)).to_contain_text("Review: approve")
        desk.is_as_it_happened()
        found = audit(page, desk_lab, card)
        assert [step["actual"]["rounds"] for step in found["steps"]] == [2, 2, 2]
        assert [step["deviations"] for step in found["steps"]] == [[], [], []]
        expect(card.get_by_text("as planned")).to_have_count(3)
    assert desk.has("larks0.txt", "larks1.txt", "larks2.txt")
