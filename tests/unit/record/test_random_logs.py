"""Whatever the log holds, the audit agrees with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cowork_jupyter.domain.contexts import Context, Job, JobStatus, StepStatus, Task, Usage
from cowork_jupyter.domain.events import Event, EventType
from cowork_jupyter.domain.messages import Message, MessageType, ToolCallData
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.record import ConversationLog, ExportFormat, Redactor, audit, export
from cowork_jupyter.store import CheckpointRecord, PlanRevision

from .logs import TOOLS

TOOL_NAMES = [*TOOLS, "find_tools", "mcp_mail", ""]
NAMES = [*TOOL_NAMES, "write_files", "execute_commands", "read_files"]
PATHS = ["a.py", "./a.py", "b.py", "data/c.csv", ""]
JOBS, TASKS = ["j1", "j2"], [f"t{number}" for number in range(6)]
ODD: list[Any] = [
    None,
    True,
    3,
    "x",
    "\ud800",
    "a|b\n# c",
    [],
    [1, "y"],
    [{"value": []}],
    {},
    {"a": [{}]},
]
TIMES = ["2026-07-04T14:00:00Z", "2026-07-04T14:00:01.5Z", "2026-07-05", "?", ""]


class Dice(Random):
    """Draws logs. From one number, because drawing each part for itself takes far longer."""

    def some(self, values: Iterable[Any], most: int = 3) -> list[Any]:
        known = list(values)
        return self.choices(known, k=self.randrange(most + 1)) if known else []

    def mostly(self, values: Iterable[Any]) -> Any:
        return self.choice(list(values) if self.random() < 0.8 else ODD)

    def data(self, **fields: Any) -> dict[str, Any]:
        return {name: value for name, value in fields.items() if self.random() < 0.9}

    def plan(self) -> PlanRevision | None:
        steps = [
            {
                "id": f"s{number}",
                "action": self.choice(["do it", "do something else"]),
                "tools_needed": self.some(NAMES),
                "files": self.some(PATHS),
                "depends_on": self.some(f"s{one}" for one in range(number)),
                "status": self.choice(list(StepStatus)),
            }
            for number in range(self.randrange(6))
        ]
        self.shuffle(steps)
        if not steps:
            return None
        plan = Plan.model_validate({"goal": "g", "steps": steps})
        return PlanRevision(context_id="c", revision=self.randint(1, 2), plan=plan)

    def message(self, number: int) -> Message:
        data = self.data(
            call_id=self.mostly(f"call{one}" for one in range(6)),
            tool=self.mostly(TOOL_NAMES),
            ok=self.mostly([True, False]),
            summary=self.mostly(["did it"]),
            error=self.mostly([None, {"code": "unknown_tool"}, {"code": []}]),
            facts=self.mostly([{"paths": self.some(PATHS)}, {"paths": self.choice(ODD)}]),
            status=self.mostly(["completed", "failed"]),
            approved_revision=self.mostly([1, 2]),
            parameters=self.mostly([{"command": "ls"}]),
            options=self.choice(ODD),
            steps=self.choice(ODD),
            findings=self.choice(ODD),
        )
        fields = {
            "id": f"m{number}",
            "context_id": "c",
            "job_id": self.choice([None, *JOBS]),
            "task_id": self.choice([None, *TASKS, "unknown"]),
            "role": self.choice(["user", "assistant", "system", "tool"]),
            "agent_role": self.choice([None, "planner", "actor"]),
            "message_type": self.choice(list(MessageType)),
            "content": self.choice(["", "Hello.", "```\n![x](http://x)", "<b>"]),
            "data": data,
        }
        return Message.model_validate(fields)

    def event(self, number: int) -> Event:
        kinds = [kind for kind in EventType if kind is not EventType.MESSAGE]
        data = self.data(
            revision=self.mostly([1, 2]),
            status=self.mostly(StepStatus),
            id=self.choice(ODD),
            text=self.mostly(["sk-", "1234567890"]),
            value=self.choice(ODD),
            model=self.mostly(["gpt-5-mini"]),
        )
        return Event.model_validate(
            {
                "seq": number,
                "type": self.choice(kinds),
                "context_id": "c",
                "task_id": self.choice([None, *TASKS]),
                "created_at": self.choice(TIMES),
                "data": data,
            }
        )

    def job(self, name: str) -> Job:
        tasks = [
            Task(id=task, job_id=name, context_id="c", step_id=f"s{self.randrange(6)}",
                 description="do it", status=self.choice(list(StepStatus)))
            for task in TASKS[JOBS.index(name) :: len(JOBS)]
        ]  # fmt: skip
        usage = Usage(total_tokens=self.randrange(9))
        status = self.choice(list(JobStatus))
        return Job(id=name, context_id="c", status=status, usage=usage, tasks=tasks)

    def log(self) -> ConversationLog:
        taken = {"tool": self.mostly(TOOL_NAMES), "files": self.mostly([self.some(PATHS)])}
        return ConversationLog(
            context=Context(id="c"),
            revision=self.plan(),
            jobs=[self.job(name) for name in JOBS],
            messages=[self.message(number) for number in range(self.randrange(30))],
            events=[self.event(number) for number in range(self.randrange(30))],
            checkpoints=[CheckpointRecord(id="cp", context_id="c", task_id="t1", data=taken)],
        )


@given(st.integers())
@settings(max_examples=3 * settings().max_examples // 2, deadline=None)
def test_the_audit_agrees_with_the_log(seed: int) -> None:
    facts = Dice(seed).log()
    found = audit(facts, TOOLS)
    work = [*(step.actual for step in found.steps), *found.outside]
    counted = sum((Counter({one.tool: one.calls for one in each.tools}) for each in work),
                  start=Counter())  # fmt: skip
    calls = [one for one in facts.messages if one.message_type is MessageType.TOOL_CALL]
    assert counted.total() == found.totals.tool_calls >= len(calls)
    for tool, count in Counter(
        (isinstance(one.data, ToolCallData) and one.data.tool) or "unknown" for one in calls
    ).items():
        assert counted[tool] >= count
    orphans = found.totals.tool_calls - len(calls)
    results = [one for one in facts.messages if one.message_type is MessageType.TOOL_RESULT]
    assert orphans <= len(results)
    steps = facts.revision.plan.steps if facts.revision else []
    assert [one.id for one in found.steps] == [one.id for one in steps]
    open_still = {StepStatus.PENDING, StepStatus.RUNNING, StepStatus.WAITING}
    for audited, step in zip(found.steps, steps, strict=True):
        assert audited.status is step.status or step.status in open_still
    assert found.totals.tokens == sum(job.usage.total_tokens for job in facts.jobs)
    order = sorted(one.actual.order for one in found.steps if one.actual.order)
    assert order == list(range(1, len(order) + 1))
    known = {one.id for one in facts.messages}
    for one in found.steps:
        assert one.actual.seconds >= 0
        assert not set(one.actual.files) & set(one.actual.files_read)
        for deviation in one.deviations:
            assert set(deviation.message_ids) <= known
            assert deviation.what


@given(st.integers(), st.sampled_from(ExportFormat))
@settings(deadline=None)
def test_every_log_can_be_exported(seed: int, kind: ExportFormat) -> None:
    facts = Dice(seed).log()
    assert export(facts, kind, TOOLS, Redactor()).body.decode()
