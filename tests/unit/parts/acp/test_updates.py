from __future__ import annotations

from pathlib import Path

import pytest

from cowork_jupyter.domain.contexts import StepStatus
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.parts.acp.updates import UpdateBuilder, hunks, plan_update
from cowork_jupyter.tools.diff import diff
from cowork_jupyter.tools.registry import default_tools

PORTRAYAL = UpdateBuilder(Path("/work/space"), default_tools())


def test_a_hunk_gives_both_texts() -> None:
    before = "".join(f"{number}\n" for number in range(30))
    after = before.replace("5\n", "five\n", 1).replace("25\n", "")
    first, second = hunks(diff("a.txt", before, after).text)
    assert first == ("2\n3\n4\n5\n6\n7\n8\n", "2\n3\n4\nfive\n6\n7\n8\n")
    assert second == ("22\n23\n24\n25\n26\n27\n28\n", "22\n23\n24\n26\n27\n28\n")


def test_a_new_file_has_no_old_text_and_an_emptied_one_no_new() -> None:
    assert list(hunks(diff("a.txt", "", "one\n").text)) == [(None, "one\n")]
    assert list(hunks(diff("a.txt", "one\n", "").text)) == [("one\n", "")]


def test_a_missing_line_end_stays_missing() -> None:
    assert list(hunks(diff("a.txt", "one", "one\n").text)) == [("one", "one\n")]
    assert list(hunks(diff("a.txt", "a\nb", "a\nc").text)) == [("a\nb", "a\nc")]


def test_lines_that_look_like_marks_are_lines() -> None:
    text = "@@ -1 +1 @@\n\\ No\n--- a\n"
    assert list(hunks(diff("a.txt", "", text).text)) == [(None, text)]


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        ("read_file", "read"),
        ("grep", "search"),
        ("update_file", "edit"),
        ("create_file", "edit"),
        ("delete_file", "delete"),
        ("execute_command", "execute"),
        ("from_elsewhere", "other"),
    ],
)
def test_kinds_come_from_what_tools_may_do(tool: str, kind: str) -> None:
    assert PORTRAYAL.kind(tool) == kind


def test_places_are_absolute_and_each_once() -> None:
    found = PORTRAYAL.places(["a.py", "./b/../a.py", "a.py", 3], line=7)
    assert [(one.path, one.line) for one in found] == [("/work/space/a.py", 7)] * 2


def test_who_does_a_step_and_what_that_allows_is_in_meta() -> None:
    step = {"action": "judge", "role": "reviewer", "agent": "claude"}
    told = plan_update(Plan.model_validate({"goal": "g", "steps": [step]}), 1, {})
    assert told.entries[0].field_meta
    assert told.entries[0].field_meta["role"] == "reviewer"
    assert told.entries[0].field_meta["agent"] == "claude"
    assert told.field_meta
    assert told.field_meta["rights"].startswith("Roles: reviewer only reads.")


def test_states_the_protocol_does_not_know_are_in_meta() -> None:
    plan = Plan.model_validate({"goal": "g", "steps": [{"action": "one"}, {"action": "two"}]})
    plan.steps[0].status = StepStatus.FAILED
    told = plan_update(plan, 4, {"1": "no disk"})
    assert [one.status for one in told.entries] == ["pending", "pending"]
    assert told.entries[0].field_meta
    assert told.entries[0].field_meta["status"] == "failed"
    assert told.entries[0].field_meta["error"] == "no disk"
    assert told.field_meta == {"goal": "g", "revision": 4}
