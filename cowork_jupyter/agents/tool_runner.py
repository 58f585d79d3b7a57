"""Running the tools that the model asked for, and writing down every call and result."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import (
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    nullcontext,
    suppress,
)
from dataclasses import dataclass, field, replace
from functools import partial

from ..checkpoints import ToolUse
from ..domain.errors import CoworkError, Interrupted
from ..domain.identity import new_id
from ..domain.message_data import (
    ErrorBody,
    ToolCallData,
    ToolOutcome,
    ToolResultData,
)
from ..domain.notices import ToolOutput
from ..domain.plan import Plan, PlanStep
from ..domain.redaction import MaskedStream
from ..domain.replies import Question, ToolCall
from ..policy.visible import unspell
from ..tools.base import Tool, ToolContext, ToolParameters, ToolResult
from ..tools.registry import validated
from ..workspace import fingerprint
from .cell_changes import record_edit
from .gate import Clearance
from .log import RunLog
from .recollection import recollect
from .tool_environment import ToolEnvironment

logger = logging.getLogger(__name__)

MAX_SHOWN_OUTPUT = 64 * 1024
"""Characters of a call's output that are shown while it runs; the result has all of it."""

MAX_FILES_AT_ONCE = 20
"""A search that touches more than this says little about any single file."""

_MISUSE = {"unknown_tool", "bad_parameters"}


@dataclass(frozen=True)
class Handled:
    """One call and what came of it."""

    call: ToolCall
    error: CoworkError | None = None
    result: ToolResult | None = None

    @property
    def misused(self) -> bool:
        """Whether the model called something that is not there, or called it wrongly."""
        return self.error is not None and self.error.code in _MISUSE


@dataclass(frozen=True)
class _Numbered:
    call: ToolCall
    id: str


class _LiveOutput:
    """Shows what a call puts out while it runs, up to a limit, and no secrets."""

    def __init__(self, call_id: str, log: RunLog, listener: Callable[[str], None]) -> None:
        self._call_id = call_id
        self._log = log
        self._listener = listener
        self._stream = MaskedStream(log.mask)
        self._room = MAX_SHOWN_OUTPUT

    def add(self, text: str) -> None:
        self._show(self._stream.add(text))

    def finish(self) -> None:
        self._show(self._stream.rest())

    def _show(self, text: str) -> None:
        text = text[: self._room]
        self._room -= len(text)
        if text:
            self._log.event(ToolOutput(call_id=self._call_id, text=text))
            self._listener(text)


