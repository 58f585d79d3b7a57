"""Watches the code that an agent runs: the tables and files that it touches, before and after.

It must never hurt the run: if a look fails, no effects are reported, and that is all.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ...domain.effects import DataEffect
from ...domain.errors import CoworkError, Unavailable
from ...effects.data_linter import NO_LINTER, DataLinter, WatchedRun
from ...effects.files import FileChange, FileWatch, folder_of
from ...effects.finding import effects_of, made_anew, unanswered, watched_run
from ...effects.memory import KernelMemory, has_run_at_most
from ...effects.silenced import NO_SETTINGS, SilencedWarnings
from ...tools.base import Tool, ToolContext
from ...tools.kernel.scratch import ScratchCode
from ...tools.kernel.state import KernelQuery, Kernels, KernelTables, ScratchSetup
from ...tools.kernel.tools import kernel_path
from .tool_environment import ToolEnvironment

logger = logging.getLogger(__name__)
T = TypeVar("T")

MIN_SECONDS, SHARE = 0.3, 0.05
"""What watching may cost: so much time, or this share of the run's, whichever is more."""
TABLES_BEFORE, LOOKS_BEFORE = 0.06, 0.04
"""Of that, what is spent before the run; each look may take its time once for the tables, and once
for what is asked about them.
"""
PATIENCE = 2.0
"""Seconds for an idle kernel to answer, on a machine that may be busy."""


@dataclass(frozen=True)
class CodeToWatch:
    code: str
    folder: str | None = None
    """Where its files are; None in scratch, where it can change none."""
    kernels: Kernels | None = None
    path: str = ""
    """Identifies the kernel: the notebook, or a name for scratch."""
    notebook: str | None = None
    cell_id: str | None = None
    copied: frozenset[str] = frozenset()
    """Tables of the user's that scratch is given, and that are not new, whatever it finds."""

    @property
    def is_scratch(self) -> bool:
        """Scratch kernels keep their own history."""
        return self.folder is None


def code_to_watch(
    tool: Tool, parameters: Mapping[str, Any], context: ToolContext
) -> CodeToWatch | None:
    match tool.name:
        case "execute_command" if context.role.spec.commands_may_write:
            return CodeToWatch(parameters["command"], folder=parameters.get("cwd", "."))
        case "run_code" if issubclass(tool.parameters, ScratchCode):
            if context.scratch is None:
                return None
            kernels = context.scratch.with_setup(ScratchSetup(sys.executable))
            return CodeToWatch(
                parameters["code"],
                kernels=kernels,
                path=f"scratch {id(context.scratch)}",
                copied=frozenset(parameters.get("tables") or ()),
            )
        case "run_code" | "run_cell":
            code = parameters.get("code") or context.clearance.code
            path = kernel_path(parameters.get("path"), context)
            notebook = None if path == context.kernels.home else path
            place = (context.kernels, path, notebook, parameters.get("cell_id"))
            return CodeToWatch(code, folder_of(notebook), *place) if code else None
    return None


@asynccontextmanager
async def watch_call(
    run: CodeToWatch | None,
    context: ToolContext,
    memory: KernelMemory,
    silenced: SilencedWarnings = NO_SETTINGS,
    linter: DataLinter = NO_LINTER,
) -> AsyncIterator[list[DataEffect]]:
    """Wrap a call: the list has its effects at the end, also if it failed."""
    effects: list[DataEffect] = []
    # What came of secret files stays out of what is given to others, so nothing is said of it.
    if run is None or context.clearance.sensitive:
        yield effects
        return
    with memory.running(run.path) as is_alone:
        watch = _Watch(run, context, memory, silenced, linter, is_alone)
        await watch.begin()
        try:
            yield effects
        except CoworkError:
            effects += await watch.end()
            raise
        effects += await watch.end()


