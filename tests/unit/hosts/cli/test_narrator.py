"""A run told in the terminal."""

from __future__ import annotations

import io
from typing import Any

from cowork_jupyter.domain.events import Event, EventType, PermissionRequested
from cowork_jupyter.domain.messages import Message, MessageType, TextPart
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.domain.replies import Question
from cowork_jupyter.hosts.cli.narrator import (
    CliOutcome,
    Narrator,
    plan_text,
    question_text,
    request_text,
)
from cowork_jupyter.hosts.cli.screen import Screen


def event(kind: EventType, data: dict[str, Any], task: str | None = None) -> Event:
    facts = {"seq": 1, "type": kind, "context_id": "c", "task_id": task, "created_at": ""}
    return Event.model_validate({**facts, "data": data})


class Told:
    """What a narrator wrote."""

    def __init__(self) -> None:
        self._results, self._progress = io.StringIO(), io.StringIO()
        self.narrator = Narrator(Screen(self._results, self._progress))

    def tell(self, kind: EventType, data: dict[str, Any], task: str | None = None) -> None:
        self.narrator.tell(event(kind, data, task))

    def say(self, text: str, task: str | None = None, **more: Any) -> None:
        message = Message(
            context_id="c", role="assistant", task_id=task, content=[TextPart(text=text)], **more
        )
        self.tell(EventType.MESSAGE, message.model_dump(mode="json"), task)

    @property
    def results(self) -> list[str]:
        return self._results.getvalue().splitlines()

    @property
    def progress(self) -> list[str]:
        return self._progress.getvalue().splitlines()


def ended(step: str, status: str = "completed") -> dict[str, Any]:
    return {"task_id": f"task_{step}", "step_id": step, "status": status, "error": None}


def test_words_of_steps_side_by_side_stay_apart() -> None:
    told = Told()
    told.say("Looking.", "one")
    told.say("Two is done.", "two")
    looking = {"call_id": "c", "tool": "grep", "parameters": {"pattern": "x"}}
    told.tell(EventType.TOOL_CALL, looking, "one")
    told.say("One is done.", "one")
    told.tell(EventType.TASK_COMPLETED, ended("2"), "two")
    told.tell(EventType.TASK_COMPLETED, ended("1", "failed"), "one")
    assert told.results == ["Two is done.", "One is done."]
    assert told.progress == ["  Looking.", "  → grep x", "✓ 2 (completed)", "✗ 1 (failed)"]


def test_only_the_last_words_are_the_result() -> None:
    told = Told()
    told.say("First I look.")
    told.say("It is empty.")
    told.narrator.finish()
    assert (told.results, told.progress) == (["It is empty."], ["  First I look."])


def test_a_denial_is_told_once_with_its_reason() -> None:
    told = Told()
    notice = {"code": "denied_headless", "tool": "create_file", "message": "Nobody is there."}
    told.tell(EventType.NOTICE, notice)
    error = {"code": "denied", "message": "create_file was not run …"}
    refused = {"call_id": "c", "ok": False, "summary": error["message"], "error": error}
    told.tell(EventType.TOOL_RESULT, refused)
    assert told.progress == ["  ! Nobody is there.", "  ✗ not allowed"]


def test_a_question_that_nobody_can_answer_is_told() -> None:
    told = Told()
    told.say("Which one?", message_type=MessageType.QUESTION, data={"question": "Which one?"})
    told.say(
        "And which?",
        message_type=MessageType.QUESTION,
        data={"id": "q_1", "question": "And which?"},
    )
    assert told.progress == ["? Which one? (nobody can be asked)"]


def test_the_outcome_knows_of_plans_and_denials() -> None:
    outcome = CliOutcome()
    made = Message(context_id="c", role="assistant", message_type=MessageType.PLAN)
    for kind, data in (
        (EventType.MESSAGE, made.model_dump(mode="json")),
        (EventType.NOTICE, {"code": "denied_headless", "tool": "grep", "message": "Nobody."}),
    ):
        outcome.take(event(kind, data))
    assert (outcome.made_plan, outcome.was_denied) == (True, True)