@dataclass
class ToolRunner:
    """Runs tools on behalf of one run, under its role."""

    tools: ToolEnvironment
    log: RunLog
    step: PlanStep | None = None
    """The step of an approved plan that is being carried out, if any."""
    waiting: Callable[[], AbstractContextManager[None]] = nullcontext
    """Around the time in which the user is asked, or a cell runs."""
    listener: Callable[[str], None] = lambda _text: None
    """Hears what tools say while they run, beside those who follow the events."""
    files_read: dict[str, str] = field(default_factory=dict)
    """Fingerprints of the files that were looked at, as they were then."""
    write_under_open: dict[str, bool] = field(default_factory=dict)
    """What the user answered about notebooks that another program has open."""

    async def run(self, calls: Sequence[ToolCall]) -> list[Handled]:
        """Run the calls of one turn: side by side if they only look, else one by one."""
        numbered = [_Numbered(self._with_real_path(call), new_id("call")) for call in calls]
        self._record_calls(numbered)
        unanswered = {one.id: one for one in numbered}
        try:
            if len(numbered) > 1 and all(self._only_looks(one.call) for one in numbered):
                running = [self._run_one(one, unanswered) for one in numbered]
                return list(await asyncio.gather(*running))
            if len(numbered) > 1:
                await self._announce(numbered)
            return [await self._run_one(one, unanswered) for one in numbered]
        except (asyncio.CancelledError, Interrupted):
            stopped = CoworkError("It was cancelled.", code="cancelled")
            for one in unanswered.values():
                self.tools.gate.forget(one.id)
                self._record_failure(one, stopped)
            raise

    def _with_real_path(self, call: ToolCall) -> ToolCall:
        """A model reads what hides in a file's name spelled out, and calls the file by that."""
        path = call.parameters.get("path")
        real = unspell(path) if isinstance(path, str) else path
        if real == path or self._exists(str(path)) or not self._exists(str(real)):
            return call
        return call.model_copy(update={"parameters": {**call.parameters, "path": real}})

    def _exists(self, path: str) -> bool:
        with suppress(CoworkError), self.tools.workspace.locate(path) as place:
            return place.exists()
        return False

    async def _announce(self, calls: Sequence[_Numbered]) -> None:
        """Let the user see all that this turn will ask. What cannot be called asks nothing."""
        asking: list[tuple[str, Tool, ToolParameters]] = []
        for one in calls:
            with suppress(CoworkError):
                tool = self.tools.registry.permitted_tool(one.call.tool, self.log.role)
                asking.append((one.id, tool, validated(tool, one.call.parameters)))
        await self.tools.gate.announce(asking, self.log, self.step)

    def _only_looks(self, call: ToolCall) -> bool:
        tool = self.tools.registry.get(call.tool)
        return tool is not None and tool.idempotent

    async def _run_one(self, one: _Numbered, unanswered: dict[str, _Numbered]) -> Handled:
        try:
            clearance = await self._clear(one)
            async with self._recorded(one.call):
                result = await self._call(one, clearance)
        except CoworkError as error:
            del unanswered[one.id]
            self._record_failure(one, error)
            if isinstance(error, Interrupted):
                raise  # what it did is for the user to find out, not for the model
            return Handled(one.call, error)
        except Exception as error:
            logger.exception("%s broke", one.call.tool)
            del unanswered[one.id]
            failure = CoworkError(f"{one.call.tool} broke: {error}", code="internal")
            self._record_failure(one, failure)
            return Handled(one.call, failure)
        del unanswered[one.id]
        self._remember_files(one.call, result)
        self._record_result(one, result, clearance)
        return Handled(one.call, result=result)

    async def _call(self, one: _Numbered, clearance: Clearance) -> ToolResult:
        """What comes of it, as whoever asked may see it."""
        output, mask = _LiveOutput(one.id, self.log, self.listener), self.log.mask
        try:
            result = await self.tools.registry.call(
                one.call.tool, one.call.parameters, self._context(clearance, output.add)
            )
        finally:
            output.finish()
        return replace(result, text=mask(result.text), summary=mask(result.summary))

    async def _clear(self, one: _Numbered) -> Clearance:
        """Leave to run a call. What the ceiling or the parameters forbid is said without asking."""
        tool = self.tools.registry.permitted_tool(one.call.tool, self.log.role)
        parameters = validated(tool, one.call.parameters)
        with self.waiting():
            try:
                return await self.tools.gate.admit(one.id, tool, parameters, self.log, self.step)
            finally:
                self.tools.gate.forget(one.id)

    @asynccontextmanager
    async def _recorded(self, call: ToolCall) -> AsyncIterator[None]:
        """A checkpoint around a call that can change something."""
        log, step = self.log, self.step.id if self.step else None
        permissions = self.tools.registry[call.tool].permissions
        place = (log.context_id, log.job_id, log.task_id, step)
        use = ToolUse(*place, call.tool, permissions, call.parameters)
        async with AsyncExitStack() as stack:
            with self.waiting():  # the first look at a large workspace takes a while
                await stack.enter_async_context(self.tools.recorded_use(use))
            yield

    def files_known(self, plan: Plan) -> dict[str, str]:
        """How the files are that were read for a plan, and those that it names."""
        named = {path for step in plan.steps for path in step.files} - self.files_read.keys()
        return self.files_read | {
            path: fingerprint(self.tools.workspace, path) for path in sorted(named)
        }

    def _remember_files(self, call: ToolCall, result: ToolResult) -> None:
        paths = result.facts.paths
        if self._only_looks(call) and len(paths) <= MAX_FILES_AT_ONCE:
            self.files_read |= {path: fingerprint(self.tools.workspace, path) for path in paths}

    def _context(self, clearance: Clearance, output: Callable[[str], None]) -> ToolContext:
        return ToolContext(
            workspace=clearance.guard(self.tools.workspace),
            role=self.log.role,
            output=output,
            mask=self.log.mask,
            network=clearance.network,
            opened=clearance.opened,
            sandbox=self.tools.sandbox,
            notebooks=self.tools.gate.notebooks,
            kernels=self.tools.kernels,
            notebook=self.log.notebook,
            waiting=self.waiting,
            decided_code=clearance.code,
            decided_tool=clearance.tool,
            ask=self._ask,
            write_under_open=self.write_under_open,
            recall=partial(recollect, self.log.journal.store, self.log.context_id),
        )

    async def _ask(self, question: Question) -> str | None:
        """A question that a tool has in the middle of its call."""
        with self.waiting():
            return await self.tools.user.ask(question, self.log)

    def _record_calls(self, calls: Sequence[_Numbered]) -> None:
        with self.log.journal.transaction() as tx:
            for one in calls:
                called = ToolCallData(
                    call_id=one.id, tool=one.call.tool, parameters=one.call.parameters
                )
                tx.append_message(self.log.message("assistant", "", called))
                self.log.append(tx, called)

    def _record_result(self, one: _Numbered, result: ToolResult, clearance: Clearance) -> None:
        outcome = ToolOutcome(call_id=one.id, ok=True, summary=result.summary, error=None)
        data = ToolResultData.of(outcome, one.call.tool, result.facts)
        if clearance.approved:
            data.approved = True
        if clearance.sensitive:
            data.sensitive = True
        self._record(outcome, data, result.text, result)

    def _record_failure(self, one: _Numbered, error: CoworkError) -> None:
        # The advice says what to do; the flag is for those who count on it.
        again = "" if error.retryable else " (not retryable)"
        text = f"Error: {error.message}{again}\n{error.advice}".rstrip("\n")
        failure = ErrorBody.model_validate(error.as_dict())
        outcome = ToolOutcome(call_id=one.id, ok=False, summary=error.message, error=failure)
        self._record(outcome, ToolResultData.of(outcome, one.call.tool), text)

    def _record(
        self,
        outcome: ToolOutcome,
        data: ToolResultData,
        text: str,
        result: ToolResult | None = None,
    ) -> None:
        message = self.log.message("tool", text, data)
        message.content += result.images if result else ()
        with self.log.journal.transaction() as tx:
            if result and result.cell_edit:
                record_edit(tx, self.log, result.cell_edit)
            tx.append_message(message)
            self.log.append(tx, outcome)
