"""Handing a task to another role: the commander's one tool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from ..domain.contexts import Context, JobStatus, StepStatus, Task
from ..domain.errors import CoworkError, Forbidden
from ..domain.events import EventType
from ..domain.identity import now
from ..domain.messages import MessageType
from ..domain.replies import Option, Question
from ..domain.roles import AgentRole, Permission
from ..tools.base import Parameters, Tool, ToolContext, ToolResult, tool
from .budget import Budget
from .limits import Limits
from .log import RunLog

if TYPE_CHECKING:
    from .agent import AgentKit

_ALLOW, _DENY = "allow", "deny"


class Delegate(Parameters):
    """Who should do what."""

    role: AgentRole
    task: Annotated[str, Field(min_length=1, description="All that the other needs to know.")]


@dataclass(frozen=True)
class Delegation:
    """Hands tasks of one run to other roles. A delegate cannot delegate: it has no such tool."""

    kit: AgentKit
    context: Context
    log: RunLog
    limits: Limits
    budget: Budget

    def tool(self) -> Tool:
        """The tool `delegate` for this run."""

        @tool(category="team", permissions=[])
        async def delegate(parameters: Delegate, _context: ToolContext) -> ToolResult:
            """Hand a task to another role, with all it needs to know, and get its result."""
            with self.limits.waiting():  # the delegate has limits of its own
                return await self.hand_over(parameters.role, parameters.task)

        return delegate

    async def hand_over(self, role: AgentRole, text: str) -> ToolResult:
        """Let the other role do the task, with its own rights and no more."""
        if not self.log.role.may_delegate_to(role):
            raise Forbidden(
                f"The {self.log.role} may not delegate to the {role}.", code="not_delegable"
            )
        if role.spec.permissions != {Permission.READ_FILES}:
            await self._ask(role, text)
        task = Task(
            job_id=self.log.job_id,
            context_id=self.context.id,
            step_id=f"delegated to {role}",
            description=text,
            status=StepStatus.RUNNING,
        )
        log = RunLog(self.log.journal, self.context.id, self.log.job_id, role, task.id)
        self._record(log, task, EventType.TASK_STARTED)
        log.say("user", text, MessageType.TASK_ASSIGNMENT, {"role": role.value})
        ok, summary = await self._run(role, task, text)
        log.say("assistant", summary, MessageType.TASK_RESULT, {"ok": ok})
        status = StepStatus.COMPLETED if ok else StepStatus.FAILED
        ended = {"status": status, "result": summary, "completed_at": now()}
        self._record(log, task.model_copy(update=ended), EventType.TASK_COMPLETED)
        if not ok:
            raise CoworkError(f"The {role} did not succeed: {summary}", code="delegate_failed")
        return ToolResult(summary, f"{role.spec.label}: {summary.partition(chr(10))[0][:200]}")

    async def _run(self, role: AgentRole, task: Task, text: str) -> tuple[bool, str]:
        try:
            outcome = await self.kit.run(
                self.context, role, self.log.job_id, text, self.budget, task_id=task.id
            )
        except CoworkError as error:
            return False, error.message
        if outcome.status is not JobStatus.COMPLETED:
            return False, outcome.error or "It did not say why."
        return True, outcome.text or self._delivered(task) or "Done."

    def _delivered(self, task: Task) -> str:
        """What the delegate delivered if it was no text: a plan or a review."""
        newest = self.log.journal.store.newest_messages(self.context.id, task.id)
        return next((str(one.data) for one in newest if one.data and not one.text), "")

    async def _ask(self, role: AgentRole, text: str) -> None:
        rights = ", ".join(sorted(role.spec.permissions))
        question = Question(
            question=f"Hand this task to the {role.spec.label}? It may: {rights}.",
            context=text,
            severity="major",
            options=[
                Option(label="Allow", value=_ALLOW),
                Option(label="Do not allow", value=_DENY),
            ],
            default=_DENY,
        )
        if await self.kit.user.ask(question, self.log) != _ALLOW:
            raise Forbidden(
                f"The user did not allow to hand this to the {role}.", code="delegation_denied"
            )

    def _record(self, log: RunLog, task: Task, kind: EventType) -> None:
        data = {
            "task_id": task.id,
            "step_id": task.step_id,
            "status": task.status.value,
            "error": task.error,
        }
        with log.journal.transaction() as tx:
            tx.save_task(task)
            log.append(tx, kind, data)
