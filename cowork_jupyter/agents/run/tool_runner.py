"""Running the tools that the model asked for, and writing down every call and result."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    nullcontext,
    suppress,
)
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from ...checkpoints import Recorder, ToolUse
from ...domain.effects import DataEffect
from ...domain.errors import CoworkError, Forbidden, Interrupted
from ...domain.figures import Figure
from ...domain.guidance import GuidanceUsed
from ...domain.identity import new_id
from ...domain.message_data import (
    ErrorBody,
    ToolCallData,
    ToolOutcome,
    ToolResultData,
)
from ...domain.notices import ToolOutput
from ...domain.operations import OK, UNKNOWN_TOOL, Decided, Observe, ToolCalled, unobserved
from ...domain.plan import Plan, PlanStep
from ...domain.redaction import MaskedStream
from ...domain.replies import Question, ToolCall
from ...domain.roles import AgentRole
from ...effects.evaluation import ExpectationChecks
from ...effects.finding import text_for_model
from ...effects.memory import KernelMemory
from ...effects.pinned import PinnedExpectations
from ...effects.silenced import NO_SETTINGS, SilencedWarnings
from ...policy.call_parts import paths_of
from ...policy.visible import unspell
from ...tools.base import SCRATCH, Clearance, Tool, ToolContext, ToolParameters, ToolResult
from ...tools.kernel.scratch_kernel import ScratchKernels
from ...tools.kernel.state import Kernels, NoKernels
from ...tools.registry import ToolRegistry, validated
from ...workspace import Workspace, fingerprint
from ...workspace.sandbox.sandbox import Sandbox
from ..ask.gate import Gate
from ..ask.user import User
from ..log import RunLog
from .cell_changes import record_edit
from .figure_check import FigureCheck
from .recollection import recollect
from .watching import code_of, watched

logger = logging.getLogger(__name__)

MAX_SHOWN_OUTPUT = 64 * 1024
"""Characters of a call's output that are shown while it runs; the result has all of it."""

MAX_FILES_AT_ONCE = 20
"""A search that touches more than this says little about any single file."""

_MISUSE = {"unknown_tool", "bad_parameters"}


