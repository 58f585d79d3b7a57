"""Runs the tool calls of a reply."""

from __future__ import annotations

import asyncio
import logging
import time
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
from itertools import groupby
from typing import Any

from ...checkpoints import ToolUse
from ...domain.errors import CoworkError, Forbidden, Interrupted
from ...domain.figures import Figure
from ...domain.plan import Plan, PlanStep
from ...domain.replies import Question, ToolCall
from ...effects.finding import text_for_model
from ...policy.calls import paths_of
from ...policy.visible import decode_hidden_characters
from ...tools.base import SCRATCH, Tool, ToolContext, ToolResult
from ...tools.registry import ResolvedCall
from ...workspace import fingerprint
from ..log import RunLog
from .call_log import CallLog, CallRecord, LiveOutput
from .conversation_search import search_conversation
from .figure_check import FigureCheck
from .tool_environment import ToolEnvironment
from .watching import code_to_watch, watch_call

logger = logging.getLogger(__name__)

MAX_FILES_AT_ONCE = 20
"""A search that touches more than this says little about any single file."""


@dataclass
class ToolRunner:
    tools: ToolEnvironment
    log: RunLog
    step: PlanStep | None = None
    waiting: Callable[[], AbstractContextManager[None]] = nullcontext
    """Around time in which the user is asked, or a cell runs."""
    listener: Callable[[str], None] = lambda _text: None
    follow: Callable[[str, str], None] = lambda _server, _uri: None
    """Called with server and URI of each resource that was read."""
    files_read: dict[str, str] = field(default_factory=dict)
    """Fingerprints of the files that were read, as they were then."""
    write_under_open: dict[str, bool] = field(default_factory=dict)
    """The user's answers about notebooks that another program has open."""
    figures: FigureCheck | None = None

    def __post_init__(self) -> None:
        self._calls = CallLog(self.tools, self.log)

    async def run(self, calls: Sequence[ToolCall]) -> list[CallRecord]:
        """Run the calls of one turn in their order; neighbours that only look, or that wait for
        each other themselves, concurrently.
        """
        records = list(map(self._record, calls))
        self._calls.begin(records)
        try:
            if len(records) > 1 and not all(self._only_looks(record.call) for record in records):
                await self._announce(records)
            for concurrently, group in groupby(records, self._takes_no_turn):
                if concurrently:
                    await self._run_together(list(group))
                else:
                    for record in group:
                        await self._run_one(record)
        except (asyncio.CancelledError, Interrupted):
            stopped = CoworkError("It was cancelled.", code="cancelled")
            for record in records:
                if not record.is_answered:
                    self.tools.gate.forget(record.id)
                    self._calls.fail(record, stopped)
            raise
        return records

    def _record(self, call: ToolCall) -> CallRecord:
        call = self._with_where(self._with_real_path(call))
        try:
            resolved = self.tools.registry.resolve(call.tool, self.log.role, call.parameters)
        except CoworkError as error:
            return CallRecord(call, error)
        return CallRecord(call, resolved)

    def _with_real_path(self, call: ToolCall) -> ToolCall:
        """Map a path that the model read with hidden characters spelled out to the real file."""
        named = {path: self._real_path(path) for path in paths_of(call.parameters)}
        if all(path == real for path, real in named.items()):
            return call

        def real(value: Any) -> Any:
            """Anything but a string is left for validation to refuse."""
            return named.get(value, value) if isinstance(value, str) else value

        parameters = dict(call.parameters)
        if "path" in parameters:
            parameters["path"] = real(parameters["path"])
        if isinstance(parameters.get("paths"), list):
            parameters["paths"] = [real(path) for path in parameters["paths"]]
        return call.model_copy(update={"parameters": parameters})

    def _real_path(self, path: str) -> str:
        real = decode_hidden_characters(path)
        if real == path or self.exists(path) or not self.exists(real):
            return path
        return real

    def _with_where(self, call: ToolCall) -> ToolCall:
        """Code that does not say where it runs goes to scratch if it could not run elsewhere."""
        tool, parameters = self.tools.registry.get(call.tool), call.parameters
        if tool is None or tool.read_only is None or parameters.get("where"):
            return call
        has_kernel = parameters.get("path") or self.log.notebook or self.tools.kernels.home
        may = tool.for_role(self.log.role) is tool
        if may and has_kernel and not parameters.get("tables"):
            return call
        return call.model_copy(update={"parameters": {**parameters, "where": SCRATCH}})

    def exists(self, path: str) -> bool:
        with suppress(CoworkError), self.tools.workspace.locate(path) as place:
            return place.exists()
        return False

    async def _announce(self, records: Sequence[CallRecord]) -> None:
        """Show the user everything that this turn will ask. Invalid calls ask nothing."""
        asking = {
            record.id: record.resolved
            for record in records
            if isinstance(record.resolved, ResolvedCall)
        }
        await self.tools.gate.announce(asking, self.log, self.step)

    def _only_looks(self, call: ToolCall) -> bool:
        tool = self.tools.registry.get(call.tool)
        return tool is not None and tool.idempotent

    def _takes_no_turn(self, record: CallRecord) -> bool:
        tool = self.tools.registry.get(record.call.tool)
        return tool is not None and (tool.idempotent or tool.waits_itself)

    async def _run_together(self, records: Sequence[CallRecord]) -> None:
        running = [asyncio.ensure_future(self._run_one(record)) for record in records]
        try:
            await asyncio.gather(*running)
        finally:
            for task in running:
                task.cancel()  # if one of them was interrupted
            await asyncio.wait(running)

    def has_changed(self, records: Sequence[CallRecord]) -> bool:
        return any(
            record.result
            and not self._only_looks(record.call)
            and record.call.parameters.get("where") != SCRATCH
            for record in records
        )

    async def _run_one(self, record: CallRecord) -> None:
        """Decide, take a checkpoint, run, record: the way of every call."""
        call = record.call
        try:
            resolved = await self._clear(record)
            record.began = time.monotonic()
            async with self._checkpoint(call, resolved.tool):
                result = await self._call(record, resolved)
        except CoworkError as error:
            self._calls.fail(record, error)
            if isinstance(error, Interrupted):
                raise  # what it did is for the user to find out, not for the model
        except Exception as error:
            logger.exception("%s broke", call.tool)
            failure = CoworkError(f"{call.tool} failed unexpectedly: {error}", code="internal")
            self._calls.fail(record, failure)
        else:
            self._remember_files(call, result)
            record.figures = await self._figures_in(result)
            self._calls.succeed(record, result)

    async def _clear(self, record: CallRecord) -> ResolvedCall:
        """Have the gate decide about a call that is possible. Raises CoworkError."""
        resolved, gate = record.resolved, self.tools.gate
        if isinstance(resolved, CoworkError):
            if isinstance(resolved, Forbidden):
                self._calls.deny(record)
            raise resolved
        with self.waiting():
            try:
                record.clearance = await gate.admit(record.id, resolved, self.log, self.step)
            finally:
                gate.forget(record.id)
        return resolved

    @asynccontextmanager
    async def _checkpoint(self, call: ToolCall, tool: Tool) -> AsyncIterator[None]:
        log, step = self.log, self.step.id if self.step else None
        place = (log.context_id, log.job_id, log.task_id, step)
        use = ToolUse(*place, call.tool, tool.permissions, call.parameters)
        async with AsyncExitStack() as stack:
            with self.waiting():  # the first look at a large workspace takes a while
                await stack.enter_async_context(self.tools.recorded_use(use))
            yield

    async def _call(self, record: CallRecord, resolved: ResolvedCall) -> ToolResult:
        """Run the call; the result is masked for whoever asked."""
        call, mask = record.call, self.log.mask
        output = LiveOutput(record.id, self.log, self.listener)
        context = self._context(record, output.add)
        code, tools = code_to_watch(resolved.tool, call.parameters, context), self.tools
        watch = watch_call(code, context, tools.memory, tools.silenced, tools.linter)
        async with watch as record.effects:
            try:
                result = await resolved.run(context)
            finally:
                output.finish()
        text = "\n".join(filter(None, [result.text, text_for_model(record.effects)]))
        return replace(result, text=mask(text), summary=mask(result.summary))

    async def _figures_in(self, result: ToolResult) -> list[Figure]:
        written = result.cell_edit.after if result.cell_edit else None
        if self.figures is None or written is None or written.cell_type != "markdown":
            return []
        return await self.figures.find(written.source)

    def files_known(self, plan: Plan) -> dict[str, str]:
        """Fingerprints of the files that were read for a plan, and those that it names."""
        named = {path for step in plan.steps for path in step.files} - self.files_read.keys()
        return self.files_read | {
            path: fingerprint(self.tools.workspace, path) for path in sorted(named)
        }

    def _remember_files(self, call: ToolCall, result: ToolResult) -> None:
        paths = result.facts.paths
        if self._only_looks(call) and len(paths) <= MAX_FILES_AT_ONCE:
            self.files_read |= {path: fingerprint(self.tools.workspace, path) for path in paths}

    def _context(self, record: CallRecord, output: Callable[[str], None]) -> ToolContext:
        scratch, clearance = self.tools.scratch, record.clearance
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
            ask=partial(self._ask, record),
            write_under_open=self.write_under_open,
            closed=partial(self.tools.gate.closed_tools, self.log),
            follow=self.follow,
            recall=partial(search_conversation, self.log.journal.store, self.log.context_id),
        )

    async def _ask(self, record: CallRecord, question: Question) -> str | None:
        began = time.monotonic()
        with self.waiting():
            answer = await self.tools.user.ask(question, self.log)
        record.waited += time.monotonic() - began
        return answer
