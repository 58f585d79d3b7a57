"""A kernel without a server and a person in front of it, as in VS Code: their cards ask them.

The front end counts as attended when a card has answered, and only then.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.scripted import ScriptedServer, call, plan, text

from .kernels import SECONDS, VIEW, Cells, Shown

pytestmark = pytest.mark.process

STEP = {"action": "Write a.txt", "files": ["a.txt"], "tools_needed": ["create_file"]}
WRITE = call("create_file", path="a.txt", content="a\n")
QUESTION = {
    "type": "question",
    "question": "Which colour?",
    "options": [{"label": "Red", "value": "red"}, {"label": "Blue", "value": "blue"}],
}


def view_of(shown: Shown) -> dict[str, Any]:
    (view,) = [one[VIEW] for one in shown.outputs if VIEW in one]
    found: dict[str, Any] = view
    return found


def asked(cells: Cells, view: dict[str, Any], method: str, path: str, body: Any = None) -> Any:
    """What a card asks, and what it gets."""
    cells.press(view, method, path, body)

    def is_answer(message: dict[str, Any]) -> bool:
        content = message["content"].get("data", {}).get("content", {})
        return bool(message["msg_type"] == "comm_msg" and content.get("id") == 1)

    answer = cells.published(is_answer)["content"]["data"]["content"]
    assert answer["status"] == 200, answer
    return answer["body"]


def eventually(cells: Cells, view: dict[str, Any], path: str, is_so: Any) -> Any:
    give_up = time.monotonic() + SECONDS
    while not is_so(found := asked(cells, view, "GET", path)):
        assert time.monotonic() < give_up, found
        time.sleep(0.1)
    return found


def test_until_a_card_has_answered_nobody_is_asked(
    attended: Cells, connected: ScriptedServer, tmp_path: Path
) -> None:
    connected.add(WRITE, text("I could not."))
    shown = attended.run("%%act\nWrite a.txt")
    assert shown.card["snapshot"]["status"] == "completed"
    assert "Nobody can be asked" in shown.markdown
    assert not (tmp_path / "a.txt").exists()


def test_a_person_switches_roles_answers_approves_and_executes_on_cards(
    attended: Cells, connected: ScriptedServer, tmp_path: Path
) -> None:
    connected.add(plan("Write a", STEP))
    planned = attended.run("%%plan\nWrite a file")
    view, context = view_of(planned), planned.card["context_id"]
    here = f"context/{context}"
    assert asked(attended, view, "GET", here)["role"] == "planner"  # and so it counts

    def until_completed(job_id: str) -> None:
        eventually(attended, view, f"jobs/{job_id}", lambda job: job["status"] == "completed")

    # A question is asked, the cell does not wait for it, and the card answers it.
    connected.add(text(json.dumps(QUESTION)), text("Blue it is."))
    begun = attended.run("%%ask\nWhich colour shall it be?")
    assert begun.card["snapshot"]["status"] in ("running", "waiting")
    waits = eventually(attended, view, f"{here}/questions", lambda found: found["items"])
    question = waits["items"][0]["id"]
    asked(attended, view, "POST", f"questions/{question}/answer", {"value": "blue"})
    until_completed(begun.card["job_id"])

    # The button executes the plan, which grants what it says.
    connected.add(WRITE, text("Written."))
    executed = asked(attended, view, "POST", f"{here}/plan/execute", {"revision": 1})
    until_completed(executed["job_id"])
    assert (tmp_path / "a.txt").read_text() == "a\n"

    # What no plan grants asks, and waits for the card.
    connected.add(call("create_file", path="b.txt", content="b\n"), text("Written."))
    begun = attended.run("%%act\nWrite b.txt")
    waits = eventually(attended, view, f"{here}/permissions", lambda found: found["items"])
    assert not (tmp_path / "b.txt").exists()
    answer = {"decision": "allow", "scope": "once"}
    asked(attended, view, "POST", f"permissions/{waits['items'][0]['id']}", answer)
    until_completed(begun.card["job_id"])
    assert (tmp_path / "b.txt").read_text() == "b\n"

    asked(attended, view, "POST", f"{here}/role", {"role": "actor"})
    assert asked(attended, view, "GET", here)["role"] == "actor"


def test_a_cell_that_waits_cannot_be_answered_so_it_is_denied(
    attended: Cells, connected: ScriptedServer, tmp_path: Path
) -> None:
    connected.add(text("Hello."))
    first = attended.run("%%act\nSay hello")
    asked(attended, view_of(first), "GET", "health")
    connected.add(WRITE, text("I could not."))
    shown = attended.run("%%act --wait\nWrite a.txt")
    assert "Nobody can be asked" in shown.markdown
    assert not (tmp_path / "a.txt").exists()
