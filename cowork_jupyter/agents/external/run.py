"""One task carried out by an external agent, from its start to its end."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ...checkpoints import ToolUse
from ...domain.contexts import JobStatus
from ...domain.errors import CoworkError, NotFound, Unavailable
from ...domain.extras import lack_of
from ...domain.message_data import ReviewData
from ...domain.plan import PlanStep
from ...domain.redaction import Mask
from ...domain.replies import Review, StepResult
from ...domain.roles import Permission
from ...domain.team import MARK
from ...llm.reply import read_reply
from ...mcp.client.secrets import Resolved, VariableMissing, resolve
from ..log import RunLog
from ..run.budget import Budget
from ..run.limits import GO_ON, LimitReached, RunLimits, about_going_on
from ..run.loop import Outcome
from ..run.tool_runner import ToolEnvironment, ToolRunner
from .configured import ExternalAgents
from .process import JsonLines, started

if TYPE_CHECKING:
    from acp.client import ClientSideConnection

    from .client import Workbench

START_SECONDS = 60.0
"""Within which it has to be ready for work."""
_LOOK = 0.5
_ANYTHING = frozenset({Permission.EXECUTE_COMMANDS})
_HEAD = (
    "You work in this folder as the {label}: {description} Use the client's methods for files and "
    "terminals, so that the user can approve what you do and roll it back.\n\n{text}"
)
_ENDINGS = {
    "refusal": "It refused.",
    "max_tokens": "It reached its token limit.",
    "max_turn_requests": "It reached its turn limit.",
    "cancelled": "It was cancelled.",
}


@dataclass(frozen=True)
class ExternalTask:
    """A task for an external agent: by whom, under which role, and for which step of a plan."""

    tools: ToolEnvironment
    externals: ExternalAgents
    agent: str
    log: RunLog
    """The task's own, with the role."""
    step: PlanStep | None = None

    async def run(self, text: str, budget: Budget) -> Outcome:
        """Let it work. Whatever it changes in the folder meanwhile, also by itself, is kept."""
        limits = RunLimits(budget.settings)
        with limits.waiting():
            refusal = await budget.admit()
        if refusal:
            return Outcome(JobStatus.FAILED, refusal)
        resolved = self._resolved(str(budget.settings.workspace))
        mask = Mask(resolved.secrets)
        runner = ToolRunner(self.tools, self.log, self.step, limits.waiting)
        try:
            async with (
                self.tools.recorded_job(self.log.job_id, self.log.role),
                self.tools.recorded_use(self._use(text)),
            ):
                said = await self._speak(resolved, text, runner, limits)
        except LimitReached as limit:
            return Outcome(JobStatus.FAILED, f"The limit of {limit} was reached.")
        except CoworkError as error:
            return Outcome(JobStatus.FAILED, mask(error.message))
        words = mask(said.text)
        reply = read_reply(words)
        result = reply.structured if isinstance(reply.structured, StepResult) else None
        review = reply.structured if isinstance(reply.structured, Review) else None
        if answer := reply.text if result or review else words:
            self.log.say("assistant", answer)
        if result and said.status is JobStatus.COMPLETED:
            return Outcome.of(result)
        if review:
            self.log.say("assistant", "", ReviewData(**dict(review)))
            return Outcome(said.status, said.error, reply.text, delivered=review)
        return Outcome(said.status, said.error, words)

    def _resolved(self, folder: str) -> Resolved:
        if lack := lack_of("acp"):
            raise Unavailable(f"External agents cannot be used. {lack}", code="no_acp")
        entry = self.externals.all().get(self.agent)
        if entry is None:
            raise NotFound(f"There is no external agent '{self.agent}'.", code="unknown_agent")
        try:
            return resolve(entry, os.environ, folder)
        except VariableMissing as error:
            why = f"Cannot start the agent {self.agent}: {error}."
            raise Unavailable(why, code="no_agent") from None

    def _use(self, text: str) -> ToolUse:
        """The whole task, as the checkpoints see it."""
        log, step = self.log, self.step.id if self.step else None
        place = (log.context_id, log.job_id, log.task_id, step)
        return ToolUse(*place, f"{MARK}{self.agent}", _ANYTHING, {"task": text})

    async def _speak(
        self, agent: Resolved, text: str, runner: ToolRunner, limits: RunLimits
    ) -> Outcome:
        from acp import RequestError
        from acp.client import ClientSideConnection

        from .client import Workbench

        bench = Workbench(self.agent, runner, Mask(agent.secrets))
        folder = str(self.tools.workspace.root)
        async with started(agent, folder, os.environ) as (lines, last):
            connection = ClientSideConnection(cast("Any", bench), cast("Any", lines))
            try:
                return await self._converse(connection, bench, folder, text, limits)
            except RequestError as error:
                raise Unavailable(f"{self.agent} answered: {error}", code="agent_failed") from None
            except ConnectionError:
                raise _broken_off(self.agent, last) from None
            finally:
                await bench.terminals.close()
                await _closed(connection, lines)

    async def _converse(
        self,
        connection: ClientSideConnection,
        bench: Workbench,
        folder: str,
        text: str,
        limits: RunLimits,
    ) -> Outcome:
        from acp import PROTOCOL_VERSION
        from acp.helpers import text_block

        try:
            async with asyncio.timeout(START_SECONDS):
                ready = await connection.initialize(
                    PROTOCOL_VERSION, client_capabilities=bench.capabilities
                )
                if ready.protocol_version != PROTOCOL_VERSION:
                    raise _other_version(self.agent, ready.protocol_version)
                session = (await connection.new_session(cwd=folder, mcp_servers=[])).session_id
        except TimeoutError:
            why = f"{self.agent} was not ready within {START_SECONDS:.0f} seconds."
            raise Unavailable(why, code="agent_failed") from None
        spec = self.log.role.spec
        task = _HEAD.format(label=spec.label, description=spec.description, text=text)
        prompt = connection.prompt(session_id=session, prompt=[text_block(task)])
        turn = asyncio.ensure_future(prompt)
        try:
            while not turn.done():
                await asyncio.wait([turn], timeout=_LOOK)
                await self._check_time(limits)
            reason = turn.result().stop_reason
        except (LimitReached, asyncio.CancelledError):
            with suppress(ConnectionError, TimeoutError):
                async with asyncio.timeout(1):
                    await connection.cancel(session_id=session)
            raise
        finally:
            turn.cancel()
        said = "".join(bench.words).strip()
        if reason == "end_turn":
            return Outcome(text=said)
        return Outcome(JobStatus.FAILED, _ENDINGS.get(reason, str(reason)), said)

    async def _check_time(self, limits: RunLimits) -> None:
        """At the limit the user decides; it works on while they think about it."""
        try:
            limits.check_seconds()
        except LimitReached as limit:
            question = about_going_on(f"{self.agent} has used its {limit}.")
            with limits.waiting():
                if await self.tools.user.ask(question, self.log) != GO_ON:
                    raise
            limits.extend()


def _other_version(name: str, version: int) -> Unavailable:
    why = f"{name} speaks only version {version} of ACP. Cowork speaks version 1."
    return Unavailable(why, code="agent_failed")


def _broken_off(name: str, last: deque[str]) -> Unavailable:
    words = f" Its last output: {' '.join(last)[-500:]}" if last else ""
    return Unavailable(f"{name} ended unexpectedly.{words}", code="agent_failed")


async def _closed(connection: ClientSideConnection, lines: JsonLines) -> None:
    with suppress(Exception):
        await connection.close()
    await lines.close()
