"""Events and messages hold typed data, whoever wrote them and when."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from pydantic import TypeAdapter

from cowork_jupyter.domain.base_models import Data
from cowork_jupyter.domain.contexts import StepStatus
from cowork_jupyter.domain.events import (
    NOTICES,
    AnyNotice,
    Event,
    EventType,
    FileMoved,
    JobStarted,
    Notice,
    PlanUpdated,
    TaskCompleted,
    TaskStarted,
    ToolOutput,
    current_path,
    moved_path,
    type_of,
)
from cowork_jupyter.domain.messages import (
    Message,
    MessageType,
    RoleChangeData,
    TextData,
    ToolResultData,
    message_type_of,
)
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.domain.roles import AgentRole


def event(kind: str, **data: Any) -> Event:
    return Event.model_validate(
        {"seq": 1, "type": kind, "context_id": "c", "created_at": "", "data": data}
    )


def message(kind: str | None, **data: Any) -> Message:
    return Message.model_validate(
        {"context_id": "c", "role": "user", "message_type": kind, "data": data}
    )


def test_the_type_of_an_event_says_what_its_data_is() -> None:
    ended = event("task-completed", task_id="t", step_id="1", status="failed", error="no").data
    assert isinstance(ended, TaskCompleted)
    assert (ended.status, ended.error) == (StepStatus.FAILED, "no")
    assert type_of(ended) is EventType.TASK_COMPLETED
    assert type_of(TaskStarted(**dict(ended))) is EventType.TASK_STARTED


def test_the_code_of_a_notice_says_which_it_is() -> None:
    output = event("notice", code="tool-output", call_id="c1", text="line\n").data
    assert isinstance(output, ToolOutput)
    assert type_of(output) is type_of(Notice(code="no_price", message="x")) is EventType.NOTICE
    assert set(NOTICES) == set(get_args(get_args(AnyNotice)[0]))


@pytest.mark.parametrize("kind", list(EventType))
def test_what_was_stored_and_fits_no_model_is_kept_as_it_is(kind: EventType) -> None:
    if kind is EventType.MESSAGE:  # stored in a table of its own
        return
    odd = {"status": ["neither"], "code": 7, "text": None, "steps": "none", "turns": "many"}
    loaded = event(kind, **odd)
    assert type(loaded.data) is Data
    assert loaded.model_dump()["data"] == odd


def test_the_events_of_earlier_versions_load() -> None:
    started = event("job-started", job_id="j", status="running", error=None).data
    assert isinstance(started, JobStarted)
    assert (started.kind, started.card_id) == (None, "")
    assert started.model_dump() == {"job_id": "j", "status": "running", "error": None}


def test_what_a_newer_version_says_beside_the_fields_is_kept() -> None:
    facts = {"call_id": "c", "ok": True, "summary": "s", "error": None, "mood": {"good": True}}
    assert event("tool-result", **facts).model_dump()["data"] == facts


def test_a_plan_in_the_log_is_the_plan_of_that_moment() -> None:
    plan = Plan.model_validate({"goal": "g", "steps": [{"action": "a"}], "id": "plan_1"})
    shown = PlanUpdated.of(plan, revision=3)
    plan.steps[0].status = StepStatus.COMPLETED
    assert shown.model_dump() == {
        **plan.model_dump(),
        "revision": 3,
        "steps": [{**plan.steps[0].model_dump(), "status": "pending"}],
    }
    assert event("plan-update", **shown.model_dump()).data == shown


def test_the_type_of_a_message_says_what_its_data_is() -> None:
    result = message("tool_result", call_id="c", ok=True, facts={"paths": ["a"], "size": 3}).data
    assert isinstance(result, ToolResultData)
    assert result.facts.paths == ["a"]
    assert result.facts.model_dump() == {"paths": ["a"], "size": 3}
    assert message_type_of(result) is MessageType.TOOL_RESULT
    assert message(None, problem="cut off").data == TextData(problem="cut off")


def test_a_change_of_role_has_the_names_of_the_contract() -> None:
    data = {"from": "planner", "to": "actor"}
    change = message("role_change", **data).data
    assert isinstance(change, RoleChangeData)
    assert (change.before, change.to) == (AgentRole.PLANNER, AgentRole.ACTOR)
    assert change.model_dump() == data


def test_the_schema_names_a_variant_for_each_type() -> None:
    schema = TypeAdapter(list[Event]).json_schema(mode="serialization")
    known = schema["$defs"]
    mapping = known["Event"]["discriminator"]["mapping"]
    assert set(mapping) == {str(kind) for kind in EventType}
    assert mapping["tool-call"] == "#/$defs/ToolCallEvent"
    assert known["ToolCallEvent"]["properties"]["data"] == {"$ref": "#/$defs/ToolCallData"}
    assert set(known["Message"]["discriminator"]["mapping"]) == {str(kind) for kind in MessageType}
    assert "additionalProperties" not in known["ToolCallData"]
    assert "from" in known["RoleChangeData"]["required"]


@pytest.mark.parametrize(
    ("path", "moved"),
    [
        ("a.ipynb", "b/c.ipynb"),
        ("./a.ipynb", "b/c.ipynb"),
        ("a.ipynb.bak", "a.ipynb.bak"),
        ("sub/a.ipynb", "sub/a.ipynb"),
    ],
)
def test_only_the_file_itself_moves(path: str, moved: str) -> None:
    assert moved_path(path, "a.ipynb", "b/c.ipynb") == moved


def test_what_is_in_a_folder_moves_with_it() -> None:
    assert moved_path("old/x/*.csv", "old", "new") == "new/x/*.csv"
    assert moved_path("older/x", "old", "new") == "older/x"


def test_moves_follow_one_another() -> None:
    moves = [FileMoved(old="a", new="b"), FileMoved(old="b", new="c/b")]
    assert current_path("a/n.ipynb", moves) == "c/b/n.ipynb"
