"""One task carried out by an external agent, from start to end."""

from __future__ import annotations

import asyncio
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ...agents.log import RunLog
from ...agents.run.budget import JobBudget
from ...agents.run.limits import GO_ON, LimitReached, RunLimits, go_on_question
from ...agents.run.outcome import Outcome
from ...agents.run.tool_environment import ToolEnvironment
from ...agents.run.tool_runner import ToolRunner
from ...checkpoints import ToolUse
from ...domain.contexts import JobStatus
from ...domain.errors import CoworkError, Forbidden, Unavailable
from ...domain.events import LeftBehind
from ...domain.health import missing_extra
from ...domain.messages import ReviewData
from ...domain.plan import PlanStep
from ...domain.redaction import Mask
from ...domain.replies import Option, Question, Review, StepResult
from ...domain.roles import Permission
from ...domain.team import MARK
from ...llm.reply_parser import read_reply
from ...policy.visible import visible
from ...workspace.sandbox.clean_up import Aftermath
from ..mcp.secrets import VariableMissing, resolve
from .entry import AgentEntry
from .process import AgentProcess, JsonLines, StderrTail, start_agent

if TYPE_CHECKING:
    from acp.client import ClientSideConnection

    from .client import AcpClient

START_SECONDS = 60.0
"""Within which it has to be ready."""
_CHECK_SECONDS = 0.5
_START, _LEAVE = "start", "leave"
_REFUSED = re.compile(r"read-only file system|permission denied|EROFS|EACCES|EPERM", re.IGNORECASE)
_WRITES_ELSEWHERE = (
    'In the sandbox, it can write only to the workspace and what its settings list as "writes".'
)
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
    tools: ToolEnvironment
    entry: AgentEntry
    agent: str
    log: RunLog
    step: PlanStep | None = None

    async def run(self, text: str, budget: JobBudget) -> Outcome:
        """Let it work. Whatever it changes in the folder meanwhile, also by itself, is
        checkpointed.
        """
        limits = RunLimits(budget.settings)
        with limits.waiting():
            refusal = await budget.admit()
        if refusal:
            return budget.ended
        process = self._process(str(budget.settings.workspace))
        mask = Mask(process.agent.secrets)
        runner = ToolRunner(self.tools, self.log, self.step, limits.waiting)
        try:
            async with (
                self.tools.recorded_job(self.log.job_id, self.log.role),
                self.tools.recorded_use(self._use(text)),
            ):
                if process.sandbox is None:
                    with limits.waiting():
                        await self._ask_unconfined()
                said = await self._speak(process, text, runner, limits)
        except LimitReached as limit:
            return Outcome.at_limit(f"The limit of {limit} was reached.", stopped=limit.stopped)
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

    def _process(self, folder: str) -> AgentProcess:
        """How it is started: confined as a command of its role would be."""
        if lack := missing_extra("acp"):
            raise Unavailable(f"External agents cannot be used. {lack}", code="no_acp")
        entry = self.entry
        sandbox = self.tools.sandbox if entry.sandbox else None
        if sandbox is not None and sandbox.kind == "none":
            sandbox = None
        may_write = self.log.role.spec.commands_may_write
        if sandbox is None and not may_write:
            raise Forbidden(
                f"The {self.log.role.spec.label} must not change the workspace, and without a "
                f"sandbox nothing prevents {self.agent} from doing so.",
                code="sandbox_missing",
            )
        try:
            resolved = resolve(entry, os.environ, folder)
        except VariableMissing as error:
            why = f"Cannot start the agent {self.agent}: {error}."
            raise Unavailable(why, code="no_agent") from None
        workspace = self.tools.workspace
        return AgentProcess(
            resolved, workspace, sandbox, may_write, entry.state, self._tell_left_behind
        )

    def _tell_left_behind(self, aftermath: Aftermath) -> None:
        if facts := aftermath.facts():
            message = (
                f"{self.agent} left files that would run later. {visible(aftermath.text)[:400]}"
            )
            self.log.event(LeftBehind(message=message, set_aside=facts))

    async def _ask_unconfined(self) -> None:
        question = Question(
            question=f"Start {self.agent} without the sandbox? It can do whatever you can do.",
            severity="major",
            options=[Option(label="Start it", value=_START), Option(label="Do not", value=_LEAVE)],
            default=_LEAVE,
        )
        if await self.tools.user.ask(question, self.log) != _START:
            why = f"The user did not allow {self.agent} to run without the sandbox."
            raise Forbidden(why, code="denied_by_user")

    def _use(self, text: str) -> ToolUse:
        log, step = self.log, self.step.id if self.step else None
        place = (log.context_id, log.job_id, log.task_id, step)
        return ToolUse(*place, f"{MARK}{self.agent}", _ANYTHING, {"task": text})

    async def _speak(
        self, process: AgentProcess, text: str, runner: ToolRunner, limits: RunLimits
    ) -> Outcome:
        from acp import RequestError
        from acp.client import ClientSideConnection

        from .client import AcpClient

        bench = AcpClient(self.agent, runner, Mask(process.agent.secrets))
        folder = str(self.tools.workspace.root)
        stderr = StderrTail()
        try:
            async with start_agent(process, stderr) as lines:
                connection = ClientSideConnection(cast("Any", bench), cast("Any", lines))
                try:
                    session = await lines.unless_ended(
                        self._open_session(connection, bench, folder)
                    )
                    return await self._converse(connection, bench, session, text, limits)
                finally:
                    await bench.terminals.close()
                    await _close(connection, lines)
        except RequestError as error:
            raise Unavailable(f"{self.agent} answered: {error}", code="agent_failed") from None
        except ConnectionError:
            raise _broken_off(self.agent, stderr, process) from None

    async def _open_session(
        self, connection: ClientSideConnection, bench: AcpClient, folder: str
    ) -> str:
        from acp import PROTOCOL_VERSION

        try:
            async with asyncio.timeout(START_SECONDS):
                ready = await connection.initialize(
                    PROTOCOL_VERSION, client_capabilities=bench.capabilities
                )
                if ready.protocol_version != PROTOCOL_VERSION:
                    why = (
                        f"{self.agent} speaks only version {ready.protocol_version} of ACP. "
                        "Cowork speaks version 1."
                    )
                    raise Unavailable(why, code="agent_failed")
                made = await connection.new_session(cwd=folder, mcp_servers=[])
                return str(made.session_id)
        except TimeoutError:
            why = f"{self.agent} was not ready within {START_SECONDS:.0f} seconds."
            raise Unavailable(why, code="agent_failed") from None

    async def _converse(
        self,
        connection: ClientSideConnection,
        bench: AcpClient,
        session: str,
        text: str,
        limits: RunLimits,
    ) -> Outcome:
        from acp.helpers import text_block

        spec = self.log.role.spec
        task = _HEAD.format(label=spec.label, description=spec.description, text=text)
        prompt = connection.prompt(session_id=session, prompt=[text_block(task)])
        turn = asyncio.ensure_future(prompt)
        try:
            while not turn.done():
                await asyncio.wait([turn], timeout=_CHECK_SECONDS)
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
            question = go_on_question(f"{self.agent} has used its {limit}.")
            with limits.waiting():
                answer = await self.tools.user.ask(question, self.log)
            if answer != GO_ON:
                limit.stopped = answer is not None
                raise
            limits.extend()


def _broken_off(name: str, stderr: StderrTail, process: AgentProcess) -> Unavailable:
    said = " ".join(stderr.text.split())[-500:]
    words = f" Its last output: {said}" if said else ""
    hint = f" {_WRITES_ELSEWHERE}" if process.sandbox and _REFUSED.search(words) else ""
    return Unavailable(f"{name} ended unexpectedly.{words}{hint}", code="agent_failed")


async def _close(connection: ClientSideConnection, lines: JsonLines) -> None:
    with suppress(Exception):
        await connection.close()
    await lines.close()
