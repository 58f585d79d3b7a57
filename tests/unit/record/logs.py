"""Logs made by hand: what a run would have written, without the run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from cowork_jupyter.domain.contexts import Context, Job, JobKind, JobStatus, StepStatus, Task
from cowork_jupyter.domain.events import Event, EventType
from cowork_jupyter.domain.messages import Message, MessageRole, MessageType
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.record import Audit, ConversationLog, audit
from cowork_jupyter.record.audit import StepAudit
from cowork_jupyter.store import CheckpointRecord, PlanRevision
from cowork_jupyter.tools.registry import default_tools

TOOLS = default_tools()
BEGIN = datetime(2026, 7, 4, 14, 0, tzinfo=UTC)


class Log:
    """A conversation with one job, second by second."""

    def __init__(self, *steps: dict[str, Any], revision: int = 1) -> None:
        self.context = Context(title="Sales", model="gpt-5-mini", created_at=self._time(0))
        self.job = Job(
            context_id=self.context.id,
            kind=JobKind.PLAN,
            plan_id="plan_1",
            plan_revision=revision,
            status=JobStatus.COMPLETED,
        )
        self.revision = revision
        self.steps = [{"depends_on": [], "action": "do it", **step} for step in steps]
        self.statuses: dict[str, StepStatus] = {}
        self.tasks: dict[str, Task] = {}
        self.messages: list[Message] = []
        self.events: list[Event] = []
        self.checkpoints: list[CheckpointRecord] = []
        self.clock = 0.0
        self.last_call = ""

    @staticmethod
    def _time(seconds: float) -> str:
        return (BEGIN + timedelta(seconds=seconds)).isoformat(timespec="milliseconds")

    def task(self, step: str | None) -> Task | None:
        if step is None:
            return None
        fresh = Task(
            job_id=self.job.id, context_id=self.context.id, step_id=step, description="do it"
        )
        return self.tasks.setdefault(step, fresh)

    def event(self, kind: EventType, step: str | None = None, /, **data: Any) -> Event:
        self.clock += 1
        task = self.task(step)
        ids = {"job_id": self.job.id, "task_id": task.id if task else None, "step_id": step}
        usual: dict[EventType, dict[str, Any]] = {
            EventType.PLAN_UPDATE: {"goal": "Clean sales.csv", "steps": self.steps},
            EventType.JOB_STARTED: {**ids, "status": "running"},
            EventType.TASK_STARTED: {**ids, "status": "running"},
            EventType.TASK_COMPLETED: ids,
            EventType.QUESTION_ASKED: {"question": "Which?"},
        }
        event = Event.model_validate(
            {
                "seq": len(self.events) + 1,
                "type": kind,
                "context_id": self.context.id,
                **ids,
                "created_at": self._time(self.clock),
                "data": {**usual.get(kind, {}), **data},
            }
        )
        self.events.append(event)
        return event

    def say(
        self,
        text: str,
        kind: MessageType = MessageType.TEXT,
        step: str | None = None,
        /,
        role: MessageRole = "assistant",
        agent_role: AgentRole = AgentRole.ACTOR,
        **data: Any,
    ) -> Message:
        task = self.task(step)
        asked = {"question": text} if kind is MessageType.QUESTION else {}
        message = Message.model_validate(
            {
                "context_id": self.context.id,
                "job_id": self.job.id,
                "task_id": task.id if task else None,
                "role": role,
                "agent_role": None if role == "user" else agent_role,
                "message_type": kind,
                "content": text,
                "data": {**asked, **data},
                "created_at": self._time(self.clock),
            }
        )
        self.messages.append(message)
        self.event(EventType.MESSAGE, step, **message.model_dump())
        return message

    def use(
        self,
        tool: str,
        *paths: str,
        step: str | None = None,
        error: str = "",
        asked: bool = False,
        output: str = "",
        **parameters: Any,
    ) -> list[str]:
        """A call with its result; gives the ids of what shows it."""
        call_id = self.last_call = f"call_{len(self.messages)}"
        facts: dict[str, Any] = {"paths": list(paths)}
        approved: dict[str, Any] = {"approved": True} if asked else {}
        call: dict[str, Any] = {"call_id": call_id, "tool": tool, "parameters": parameters}
        shown = [self.say("", MessageType.TOOL_CALL, step, **call)]
        shown.append(
            self.say(
                output,
                MessageType.TOOL_RESULT,
                step,
                role="tool",
                call_id=call_id,
                tool=tool,
                ok=not error,
                summary=error or f"{tool} {' '.join(paths)}".strip(),
                error={"code": error, "message": error} if error else None,
                facts={} if error else facts,
                **approved,
            )
        )
        return [one.id for one in shown]

    def start_job(self) -> None:
        self.event(EventType.PLAN_UPDATE, revision=self.revision)
        self.event(EventType.JOB_STARTED)

    def begin(self, step: str) -> Message:
        self.event(EventType.TASK_STARTED, step, step_id=step, status="running")
        self.event(EventType.PLAN_UPDATE, revision=self.revision)
        data: dict[str, Any] = {"step": {"action": "do it"}}
        return self.say("Do it.", MessageType.TASK_ASSIGNMENT, step, role="user", **data)

    def end(self, step: str, status: StepStatus = StepStatus.COMPLETED) -> None:
        self.statuses[step] = status
        self.event(EventType.TASK_COMPLETED, step, step_id=step, status=status.value)

    def result(self, step: str, text: str = "Done.", status: str = "completed") -> Message:
        return self.say(text, MessageType.TASK_RESULT, step, status=status, step_id=step)

    def facts(self) -> ConversationLog:
        revision = None
        if self.steps:
            steps = [{**one, "status": self._status(one["id"])} for one in self.steps]
            plan = Plan.model_validate({"goal": "Clean sales.csv", "steps": steps})
            revision = PlanRevision(
                context_id=self.context.id,
                plan_id="plan_1",
                revision=self.revision,
                plan=plan,
                made_at="2026-07-04",
            )
        for step in self.steps:
            self.task(step["id"])
        job = self.job.model_copy(update={"tasks": list(self.tasks.values())})
        revisions = [revision] if revision else []
        log = (self.messages, self.events, self.checkpoints)
        return ConversationLog(self.context, revision, [job], *log, revisions)

    def _status(self, step: str) -> StepStatus:
        """As told; else a step that did anything has been completed."""
        begun = any(one.step_id == step and one.id in self._task_ids for one in self.tasks.values())
        return self.statuses.get(step, StepStatus.COMPLETED if begun else StepStatus.PENDING)

    @property
    def _task_ids(self) -> set[str | None]:
        return {event.task_id for event in self.events}

    def audit(self) -> Audit:
        return audit(self.facts(), TOOLS)

    def audited(self, step: str) -> StepAudit:
        return next(one for one in self.audit().steps if one.id == step)
