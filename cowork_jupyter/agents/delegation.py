"""Delegating a task to another role: the commander's one tool."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from pydantic import Field, WithJsonSchema, create_model

from ..domain.contexts import Context, JobStatus, StepStatus, Task
from ..domain.errors import CoworkError, Forbidden, InvalidInput
from ..domain.events import TaskCompleted, TaskStarted
from ..domain.identity import now
from ..domain.messages import TaskAssignmentData, TaskResultData
from ..domain.replies import Option, Question
from ..domain.roles import AgentRole, Permission
from ..domain.team import ON_ITS_OWN
from ..policy.decision import Decision, Verdict
from ..policy.rules import DELEGATE, Effect
from ..tools.base import Tool, ToolContext, ToolParameters, ToolResult, tool
from .ask.user import deny_unasked, nobody_is_there
from .external import ExternalAgents
from .file_locks import FileLocks
from .log import RunLog
from .run.answer_form import named_files
from .run.budget import JobBudget
from .run.limits import RunLimits
from .run.outcome import Outcome
from .run.tool_environment import ToolEnvironment

_ALLOW, _DENY = "allow", "deny"


class Delegate(ToolParameters):
    """Who should do what."""

    role: AgentRole
    task: Annotated[
        str, Field(min_length=1, description="Everything the other agent needs to know.")
    ]
    files: Annotated[
        list[str],
        Field(
            description="Files that it will create or change; tasks that share none run at once."
        ),
    ] = []


class DelegateAnywhere(Delegate):
    """The same where the user has agents of others."""

    agent: Annotated[
        str, Field(description="External agent that works in that role; empty for Cowork's own.")
    ] = ""


HandOver = Callable[[AgentRole, str, str, Sequence[str]], Awaitable[ToolResult]]
RunAgent = Callable[[Context, AgentRole, str, str, JobBudget, str], Awaitable[Outcome]]


def delegate_tool(
    externals: ExternalAgents, delegates: Sequence[AgentRole], hand_over: HandOver
) -> Tool:
    @tool(category="team", permissions=[], waits_itself=True)
    async def delegate(parameters: Delegate, _context: ToolContext) -> ToolResult:
        """Delegate a task to another role and get its result. Tasks of one reply run at once."""
        agent = parameters.agent if isinstance(parameters, DelegateAnywhere) else ""
        return await hand_over(parameters.role, parameters.task, agent, parameters.files)

    base = DelegateAnywhere if externals.names() else Delegate
    names = WithJsonSchema({"type": "string", "enum": [role.value for role in delegates]})
    parameters = create_model("Delegate", __base__=base, role=(Annotated[AgentRole, names], ...))
    return replace(delegate, parameters=parameters)


@dataclass(frozen=True)
class Delegation:
    """Delegates tasks of one run. A delegate cannot delegate further: it has no such tool."""

    run_agent: RunAgent
    tools: ToolEnvironment
    externals: ExternalAgents
    delegates: Sequence[AgentRole]
    context: Context
    log: RunLog
    limits: RunLimits
    budget: JobBudget
    slots: asyncio.Semaphore
    locks: FileLocks = field(default_factory=FileLocks)

    async def hand_over(
        self, role: AgentRole, text: str, agent: str = "", files: Sequence[str] = ()
    ) -> ToolResult:
        role = self._permitted(role, agent)
        if agent or _can_change(role):
            await self._ask(role, text, agent)
        with self.limits.waiting():  # for others, and for the delegate, which has limits of its own
            async with self.locks.hold(_files_held(role, text, files)), self.slots:
                ok, summary = await self._carry_out(role, text, agent)
        if not ok:
            who = agent or f"The {role}"
            raise CoworkError(f"{who} failed: {summary}", code="delegate_failed")
        who = agent or role.spec.label
        return ToolResult(summary, f"{who}: {summary.partition(chr(10))[0][:200]}")

    def _permitted(self, role: AgentRole, agent: str) -> AgentRole:
        permitted = next((delegate for delegate in self.delegates if delegate == role), None)
        if permitted is None or not permitted.is_known:
            raise Forbidden(
                f"The {self.log.role} may not delegate to the {role}.", code="not_delegable"
            )
        agents = self.externals.names()
        if agent and agent not in agents:
            names = ", ".join(agents) or "none"
            why = f"There is no external agent '{agent}'. Choose one of: {names}."
            raise InvalidInput(why, code="unknown_agent")
        return permitted

    async def _carry_out(self, role: AgentRole, text: str, agent: str) -> tuple[bool, str]:
        task = Task(
            job_id=self.log.job_id,
            context_id=self.context.id,
            step_id=f"delegation-{len(self.log.journal.store.tasks(self.log.job_id)) + 1}",
            role=role,
            description=text,
            status=StepStatus.RUNNING,
        )
        log = RunLog(self.log.journal, self.context.id, self.log.job_id, role, task.id)
        self._record(log, task, TaskStarted)
        log.say("user", text, TaskAssignmentData(role=role, agent=agent))
        status, summary = await self._run(log, task, text, agent)
        ok = status is StepStatus.COMPLETED
        log.say("assistant", summary, TaskResultData(ok=ok))
        ended = {"status": status, "result": summary, "completed_at": now()}
        task = task.model_copy(update=ended)
        self._record(log, task, TaskCompleted)
        return ok, summary

    async def _run(self, log: RunLog, task: Task, text: str, agent: str) -> tuple[StepStatus, str]:
        try:
            if agent:
                outcome = await self.externals.run(agent, text, self.tools, log, self.budget)
            else:
                place = (self.context, log.role, log.job_id)
                outcome = await self.run_agent(*place, text, self.budget, task.id)
        except CoworkError as error:
            return StepStatus.FAILED, error.message
        if outcome.status is not JobStatus.COMPLETED:
            return StepStatus(outcome.status), outcome.error or "It gave no reason."
        return StepStatus.COMPLETED, outcome.handed_over

    async def _ask(self, role: AgentRole, text: str, agent: str) -> None:
        if nobody_is_there(self.tools.user):
            self._require_rule(role, agent)
            return
        rights = ", ".join(sorted(role.spec.permissions))
        whom = f"{agent}, as the {role.spec.label}" if agent else f"the {role.spec.label}"
        alone = f" {ON_ITS_OWN}" if agent else ""
        question = Question(
            question=f"Delegate this task to {whom}? It may: {rights}.{alone}",
            context=text,
            severity="major",
            options=[
                Option(label="Allow", value=_ALLOW),
                Option(label="Do not allow", value=_DENY),
            ],
            default=_DENY,
        )
        with self.limits.waiting():
            answer = await self.tools.user.ask(question, self.log)
        if answer != _ALLOW:
            raise Forbidden(
                f"The user did not allow delegating this to {whom}.", code="delegation_denied"
            )

    def _require_rule(self, role: AgentRole, agent: str) -> None:
        ruling = self.tools.gate.ruling(DELEGATE, {"role": role.value}, self.log)
        if ruling is None or ruling.effect is not Effect.ALLOW:
            rules = [f"{DELEGATE}({role})"]
            why = deny_unasked(DELEGATE, _asks_first(role, agent), rules, self.log)
            raise Forbidden(why, code="delegation_denied")

    def _record(self, log: RunLog, task: Task, kind: type[TaskStarted]) -> None:
        with log.journal.transaction() as tx:
            tx.save_task(task)
            log.append(tx, kind.of(tx.task(task.id)))


def check_delegation(
    role: AgentRole,
    delegates: Sequence[AgentRole],
    parameters: Mapping[str, Any],
    ruling: Verdict | None,
) -> Decision:
    """What would happen if this role delegated; nothing is delegated and nobody asked."""
    wanted = parameters.get("role")
    other = next((delegate for delegate in delegates if delegate.value == wanted), None)
    if not role.spec.delegates_to:
        return Decision(decision="deny", because=[f"The role {role} may not use {DELEGATE}."])
    if ruling and ruling.effect is Effect.DENY:
        return Decision(decision="deny", because=[ruling.because])
    if other is None:
        return Decision(decision="deny", because=[f"The {role} may not delegate to the {wanted}."])
    if ruling and ruling.effect is Effect.ASK:
        return Decision(decision="ask", because=[ruling.because], risk="medium")
    agent = parameters.get("agent")
    if agent or _can_change(other):
        return Decision(decision="ask", because=[_asks_first(other, agent)], risk="medium")
    return Decision(decision="allow", because=[f"The {other} only reads."])


def _asks_first(role: AgentRole, agent: object) -> str:
    if agent:
        return f"Delegating to the external agent {agent} asks first."
    return f"Delegating to the {role}, which may do more than read, asks first."


def _files_held(role: AgentRole, text: str, files: Sequence[str]) -> Sequence[str]:
    """What no other task may write meanwhile: the files that somebody names, else all."""
    writes = role.spec.permissions - {Permission.READ_FILES, Permission.EXECUTE_COMMANDS}
    if not writes and not role.spec.commands_may_write:
        return ()
    return files or named_files(text) or ["."]


def _can_change(role: AgentRole) -> bool:
    return role.spec.permissions != {Permission.READ_FILES}
