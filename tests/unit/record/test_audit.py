"""Plan versus actual, from logs made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from cowork_jupyter.domain.contexts import JobStatus, StepStatus, Usage
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.record import Redactor, audit
from cowork_jupyter.record.deviations import Deviation
from cowork_jupyter.record.export import report
from cowork_jupyter.store import CheckpointRecord

from .logs import TOOLS, Log


def step(name: str, *tools: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "tools_needed": list(tools), **more}


def kinds(deviations: list[Deviation]) -> list[str]:
    return [one.kind.value for one in deviations]


def test_without_a_plan_there_are_no_steps() -> None:
    log = Log()
    log.use("read_file", "a.py")
    found = log.audit()
    assert (found.steps, found.revision, found.totals.steps) == ([], 0, 0)
    assert found.outside[0].files_read == ["a.py"]


def test_a_step_that_went_as_planned_has_no_deviations() -> None:
    log = Log(step("a", "update_file", files=["./a.py"], estimated_time="5 s"))
    log.begin("a")
    log.use("read_file", "a.py", step="a")
    log.use("grep", "b.py", step="a")
    log.use("update_file", "a.py", step="a")
    log.use("update_file", "a.py", step="a")
    log.result("a")
    log.end("a")
    found = log.audited("a")
    assert found.deviations == []
    assert found.planned.model_dump() == {
        "tools": ["update_file"],
        "files": ["./a.py"],
        "order": 1,
        "depends_on": [],
        "time": "5 s",
        "role": "actor",
        "rounds": 0,
    }
    assert [(one.tool, one.calls, one.failed) for one in found.actual.tools] == [
        ("read_file", 1, 0),
        ("grep", 1, 0),
        ("update_file", 2, 0),
    ]
    assert found.actual.files == ["a.py"]
    assert found.actual.files_read == ["b.py"]
    assert (found.actual.order, found.actual.attempts) == (1, 1)
    assert found.actual.started_at == log.events[0].created_at
    assert found.actual.ended_at == log.events[-1].created_at
    assert found.actual.seconds == len(log.events) - 1


PLANNED_OR_NOT: list[tuple[list[str], str, bool]] = [
    ([], "read_file", True),
    ([], "find_tools", True),
    (["update_file"], "update_file", True),
    (["write_files"], "update_file", True),
    (["execute_commands"], "execute_command", True),
    (["write_files"], "create_file", False),
    (["read_files"], "delete_file", False),
    (["mcp_mail"], "mcp_mail", True),
    ([], "mcp_mail", False),
]


@pytest.mark.parametrize(("planned", "used", "fits"), PLANNED_OR_NOT)
def test_a_tool_is_planned_by_its_name_or_by_its_permissions(
    planned: list[str], used: str, fits: bool
) -> None:
    log = Log(step("a", *planned))
    log.use(used, step="a")
    assert kinds(log.audited("a").deviations) == ([] if fits else ["extra_tool"])


def test_an_extra_tool_is_named_with_what_shows_it() -> None:
    log = Log(step("a", "update_file"))
    log.begin("a")
    first = log.use("execute_command", step="a", asked=True)
    log.use("update_file", "a.py", step="a")
    task = log.task("a")
    assert task
    log.checkpoints = [
        CheckpointRecord(id="cp_1", context_id=log.context.id, task_id=task.id,
                         data={"tool": "execute_command"}),
        CheckpointRecord(id="cp_2", context_id=log.context.id, task_id=task.id,
                         data={"tool": "update_file"}),
        CheckpointRecord(id="cp_3", context_id=log.context.id, data={"tool": "execute_command"}),
    ]  # fmt: skip
    found = log.audited("a")
    (extra,) = found.deviations
    assert extra.what == "also used execute_command: execute_command (allowed by you)"
    assert extra.message_ids == first
    assert extra.checkpoint_ids == ["cp_1"]
    assert found.checkpoint_ids == ["cp_1", "cp_2"]


def test_what_was_refused_was_tried_and_not_used() -> None:
    log = Log(step("a"))
    log.use("delete_file", step="a", error="denied_by_user", asked=True)
    (extra,) = log.audited("a").deviations
    assert extra.what == "tried delete_file: denied_by_user"


@pytest.mark.parametrize("code", ["unknown_tool", "bad_parameters"])
def test_a_call_that_makes_no_sense_is_no_deviation(code: str) -> None:
    log = Log(step("a"))
    log.use("update_file", step="a", error=code)
    found = log.audited("a")
    assert found.deviations == []
    assert found.actual.tools[0].failed == 1


def test_a_call_without_a_result_is_said_to_have_none() -> None:
    log = Log(step("a"))
    call = log.say("", MessageType.TOOL_CALL, "a", call_id="x", tool="execute_command")
    (extra,) = log.audited("a").deviations
    assert extra.what == "tried execute_command: no result"
    assert extra.message_ids == [call.id]


def test_a_changed_file_that_the_step_does_not_name_is_an_extra_file() -> None:
    log = Log(step("a", "update_file", files=["a.py"]))
    log.use("update_file", "a.py", step="a")
    shown = log.use("update_file", "b.py", step="a")
    log.use("read_file", "c.py", step="a")
    task = log.task("a")
    assert task
    files = ["b.py", {"path": "c.py"}]
    log.checkpoints = [
        CheckpointRecord(id="cp", context_id="c", task_id=task.id, data={"files": files})
    ]
    (extra,) = log.audited("a").deviations
    assert (extra.kind, extra.what, extra.message_ids, extra.checkpoint_ids) == (
        "extra_file",
        "also changed b.py",
        shown,
        ["cp"],
    )


def changed_by(log: Log, key: str, tool: str, *paths: str) -> CheckpointRecord:
    task = log.task(key)
    assert task
    data = {"tool": tool, "files": [{"path": path, "change": "added"} for path in paths]}
    return CheckpointRecord(id=f"cp_{key}", context_id="c", task_id=task.id, data=data)


def test_what_a_command_changed_is_known_from_its_checkpoint() -> None:
    log = Log(step("a", "execute_command", files=["a.csv"]))
    shown = log.use("execute_command", step="a")
    log.checkpoints = [changed_by(log, "a", "execute_command", "a.csv", "secret.csv")]
    found = log.audited("a")
    assert found.actual.files == ["a.csv", "secret.csv"]
    (extra,) = found.deviations
    assert (extra.kind, extra.what) == ("extra_file", "also changed secret.csv")
    assert (extra.message_ids, extra.checkpoint_ids) == (shown, ["cp_a"])


@pytest.mark.parametrize("side_by_side", [True, False])
def test_a_file_of_a_step_that_ran_beside_is_not_held_against_this_one(side_by_side: bool) -> None:
    log = Log(
        step("a", "execute_command", files=["a.csv"]), step("b", "execute_command", files=["b.csv"])
    )
    log.begin("a")
    log.use("execute_command", step="a")
    if side_by_side:
        log.begin("b")
    log.end("a")
    if not side_by_side:
        log.begin("b")
    log.end("b")
    log.checkpoints = [changed_by(log, "a", "execute_command", "a.csv", "b.csv")]
    kinds = [one.kind for one in log.audited("a").deviations]
    assert kinds == ([] if side_by_side else ["extra_file"])


def test_a_step_that_names_no_files_may_change_any() -> None:
    log = Log(step("a", "update_file"))
    log.use("update_file", "b.py", step="a")
    assert log.audited("a").deviations == []


def test_a_failed_attempt_shows_even_when_the_next_one_worked() -> None:
    log = Log(step("a"))
    log.begin("a")
    failure = log.result("a", "the file is locked", "failed")
    log.begin("a")
    log.result("a")
    log.end("a")
    found = log.audited("a")
    (failed,) = found.deviations
    assert failed.what == "failed before it was done: the file is locked"
    assert failed.message_ids == [failure.id]
    assert found.actual.attempts == 2


def test_a_skipped_step_shows_the_failure_and_the_question() -> None:
    log = Log(step("a"))
    log.begin("a")
    log.say("Which file?", MessageType.QUESTION, "a")
    failure = log.result("a", "no such file", "failed")
    question = log.say("What now?", MessageType.QUESTION, "a")
    log.end("a", StepStatus.SKIPPED)
    failed, skipped = log.audited("a").deviations
    assert (failed.kind, skipped.kind) == ("failed", "skipped")
    assert skipped.message_ids == [failure.id, question.id]


def test_what_waits_for_a_failed_step_was_not_run() -> None:
    log = Log(step("a"), step("b", depends_on=["a"]), step("c"))
    log.begin("a")
    failure = log.result("a", "no", "failed")
    log.end("a", StepStatus.FAILED)
    (not_run,) = log.audited("b").deviations
    assert (not_run.kind, not_run.what) == ("not_run", "waits for step 1")
    assert not_run.message_ids == [failure.id]
    assert log.audited("c").deviations[0].what == "not begun"


def test_a_cancelled_step_was_begun_but_not_finished() -> None:
    log = Log(step("a"))
    begun = log.begin("a")
    log.end("a", StepStatus.CANCELLED)
    (not_run,) = log.audited("a").deviations
    assert not_run.what == "started, but not finished (cancelled)"
    assert not_run.message_ids == [begun.id]


def test_a_plan_that_nobody_has_approved_does_not_deviate() -> None:
    log = Log(step("a"))
    facts = log.facts()
    facts.jobs[0].tasks.clear()
    assert audit(facts, TOOLS).totals.deviations == 0


def test_while_the_job_runs_a_pending_step_does_not_deviate() -> None:
    log = Log(step("a"), step("b"))
    log.job = log.job.model_copy(update={"status": JobStatus.RUNNING})
    log.begin("a")
    log.statuses["a"] = StepStatus.RUNNING
    assert log.audit().totals.deviations == 0
    found = log.audited("a").actual
    assert (found.ended_at, found.seconds) == (None, 2.0)


def test_a_task_may_know_more_than_a_large_plan() -> None:
    log = Log(step("a"))
    log.begin("a")
    log.end("a")
    log.statuses["a"] = StepStatus.RUNNING
    log.tasks["a"] = log.tasks["a"].model_copy(update={"status": StepStatus.COMPLETED})
    assert log.audited("a").status is StepStatus.COMPLETED


def test_a_step_begun_before_what_it_needs_was_done_is_out_of_order() -> None:
    log = Log(step("a"), step("b", depends_on=["a"]), step("c", depends_on=["b"]))
    log.begin("a")
    early = log.begin("c")
    done = log.result("a")
    log.end("a")
    log.begin("b")
    log.end("b")
    log.end("c")
    found = log.audit()
    assert [kinds(one.deviations) for one in found.steps] == [[], [], ["out_of_order"]]
    (deviation,) = found.steps[2].deviations
    assert deviation.what == "started too early: it depends on steps 1, 2"
    assert deviation.message_ids == [early.id, done.id]
    assert [one.actual.order for one in found.steps] == [1, 3, 2]


def test_a_plan_without_dependencies_runs_in_order() -> None:
    log = Log({"id": "a"}, {"id": "b"})
    for one in log.steps:
        del one["depends_on"]
    log.begin("b")
    log.end("b")
    log.begin("a")
    log.end("a")
    assert [kinds(one.deviations) for one in log.audit().steps] == [[], ["out_of_order"]]


def test_waiting_for_the_user_takes_no_time() -> None:
    log = Log(step("a"))
    log.event(EventType.TASK_STARTED, "a")
    log.event(EventType.QUESTION_ASKED, "a", id="q")
    log.clock += 3600
    log.event(EventType.QUESTION_ANSWERED, "a", id="q")
    log.end("a")
    assert log.audited("a").actual.seconds == 2.0
    assert log.audit().totals.seconds == 2.0


def test_steps_side_by_side_take_their_time_together() -> None:
    log = Log(step("a"), step("b"))
    for name in "ab":
        log.event(EventType.TASK_STARTED, name)
    for name in "ab":
        log.end(name)
    assert [one.actual.seconds for one in log.audit().steps] == [2.0, 2.0]
    assert log.audit().totals.seconds == 3.0


def test_what_happened_outside_any_step_is_told_by_job_and_role() -> None:
    log = Log(step("a"))
    first = log.say("", MessageType.TOOL_CALL, agent_role=AgentRole.PLANNER, call_id="1",
                    tool="read_file")  # fmt: skip
    rest = log.use("update_file", "b.py")
    planner, actor = log.audit().outside
    assert (planner.role, planner.message_ids) == (AgentRole.PLANNER, [first.id])
    assert (actor.role, actor.files, actor.message_ids) == (AgentRole.ACTOR, ["b.py"], rest)


def test_the_work_of_an_earlier_revision_is_not_this_ones() -> None:
    log = Log(step("a"), revision=1)
    log.start_job()
    log.begin("a")
    log.use("delete_file", "x", step="a")
    log.revision = 2
    log.statuses["a"] = StepStatus.PENDING
    found = log.audit()
    assert found.steps[0].actual.tools == []
    assert found.outside[0].files == ["x"]


def test_a_finished_step_that_a_new_revision_keeps_brings_its_work_along() -> None:
    log = Log(step("a", "update_file"), revision=1)
    log.start_job()
    log.begin("a")
    log.use("update_file", "x", step="a")
    log.end("a")
    log.revision = 2
    assert log.audited("a").actual.files == ["x"]
    log.steps[0]["action"] = "do something else"
    assert log.audited("a").actual.files == []


def test_the_totals_add_up() -> None:
    log = Log(step("a"), step("b"))
    log.job = log.job.model_copy(update={"usage": Usage(total_tokens=5800)})
    log.begin("a")
    log.use("update_file", "x", step="a")
    log.end("a")
    log.use("read_file", "y")
    totals = log.audit().totals
    assert (totals.steps, totals.completed, totals.deviations) == (2, 1, 2)
    assert (totals.tool_calls, totals.tokens) == (2, 5800)


def test_what_code_did_to_data_stands_with_its_step_or_outside() -> None:
    log = Log(step("a", "run_code"))
    log.begin("a")
    log.use("run_code", step="a", code="orders = orders[:9]")
    warning = {"code": "rows_lost", "message": "3 rows <b>lost</b>.", "line": 3, "advice": "Look."}
    effect = {"of": "orders", "line": "orders: 12 → 9 rows (−3)", "warnings": [warning]}
    log.event(
        EventType.DATA_EFFECT,
        "a",
        **effect,
        call_id=log.last_call,
        before={"rows": 12, "columns": 1},
    )
    log.end("a")
    log.use("execute_command", command="rm x.csv")
    log.event(EventType.DATA_EFFECT, of="file:x.csv", line="x.csv: removed", call_id=log.last_call)
    (inside,) = log.audited("a").actual.effects
    assert (inside.line, inside.warnings[0].line) == ("orders: 12 → 9 rows (−3)", 3)
    assert "before" not in inside.model_dump()
    (outside,) = log.audit().outside
    assert [one.line for one in outside.effects] == ["x.csv: removed"]
    (section,) = [one for one in report(log.facts(), log.audit(), Redactor()) if "data" in one[:40]]
    assert section.splitlines() == [
        "## What happened to the data",
        "",
        "- Step 1: orders: 12 → 9 rows (−3)",
        "  - **Warning:** line 3: 3 rows &lt;b>lost&lt;/b>. Look.",
        "- Actor: x.csv: removed",
    ]