@dataclass
class _Watch:
    run: CodeToWatch
    context: ToolContext
    memory: KernelMemory
    silenced: SilencedWarnings
    linter: DataLinter
    is_alone: Callable[[], bool]
    _files: FileWatch | None = None
    _before: KernelTables | None = None
    _queries: Sequence[KernelQuery] = ()
    _earlier: Sequence[str] = ()
    _began: float = field(default_factory=time.monotonic)

    async def begin(self) -> None:
        self._files, self._before = await asyncio.gather(
            _try(self._files_before()), _try(self._tables_before())
        )
        self._began = time.monotonic()

    async def end(self) -> list[DataEffect]:
        allowed = max(MIN_SECONDS, SHARE * (time.monotonic() - self._began))
        seconds = (allowed - TABLES_BEFORE - 2 * LOOKS_BEFORE) / 2
        changes, run = await asyncio.gather(
            _try(self._files_after()), _try(self._tables_after(seconds))
        )
        place = (self.context.workspace, self.run.notebook, self.run.cell_id)
        seen = (run or WatchedRun(""), changes or (), self.silenced.of(*place), self.linter)
        data_effects = await _try(asyncio.to_thread(effects_of, *seen))
        facts = {"notebook": self.run.notebook, "cell_id": self.run.cell_id}
        return [
            effect.model_copy(update=facts)
            for effect in data_effects or ()
            if effect.before or effect.warnings or effect.of not in self.run.copied
        ]

    async def _files_before(self) -> FileWatch | None:
        if self.run.folder is None:
            return None
        files = FileWatch(self.context.workspace, self.run.code, self.run.folder)
        return await asyncio.to_thread(files.begin)

    async def _files_after(self) -> list[FileChange]:
        return await asyncio.to_thread(self._files.end) if self._files else []

    async def _tables_before(self) -> KernelTables | None:
        """What to ask about tables is known only once the tables are."""
        kernels = self.run.kernels
        if kernels is None:
            return None
        try:
            tables = await self._tables(kernels, (), TABLES_BEFORE)
        except CoworkError as error:
            if error.code != "no_kernel":
                raise
            self._queries = await asyncio.to_thread(self.linter.queries, self.run.code, {})
            return KernelTables({})  # it is started for this run
        self._earlier = self._what_ran(tables)
        about = (self.run.code, tables.tables, self._earlier)
        self._queries = await asyncio.to_thread(self.linter.queries, *about)
        now = [query for query in self._queries if not query.after]
        answered = await self._tables(kernels, now, LOOKS_BEFORE) if now else tables
        return replace(tables, answers=answered.answers)

    async def _tables_after(self, seconds: float) -> WatchedRun | None:
        kernels, before = self.run.kernels, self._before
        if kernels is None or before is None:
            return None
        if not self.is_alone():
            self.memory.forget(self.run.path)
            return None
        after = await self._tables(kernels, unanswered(self._queries, before), seconds)
        if not self.run.is_scratch:
            self.memory.keep(self.run.path, after)
            if self.run.cell_id is None:
                self.memory.ran(self.run.path, self.run.code)
        own = int(self.run.is_scratch or self.run.cell_id is not None)
        if not has_run_at_most(own, before, after):
            return None
        return watched_run(self.run.code, before, after, self._earlier)

    async def _tables(
        self, kernels: Kernels, queries: Sequence[KernelQuery], seconds: float
    ) -> KernelTables:
        async with asyncio.timeout(PATIENCE):
            return await kernels.tables(self.context.workspace, self.run.path, queries, seconds)

    def _what_ran(self, tables: KernelTables) -> list[str]:
        if self.run.is_scratch:
            return list(tables.history)
        self.memory.keep(self.run.path, tables)
        return self.memory.earlier(self.run.path, tables.history)


async def _try(reading: Awaitable[T]) -> T | None:
    """The result of a look; None if it failed, for whatever reason."""
    try:
        return await reading
    except Exception as error:
        logger.debug("The data was not looked at: %s", error, exc_info=True)
        return None


@dataclass
class CellWatch:
    """What cells that a person runs do to the tables of their kernel, which records them."""

    tools: ToolEnvironment

    async def effects(
        self, notebook: str, cell_id: str, source: str, count: int
    ) -> list[DataEffect]:
        """Of the cell that ran as `[count]`; none unless its kernel recorded it."""
        kernels, memory = self.tools.kernels, self.tools.memory
        cell = await _in_time(kernels.recorded(self.tools.workspace, notebook, count))
        if cell is None or cell.source != source:
            return []
        earlier = memory.earlier(notebook, cell.before.history)
        about = (source, cell.before.tables, earlier)
        queries = await asyncio.to_thread(self.tools.linter.queries, *about)
        after = cell.after
        if cell.is_newest:
            seen = await self._answers(notebook, unanswered(queries, cell.before))
            memory.keep(notebook, after)
            if seen.history == after.history:
                after = replace(after, answers=seen.answers)
        run = made_anew(watched_run(source, cell.before, after, earlier))
        silenced = self.tools.silenced.of(self.tools.workspace, notebook, cell_id)
        data_effects = await asyncio.to_thread(effects_of, run, (), silenced, self.tools.linter)
        facts = {"notebook": notebook, "cell_id": cell_id}
        return [effect.model_copy(update=facts) for effect in data_effects]

    async def _answers(self, notebook: str, queries: Sequence[KernelQuery]) -> KernelTables:
        asked = (self.tools.workspace, notebook, queries, MIN_SECONDS / 2)
        return await _in_time(self.tools.kernels.tables(*asked))


async def _in_time(look: Awaitable[T]) -> T:
    try:
        async with asyncio.timeout(PATIENCE):
            return await look
    except TimeoutError:
        raise Unavailable(
            "The kernel is busy and does not answer. Try again when its cell has finished.",
            code="kernel_busy",
        ) from None
