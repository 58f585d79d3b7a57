"""Whatever the log holds, the audit agrees with it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cowork_jupyter.domain.contexts import Context, Job, JobStatus, StepStatus, Task, Usage
from cowork_jupyter.domain.events import Event, EventType
from cowork_jupyter.domain.messages import Message, MessageType
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.record import Discretion, ExportFormat, Facts, audit, export
from cowork_jupyter.store import CheckpointRecord, PlanRevision

from .logs import TOOLS

TOOL_NAMES = [*TOOLS, "find_tools", "mcp_mail", ""]
NAMES = [*TOOL_NAMES, "write_files", "execute_commands", "read_files"]
PATHS = ["a.py", "./a.py", "b.py", "data/c.csv", ""]
JOBS, TASKS = ["j1", "j2"], [f"t{number}" for number in range(6)]
KINDS = st.sampled_from(MessageType)
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 3, "x", "\ud800", "a|b\n# c", [], [1, "y"], [{"value": []}], {}, {"a": [{}]}]
)
TIMES = st.sampled_from(["2026-07-04T14:00:00Z", "2026-07-04T14:00:01.5Z", "2026-07-05", "?", ""])


@st.composite
def plans(draw: st.DrawFn) -> PlanRevision | None:
    count = draw(st.integers(0, 5))
    if count == 0:
        return None
    steps = [
        {
            "id": f"s{number}",
            "action": draw(st.sampled_from(["do it", "do something else"])),
            "tools_needed": draw(st.lists(st.sampled_from(NAMES), max_size=3)),
            "files": draw(st.lists(st.sampled_from(PATHS), max_size=2)),
            "depends_on": [f"s{one}" for one in range(number) if draw(st.booleans())],
            "status": draw(st.sampled_from(StepStatus)),
        }
        for number in range(count)
    ]
    plan = Plan.model_validate({"goal": "g", "steps": draw(st.permutations(steps))})
    return PlanRevision(context_id="c", revision=draw(st.integers(1, 2)), plan=plan)


@st.composite
def messages(draw: st.DrawFn, number: int) -> Message:
    facts = st.fixed_dictionaries({"paths": st.lists(st.sampled_from(PATHS), max_size=3) | ODD})
    fields = {
        "call_id": st.sampled_from([f"call{one}" for one in range(4)]) | ODD,
        "tool": st.sampled_from(TOOL_NAMES) | ODD,
        "ok": st.booleans() | ODD,
        "summary": st.text(max_size=5) | ODD,
        "error": st.fixed_dictionaries({"code": st.just("unknown_tool") | ODD}) | ODD,
        "facts": facts | ODD,
        "status": st.sampled_from(["completed", "failed"]) | ODD,
        "approved_revision": st.integers(1, 2) | ODD,
        "parameters": st.fixed_dictionaries({"command": st.text(max_size=9)}) | ODD,
        "options": ODD,
        "steps": ODD,
        "findings": ODD,
    }
    task = draw(st.sampled_from([None, *TASKS, "unknown"]))
    return Message.model_validate(
        {
            "id": f"m{number}",
            "context_id": "c",
            "job_id": draw(st.sampled_from([None, *JOBS])),
            "task_id": task,
            "role": draw(st.sampled_from(["user", "assistant", "system", "tool"])),
            "agent_role": draw(st.sampled_from([None, "planner", "actor"])),
            "message_type": draw(KINDS),
            "content": draw(st.text(max_size=10)),
            "data": draw(st.fixed_dictionaries({}, optional=fields)),
        }
    )


@st.composite
def events(draw: st.DrawFn, number: int) -> Event:
    kinds = [kind for kind in EventType if kind is not EventType.MESSAGE]
    fields = {"revision": st.integers(1, 2) | ODD, "status": st.sampled_from(StepStatus) | ODD,
              "id": ODD, "text": st.text(max_size=5) | ODD, "value": ODD, "model": ODD}  # fmt: skip
    return Event(
        seq=number,
        type=draw(st.sampled_from(kinds)),
        context_id="c",
        task_id=draw(st.sampled_from([None, *TASKS])),
        created_at=draw(TIMES),
        data=draw(st.fixed_dictionaries({}, optional=fields)),
    )


@st.composite
def logs(draw: st.DrawFn) -> Facts:
    tasks = [
        Task(id=name, job_id=draw(st.sampled_from(JOBS)), context_id="c", description="do it",
             step_id=f"s{draw(st.integers(0, 5))}", status=draw(st.sampled_from(StepStatus)))
        for name in TASKS
    ]  # fmt: skip
    jobs = [
        Job(id=name, context_id="c", status=draw(st.sampled_from(JobStatus)),
            usage=Usage(total_tokens=draw(st.integers(0, 9))),
            tasks=[task for task in tasks if task.job_id == name])
        for name in JOBS
    ]  # fmt: skip
    data = draw(st.fixed_dictionaries({}, optional={"tool": ODD, "files": ODD}))
    return Facts(
        context=Context(id="c"),
        revision=draw(plans()),
        jobs=jobs,
        messages=[draw(messages(number)) for number in range(draw(st.integers(0, 12)))],
        events=[draw(events(number)) for number in range(draw(st.integers(0, 12)))],
        checkpoints=[CheckpointRecord(id="cp", context_id="c", task_id="t1", data=data)],
    )


@given(logs())
@settings(max_examples=150, deadline=None)
def test_the_audit_agrees_with_the_log(facts: Facts) -> None:
    found = audit(facts, TOOLS)
    work = [*(step.actual for step in found.steps), *found.outside]
    counted = sum((Counter({one.tool: one.calls for one in each.tools}) for each in work),
                  start=Counter())  # fmt: skip
    calls = [one for one in facts.messages if one.message_type is MessageType.TOOL_CALL]
    assert counted.total() == found.totals.tool_calls >= len(calls)
    for tool, count in Counter(str(one.data.get("tool") or "unknown") for one in calls).items():
        assert counted[tool] >= count
    orphans = found.totals.tool_calls - len(calls)
    results = [one for one in facts.messages if one.message_type is MessageType.TOOL_RESULT]
    assert orphans <= len(results)
    steps = facts.revision.plan.steps if facts.revision else []
    assert [one.id for one in found.steps] == [one.id for one in steps]
    assert [one.status for one in found.steps] == [one.status for one in steps]
    assert found.totals.tokens == sum(job.usage.total_tokens for job in facts.jobs)
    order = sorted(one.actual.order for one in found.steps if one.actual.order)
    assert order == list(range(1, len(order) + 1))
    known = {one.id for one in facts.messages}
    for step in found.steps:
        assert step.actual.seconds >= 0
        assert not set(step.actual.files) & set(step.actual.files_read)
        for deviation in step.deviations:
            assert set(deviation.message_ids) <= known
            assert deviation.what


@given(logs(), st.sampled_from(ExportFormat))
@settings(max_examples=100, deadline=None)
def test_every_log_can_be_exported(facts: Facts, kind: ExportFormat) -> None:
    assert export(facts, kind, TOOLS, Discretion()).body.decode()