@dataclass
class Handled:
    """One call and what came of it."""

    call: ToolCall
    id: str = field(default_factory=partial(new_id, "call"))
    error: CoworkError | None = None
    result: ToolResult | None = None
    effects: list[DataEffect] = field(default_factory=list)
    """What it did to data."""
    figures: list[Figure] = field(default_factory=list)
    """The numbers in text that it wrote into a notebook."""
    began: float | None = None
    """When it was let run."""

    @property
    def is_answered(self) -> bool:
        return self.error is not None or self.result is not None

    @property
    def misused(self) -> bool:
        """Whether the model called something that is not there, or called it wrongly."""
        return self.error is not None and self.error.code in _MISUSE


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
class ToolEnvironment:
    """Which tools there are, who decides about their calls, and what these reach."""

    registry: ToolRegistry
    workspace: Workspace
    gate: Gate
    """Decides about each call before it runs."""
    user: User
    """Whom a run, or a tool in the middle of a call, may ask."""
    sandbox: Sandbox | None = None
    """What confines commands; without one they are not."""
    recorder: Recorder | None = None
    """Takes checkpoints; without one nothing can be taken back."""
    kernels: Kernels = field(default_factory=NoKernels)
    """Where code of notebooks runs."""
    scratch: ScratchKernels | None = None
    """Where code runs that can change nothing."""
    memory: KernelMemory = field(default_factory=KernelMemory)
    """What was seen in kernels."""
    silenced: SilencedWarnings = NO_SETTINGS
    """Warnings that the user does not want to see."""
    observe: Observe = unobserved
    """Hears of every call that has ended."""

    @cached_property
    def pinned(self) -> PinnedExpectations:
        """What the user wants to stay true."""
        return PinnedExpectations(self.gate.notebooks, self.workspace)

    @property
    def expectation_checks(self) -> ExpectationChecks:
        """Says whether expectations are met."""
        return ExpectationChecks(self.kernels, self.workspace, self.sandbox)

    def recorded_job(self, job_id: str, role: AgentRole) -> AbstractAsyncContextManager[None]:
        """Checkpoints before a job, or a part of it, and of all that it changed by its end."""
        if self.recorder is None:
            return nullcontext()
        return self.recorder.during(job_id, role.spec.permissions)

    def recorded_use(self, use: ToolUse) -> AbstractAsyncContextManager[None]:
        """A checkpoint around something that can change files."""
        return nullcontext() if self.recorder is None else self.recorder.around(use)


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
    follow: Callable[[str, str], None] = lambda _server, _uri: None
    """Hears of each resource of a server that was read."""
    files_read: dict[str, str] = field(default_factory=dict)
    """Fingerprints of the files that were looked at, as they were then."""
    write_under_open: dict[str, bool] = field(default_factory=dict)
    """What the user answered about notebooks that another program has open."""
    figures: FigureCheck | None = None
    """Looks up the numbers that an agent of ours writes."""

    async def run(self, calls: Sequence[ToolCall]) -> list[Handled]:
        """Run the calls of one turn: side by side if they only look, else one by one."""
        handled = [Handled(self._with_where(self._with_real_path(call))) for call in calls]
        self._record_calls(handled)
        try:
            if len(handled) > 1 and all(self._only_looks(one.call) for one in handled):
                await asyncio.gather(*map(self._run_one, handled))
                return handled
            if len(handled) > 1:
                await self._announce(handled)
            for one in handled:
                await self._run_one(one)
        except (asyncio.CancelledError, Interrupted):
            stopped = CoworkError("It was cancelled.", code="cancelled")
            for one in handled:
                if not one.is_answered:
                    self.tools.gate.forget(one.id)
                    self._record_failure(one, stopped)
            raise
        return handled

    def _with_real_path(self, call: ToolCall) -> ToolCall:
        """A model reads what hides in a file's name spelled out, and calls the file by that."""
        named = {path: self._real_path(path) for path in paths_of(call.parameters)}
        if all(path == real for path, real in named.items()):
            return call

        def real(value: Any) -> Any:
            """Whatever else a model may have written there is refused where it is checked."""
            return named.get(value, value) if isinstance(value, str) else value

        parameters = dict(call.parameters)
        if "path" in parameters:
            parameters["path"] = real(parameters["path"])
        if isinstance(parameters.get("paths"), list):
            parameters["paths"] = [real(path) for path in parameters["paths"]]
        return call.model_copy(update={"parameters": parameters})

    def _real_path(self, path: str) -> str:
        real = unspell(path)
        if real == path or self.exists(path) or not self.exists(real):
            return path
        return real

    def _with_where(self, call: ToolCall) -> ToolCall:
        """Code that does not say where it runs runs in scratch where it could not run elsewhere."""
        tool, given = self.tools.registry.get(call.tool), call.parameters
        if tool is None or tool.read_only is None or given.get("where"):
            return call
        has_kernel = given.get("path") or self.log.notebook or self.tools.kernels.home
        may = tool.for_role(self.log.role) is tool
        if may and has_kernel and not given.get("tables"):
            return call
        return call.model_copy(update={"parameters": {**given, "where": SCRATCH}})

    def exists(self, path: str) -> bool:
        """Whether there is such a file in the workspace."""
        with suppress(CoworkError), self.tools.workspace.locate(path) as place:
            return place.exists()
        return False

    async def _announce(self, calls: Sequence[Handled]) -> None:
        """Let the user see all that this turn will ask. What cannot be called asks nothing."""
        asking: list[tuple[str, Tool, ToolParameters]] = []
        for call in calls:
            with suppress(CoworkError):
                tool = self._tool(call.call)
                asking.append((call.id, tool, validated(tool, call.call.parameters)))
        await self.tools.gate.announce(asking, self.log, self.step)

    def _tool(self, call: ToolCall) -> Tool:
        return self.tools.registry.permitted_tool(call.tool, self.log.role, call.parameters)

    def _known_name(self, call: ToolCall) -> str:
        """What a tool is called in logs, which are not to hold a model's own words."""
        return call.tool if self.tools.registry.get(call.tool) else UNKNOWN_TOOL

    def _only_looks(self, call: ToolCall) -> bool:
        tool = self.tools.registry.get(call.tool)
        return tool is not None and tool.idempotent

    def has_changed(self, handled: Sequence[Handled]) -> bool:
        """Whether any of these calls can have changed something."""
        return any(
            one.result
            and not self._only_looks(one.call)
            and one.call.parameters.get("where") != SCRATCH
            for one in handled
        )

    async def _run_one(self, one: Handled) -> None:
        try:
            clearance = await self._clear(one)
            one.began = time.monotonic()
            async with self._recorded(one.call):
                result = await self._call(one, clearance)
        except CoworkError as error:
            self._record_failure(one, error)
            if isinstance(error, Interrupted):
                raise  # what it did is for the user to find out, not for the model
        except Exception as error:
            logger.exception("%s broke", one.call.tool)
            failure = CoworkError(f"{one.call.tool} failed unexpectedly: {error}", code="internal")
            self._record_failure(one, failure)
        else:
            self._remember_files(one.call, result)
            one.figures = await self._figures_in(result)
            self._record_result(one, result, clearance)

    async def _call(self, one: Handled, clearance: Clearance) -> ToolResult:
        """What comes of it, as whoever asked may see it."""
        output, mask = _LiveOutput(one.id, self.log, self.listener), self.log.mask
        context = self._context(clearance, output.add)
        code = code_of(self._tool(one.call), one.call.parameters, context)
        async with watched(code, context, self.tools.memory, self.tools.silenced) as one.effects:
            try:
                result = await self.tools.registry.call(one.call.tool, one.call.parameters, context)
            finally:
                output.finish()
        text = "\n".join(filter(None, [result.text, text_for_model(one.effects)]))
        return replace(result, text=mask(text), summary=mask(result.summary))

    async def _figures_in(self, result: ToolResult) -> list[Figure]:
        """The numbers in Markdown that a call has written into a cell."""
        written = result.cell_edit.after if result.cell_edit else None
        if self.figures is None or written is None or written.cell_type != "markdown":
            return []
        return await self.figures.of(written.source)

    async def _clear(self, one: Handled) -> Clearance:
        """Leave to run a call. What the ceiling or the parameters forbid is said without asking."""
        try:
            tool = self._tool(one.call)
        except Forbidden:
            name, job_id = self._known_name(one.call), self.log.job_id
            self.tools.observe(Decided(one.id, "deny", name, "ceiling", "", job_id))
            raise
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
        permissions = self._tool(call).permissions
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
        scratch = self.tools.scratch
        return ToolContext(
            workspace=clearance.guard(self.tools.workspace),
            role=self.log.role,
            output=output,
            mask=self.log.mask,
            clearance=clearance,
            sandbox=self.tools.sandbox,
            notebooks=self.tools.gate.notebooks,
            kernels=self.tools.kernels,
            scratch=scratch.of(self.log.context_id) if scratch else None,
            notebook=self.log.notebook,
            waiting=self.waiting,
            ask=self._ask,
            write_under_open=self.write_under_open,
            closed=partial(self.tools.gate.closed_tools, self.log),
            follow=self.follow,
            recall=partial(recollect, self.log.journal.store, self.log.context_id),
        )

    async def _ask(self, question: Question) -> str | None:
        """A question that a tool has in the middle of its call."""
        with self.waiting():
            return await self.tools.user.ask(question, self.log)

    def _record_calls(self, calls: Sequence[Handled]) -> None:
        with self.log.journal.transaction() as tx:
            for call in calls:
                called = ToolCallData(
                    call_id=call.id, tool=call.call.tool, parameters=call.call.parameters
                )
                tx.append_message(self.log.message("assistant", "", called))
                self.log.append(tx, called)

    def _record_result(self, one: Handled, result: ToolResult, clearance: Clearance) -> None:
        one.result = result
        outcome = ToolOutcome(call_id=one.id, ok=True, summary=result.summary, error=None)
        data = ToolResultData.of(outcome, one.call.tool, result.facts)
        if clearance.approved:
            data.approved = True
        if clearance.sensitive:
            data.sensitive = True
        if one.figures:
            data.figures = one.figures
        if result.guidance:
            data.guidance = result.guidance
        self._record(one, outcome, data, result.text)

    def _record_failure(self, one: Handled, error: CoworkError) -> None:
        one.error = error
        # The advice says what to do; the flag is for those who count on it.
        again = "" if error.retryable else " (not retryable)"
        lines = [f"Error: {error.message}{again}", error.advice, text_for_model(one.effects)]
        failure = ErrorBody.model_validate(error.as_dict())
        outcome = ToolOutcome(call_id=one.id, ok=False, summary=error.message, error=failure)
        text = "\n".join(filter(None, lines))
        self._record(one, outcome, ToolResultData.of(outcome, one.call.tool), text)

    def _record(self, one: Handled, outcome: ToolOutcome, data: ToolResultData, text: str) -> None:
        message, result = self.log.message("tool", text, data), one.result
        message.content += result.images if result else ()
        with self.log.journal.transaction() as tx:
            if result and result.cell_edit:
                record_edit(tx, self.log, result.cell_edit)
            tx.append_message(message)
            self.log.append(tx, outcome)
            if result and result.guidance:
                self.log.append(tx, GuidanceUsed(items=[result.guidance]))
            for effect in one.effects:
                facts = {"task_id": self.log.task_id, "call_id": one.id}
                self.log.append(tx, effect.model_copy(update=facts))
        status = one.error.code if one.error else OK
        seconds = time.monotonic() - one.began if one.began else 0.0
        called = (one.id, self._known_name(one.call), status, seconds, self.log.job_id)
        self.tools.observe(ToolCalled(*called))