def test_what_code_did_to_data_stands_below_its_call() -> None:
    told = Told()
    told.tell(EventType.TOOL_RESULT, {"call_id": "c", "ok": True, "summary": "ran cell 2"})
    warning = {"code": "x", "message": "3 rows are lost.", "line": 3, "advice": "Look at them."}
    effect = {"of": "orders", "line": "orders: 12 → 9 rows (−3)", "warnings": [warning]}
    told.tell(EventType.DATA_EFFECT, effect)
    told.tell(EventType.DATA_EFFECT, {"of": "", "warnings": [{"code": "y", "message": "No seed."}]})
    assert told.progress == [
        "  ✓ ran cell 2",
        "    orders: 12 → 9 rows (−3)",
        "    ! line 3: 3 rows are lost. Look at them.",
        "    ! No seed.",
    ]


def test_what_guides_a_run_is_told_once() -> None:
    told = Told()
    used = {"items": [{"kind": "instructions", "name": "a/AGENTS.md", "source": "workspace"}]}
    for task in (None, "one", "two"):
        told.tell(EventType.GUIDANCE_USED, used, task)
    assert told.progress == ["  Guided by a/AGENTS.md"]


def test_a_plan_says_all_that_is_approved_with_it() -> None:
    first = {"id": "read", "action": "Read\nall", "tools_needed": ["read_file"]}
    second = {
        "id": "write",
        "action": "Write",
        "reason": "It is missing",
        "files": ["a.txt", "b.txt"],
        "depends_on": ["read"],
        "estimated_time": "2 min",
    }
    plan = {"goal": "Go", "steps": [first, second], "risks": ["It may rain"]}
    assert plan_text(Plan.model_validate({**plan, "prerequisites": ["A roof"]})).splitlines() == [
        "Plan: Go",
        "",
        "  1. Read all",
        "     tools: read_file",
        "  2. Write",
        "     why: It is missing",
        "     files: a.txt, b.txt",
        "     after: 1",
        "     time: 2 min",
        "",
        "Needs: A roof",
        "Risks: It may rain",
    ]


def requested(**facts: object) -> PermissionRequested:
    about = {"id": "perm_1", "context_id": "c", "status": "pending", "created_at": ""}
    return PermissionRequested.model_validate({**about, **facts})


def test_a_plan_of_a_team_says_who_does_what_and_with_which_rights() -> None:
    steps = [{"action": "Build"}, {"action": "Judge", "role": "reviewer", "rounds": 1}]
    said = plan_text(Plan.model_validate({"goal": "Go", "steps": steps})).splitlines()
    assert said[3:5] == ["  2. Judge", "     by: Reviewer"]
    assert said[-1].startswith("Roles: actor may write, create, delete and run; reviewer only")
    assert said[-1].endswith("step 1 runs again with the same rights, once at most.")


def test_a_request_shows_the_whole_call_and_what_cannot_be_undone() -> None:
    request = requested(
        tool="execute_command",
        resource="curl x",
        risk="high",
        why=["It reaches the network."],
        shown={"kind": "command", "text": "curl x\ncurl y", "complete": False},
        uncovered=["big.bin (too large)"],
        scopes=["once", "session", "global"],
    )
    text = request_text(request)
    assert "  │ curl x\n  │ curl y\n  │ … (too long to show in full)" in text
    assert "It reaches the network." in text
    assert "cannot undo: big.bin (too large)" in text


def test_a_request_says_which_cell_it_is_about() -> None:
    shown = {"kind": "code", "text": "x", "complete": True}
    request = requested(tool="run_cell", resource="cell 3 of a.ipynb", risk="medium", shown=shown)
    assert request_text(request).startswith("run_cell (cell 3 of a.ipynb) wants to run.")


def test_a_question_numbers_its_options_and_names_the_default() -> None:
    options = [{"label": "One", "value": "1"}, {"label": "Two", "value": "2"}]
    asked = Question.model_validate({"question": "Which?", "options": options, "default": "2"})
    assert question_text(asked) == "Which?\n  1. One\n  2. Two (default)"
