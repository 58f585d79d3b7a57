"""What waits for the user, and what they decided."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.scripted import call, plan, text

from ..lab import LabServer
from .desk import Desk, answer, press, roll_back, stands
from .script import Script, question

pytestmark = pytest.mark.slow

FETCH = {"tool": "execute_command", "command": "pip download pyarrow"}


def test_a_question_and_a_permission_are_open_at_once(
    page: Page, desk_lab: LabServer, script: Script
) -> None:
    steps = [
        {"id": "1", "action": "Choose the rows", "depends_on": []},
        {"id": "2", "action": "Get the data", "depends_on": []},
        {"id": "3", "action": "Put it together", "depends_on": ["1", "2"]},
    ]
    script.when("Fetch and choose", plan("Fetch and choose", *steps))
    script.step("Choose the rows", question("Which rows?", "All", "None"), text("All rows."))
    script.step("Get the data", call(FETCH["tool"], command=FETCH["command"]), text("I have it."))
    script.step("Put it together", text("Together."))
    desk = Desk(page, desk_lab, "asking.ipynb", "%%plan\nFetch and choose")
    card = desk.run(1)
    stands(card, "Plan ready")
    press(card, "Execute plan")
    expect(card).to_contain_text("Which rows?")
    expect(card).to_contain_text("pip download pyarrow")
    stands(card, "Waiting for you")
    desk.is_as_it_happened()

    desk.reload()
    expect(card).to_contain_text("Which rows?")
    answer(card, "All")
    expect(card.locator(".cw-step").first).to_contain_text("All rows.")
    stands(card, "Waiting for you")  # for the permission
    desk.is_as_it_happened()
    desk.reload()
    press(card, "Deny")
    stands(card, "Completed")
    expect(card.locator(".cw-step").nth(1)).to_contain_text("I have it.")
    desk.is_as_it_happened()
    desk.reload()
    stands(card, "Completed")


def test_acts_keep_what_they_changed_and_what_was_allowed(
    page: Page, desk_lab: LabServer, script: Script
) -> None:
    for name in ("first", "second"):
        words = f"Note the {name}"
        write = call("create_file", path=f"{name}.md", content=f"# {name}\n")
        script.when(words, write, text(f"Noted the {name}."))
    desk = Desk(page, desk_lab, "acts.ipynb", "%%act\nNote the first", "%%act\nNote the second")
    first = desk.run(1)
    press(first, "Allow once")
    stands(first, "Completed")
    expect(first).to_contain_text("You allowed")
    second = desk.run(2)
    press(second, "Allow once")
    stands(second, "Completed")
    assert desk.has("first.md", "second.md")
    desk.is_as_it_happened()

    desk.reload()
    stands(second, "Completed")
    for card, name in ((first, "first"), (second, "second")):
        expect(card).to_contain_text("You allowed")
        press(card, "Changes")
        expect(card.locator(".cw-sub")).to_contain_text(f"{name}.md")
        press(card, "Close")
    roll_back(second)
    assert desk.has("first.md")
    assert not desk.has("second.md")
    press(second, "Undo the rollback")
    expect(second).to_contain_text("The rollback is undone.")
    assert desk.has("first.md", "second.md")
    press(second, "Close")
    desk.is_as_it_happened()
    desk.reload()
    roll_back(first)
    assert not desk.has("first.md")
    assert desk.has("second.md")
