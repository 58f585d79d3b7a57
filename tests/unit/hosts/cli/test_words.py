"""What is shown in a terminal reads well and hides nothing."""

from __future__ import annotations

from cowork_jupyter.domain.events import PermissionRequested
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.domain.replies import Question, Review
from cowork_jupyter.hosts.cli.words import (
    call_text,
    plan_text,
    question_text,
    request_text,
    review_text,
    scopes_text,
)


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
        "",
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
    assert [scope for scope, _ in scopes_text(request)] == ["session", "global"]


def test_a_request_says_which_cell_it_is_about() -> None:
    shown = {"kind": "code", "text": "x", "complete": True}
    request = requested(tool="run_cell", resource="cell 3 of a.ipynb", risk="medium", shown=shown)
    assert request_text(request).startswith("run_cell (cell 3 of a.ipynb) wants to run.")


def test_a_question_numbers_its_options_and_names_the_default() -> None:
    options = [{"label": "One", "value": "1"}, {"label": "Two", "value": "2"}]
    asked = Question.model_validate({"question": "Which?", "options": options, "default": "2"})
    assert question_text(asked) == "Which?\n  1. One\n  2. Two (default)"


def test_a_review_names_places() -> None:
    findings = [
        {"file": "a.py", "line": 3, "comment": "Off by one", "suggestion": "Use <="},
        {"comment": "Too long", "severity": "major"},
    ]
    review = Review.model_validate(
        {"summary": "Nearly", "verdict": "request_changes", "findings": findings}
    )
    assert review_text(review).splitlines() == [
        "Review: request changes",
        "Nearly",
        "- minor a.py:3: Off by one",
        "  Use <=",
        "- major: Too long",
    ]


def test_a_call_is_told_by_what_it_is_about() -> None:
    assert call_text("grep", {"glob": "*.py", "pattern": "a\nb"}) == "grep a b"
    assert call_text("list_variables", {}) == "list_variables"
