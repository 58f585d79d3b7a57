"""Effects of the user's own cells on tables, for those who want to see them. Nothing is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...domain.effects import DataEffect, TableState
from ...domain.errors import CoworkError, Unavailable
from ...effects.finding import effects_of, open_looks, watched_run
from ...effects.memory import has_run_at_most
from ...effects.warnings import looks_for
from ...tools.kernel.state import KernelTables, Look
from .tool_environment import ToolEnvironment
from .watching import LEAST_SECONDS, PATIENCE

MAX_ANSWERS = 32


@dataclass(frozen=True)
class _Answer:
    """What was found about one run, in case it is asked for again."""

    run: tuple[str, str, int]
    """The cell, its source, and how many cells had run in the kernel by then."""
    effects: list[DataEffect]


@dataclass
class CellWatch:
    """Compares the tables in a notebook's kernel with those seen last."""

    tools: ToolEnvironment
    _answers: dict[str, _Answer] = field(default_factory=dict)

    async def begin(self, notebook: str, source: str) -> None:
        """Look before a cell runs. If the cell was quicker, what is known stays."""
        known = self.tools.memory.tables(notebook)
        looks = await _looks(source, known.tables, known.history) if known else []
        found = await self._tables(notebook, [look for look in looks if not look.after])
        has_begun = found.history[-1:] == (source,) or (
            known is not None and known.history != found.history
        )
        if not source or not has_begun:
            self.tools.memory.keep(notebook, found)

    async def end(self, notebook: str, cell_id: str, source: str) -> list[DataEffect]:
        """What has changed by the end of a cell; nothing unless `begin` or `end` looked before."""
        memory = self.tools.memory
        before = memory.tables(notebook)
        earlier = memory.earlier(notebook, before.history) if before else []
        looks = await _looks(source, before.tables, earlier) if before else []
        try:
            after = await self._tables(notebook, open_looks(looks, before) if before else [])
        except CoworkError:
            memory.forget(notebook)  # what changes meanwhile is not what the next cell does
            raise
        run = (cell_id, source, len(after.history))
        last = self._answers.get(notebook)
        if last and last.run == run:
            return last.effects
        memory.keep(notebook, after)
        effects: list[DataEffect] = []
        if before and has_run_at_most(1, before, after):
            watched = watched_run(source, before, after, earlier)
            facts = {"notebook": notebook, "cell_id": cell_id}
            silenced = self.tools.silenced.of(self.tools.workspace, notebook, cell_id)
            found = await asyncio.to_thread(effects_of, watched, (), silenced)
            effects = [effect.model_copy(update=facts) for effect in found]
        self._answers.pop(notebook, None)
        self._answers[notebook] = _Answer(run, effects)
        while len(self._answers) > MAX_ANSWERS:
            del self._answers[next(iter(self._answers))]
        return effects

    async def _tables(self, notebook: str, looks: Sequence[Look]) -> KernelTables:
        kernels, workspace = self.tools.kernels, self.tools.workspace
        try:
            async with asyncio.timeout(PATIENCE):
                return await kernels.tables(workspace, notebook, looks, LEAST_SECONDS / 2)
        except TimeoutError:
            raise Unavailable(
                "The kernel is busy and does not answer. Try again when its cell has finished.",
                code="kernel_busy",
            ) from None


async def _looks(
    source: str, tables: Mapping[str, TableState], earlier: Sequence[str]
) -> list[Look]:
    return await asyncio.to_thread(looks_for, source, tables, earlier)
