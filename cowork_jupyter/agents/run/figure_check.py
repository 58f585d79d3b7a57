"""Checks whether the figures that an agent writes occur in the outputs of its conversation.

Figures without a source are sent back once, if the job has worked on data at all; after that they
stay, and are marked.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from ...domain.errors import CoworkError
from ...domain.figures import Figure, FigureSource
from ...domain.messages import Message, TaskAssignmentData, ToolCallData, ToolFacts, ToolResultData
from ...domain.plan import Plan
from ...domain.roles import Permission
from ...effects.figure_index import Output, look_up, without_source
from ...effects.figures import find_figures
from ...tools.base import Tool
from ...tools.notebook.state import Notebooks
from ...workspace import Workspace
from ..log import RunLog

logger = logging.getLogger(__name__)

MAX_MESSAGES, MAX_CHARACTERS = 1_000, 4_000_000
"""Of the conversation, newest first, that are searched for figures."""
MAX_NAMED = 8
GLANCE_SECONDS = 0.3

_OWN_WORDS = frozenset({"recall", "delegate"})
"""Tools that repeat what agents said, which is no source."""
_DATA_TOOLS = frozenset({"kernel", "tables", "shell"})
_WRITING = frozenset({Permission.WRITE_FILES, Permission.CREATE_FILES, Permission.DELETE_FILES})
_REWRITING = frozenset({"edit_cell", "delete_cell"})
_OUR_WORDS = re.compile(r"\[ran [^\]\n]*\]|\bfingerprint \w+")
"""Numbers in these are not findings."""
_COMMENT = re.compile(r"#.*")
_TABLES = (".csv", ".tsv", ".parquet", ".xlsx", ".json", ".jsonl", ".ndjson", ".db", ".sqlite")

_IN_NO_OUTPUT = {
    "answer": "These figures are in no output: {figures}. Compute them with code, or leave them "
    "out. Then reply with the whole answer again.",
    "cell": "These figures in the cell you wrote are in no output: {figures}. Compute them with "
    "code and correct the cell, or leave them out.",
}


@dataclass
class FigureCheck:
    log: RunLog
    tools: Mapping[str, Tool]
    notebooks: Notebooks
    workspace: Workspace
    given_facts: str = ""
    may_object: bool = True
    """Whether the model can be asked to do better."""
    _objected: set[str] = field(default_factory=set)
    _outputs: dict[str, Output] = field(default_factory=dict)
    """By message, so that each is parsed once."""

    async def find(self, text: str) -> list[Figure]:
        """The figures of a text with their sources. Never raises."""
        try:
            if not await asyncio.to_thread(find_figures, text):
                return []
            outputs, unsourced = self._sources()
            figures = await asyncio.to_thread(look_up, text, outputs, unsourced)
            return await self._with_age(figures)
        except Exception:
            logger.exception("The figures of a text were not looked up")
            return []

    async def find_in_plan(self, plan: Plan) -> list[Figure]:
        """The figures in the words of a plan, time estimates left out."""
        texts = [plan.goal, *(f"{step.action}\n{step.reason}" for step in plan.steps)]
        return await self.find("\n\n".join([*texts, *plan.risks, *plan.prerequisites]))

    def objection(self, figures: Iterable[Figure], to: Literal["answer", "cell"]) -> str:
        """What to tell the model, once per kind of text; "" if nothing."""
        missing = without_source(figures)
        if not missing or not self.may_object or to in self._objected or not self._is_data_work():
            return ""
        self._objected.add(to)
        more = f" and {len(missing) - MAX_NAMED} more" if len(missing) > MAX_NAMED else ""
        return _IN_NO_OUTPUT[to].format(figures=", ".join(missing[:MAX_NAMED]) + more)

    def _is_data_work(self) -> bool:
        return any(
            isinstance(message.data, ToolResultData) and self._is_about_data(message.data)
            for message in self.log.journal.store.tool_messages(self.log.job_id)
        )

    def _is_about_data(self, result: ToolResultData) -> bool:
        tool = self.tools.get(result.tool)
        is_table = any(path.lower().endswith(_TABLES) for path in result.facts.paths)
        return result.ok and (is_table or (tool is not None and tool.category in _DATA_TOOLS))

    def _sources(self) -> tuple[list[Output], list[Output]]:
        """The outputs, newest first, then stale ones and the facts that were given; and what needs
        no source: the user's words and numbers in code.
        """
        fresh: list[Output] = []
        stale: list[Output] = []
        unsourced: list[Output] = []
        rewritten: set[str] = set()
        for message in self._newest():
            data = message.data
            if isinstance(data, ToolResultData) and self._is_source(data.tool):
                facts = _facts_of(data)
                is_stale = data.tool == "run_cell" and facts.cell_id in rewritten
                output = self._output(message, data, is_stale)
                (stale if is_stale else fresh).append(output)
            elif isinstance(data, ToolResultData):
                if data.ok and data.tool in _REWRITING and data.facts.cell_id:
                    rewritten.add(data.facts.cell_id)
            elif isinstance(data, ToolCallData):
                unsourced.append(self._without_source(message, _COMMENT.sub("", _code_of(data))))
            elif message.role == "user" and not isinstance(data, TaskAssignmentData):
                unsourced.append(self._without_source(message, message.text))
        effects = self.log.journal.store.data_effects(self.log.context_id)
        changed = map(Output.of_effect, reversed(effects))
        return [*fresh, *changed, *stale, Output(self.given_facts)], unsourced

    def _newest(self) -> Iterator[Message]:
        room = MAX_CHARACTERS
        messages = self.log.journal.store.newest_messages(self.log.context_id)
        for _, message in zip(range(MAX_MESSAGES), messages, strict=False):
            room -= len(message.text)
            if room < 0:
                return
            yield message

    def _is_source(self, name: str) -> bool:
        tool = self.tools.get(name)
        writes = tool is not None and not tool.permissions.isdisjoint(_WRITING)
        return name not in _OWN_WORDS and not writes

    def _output(self, message: Message, data: ToolResultData, is_stale: bool) -> Output:
        facts = _facts_of(data)
        of_cell = facts.cell_id if data.tool == "run_cell" else None
        call_id = None if of_cell else data.call_id
        source = FigureSource(cell_id=of_cell, call_id=call_id, stale=is_stale)
        text = _OUR_WORDS.sub(" ", message.text)
        return self._outputs.setdefault(f"{message.id} {is_stale}", Output(text, source))

    def _without_source(self, message: Message, text: str) -> Output:
        return self._outputs.setdefault(message.id, Output(text))

    async def _with_age(self, figures: list[Figure]) -> list[Figure]:
        """Mark figures from cells that were changed after they ran."""
        wanted = {
            figure.source.cell_id for figure in figures if figure.source and figure.source.cell_id
        }
        if not wanted:
            return figures
        ran = self._fingerprints(wanted)
        stale: set[str] = set()
        for path in {path for path, _ in ran.values() if path}:
            now = await self._cells_of(path)
            stale |= {
                cell_id
                for cell_id, (place, fingerprint) in ran.items()
                if place == path and now is not None and now.get(cell_id) != fingerprint
            }
        for figure in figures:
            if figure.source and figure.source.cell_id in stale:
                figure.source = figure.source.model_copy(update={"stale": True})
        return figures

    def _fingerprints(self, cell_ids: set[str]) -> dict[str, tuple[str | None, str]]:
        """By cell: its notebook, and its fingerprint when it ran last."""
        fingerprints: dict[str, tuple[str | None, str]] = {}
        for message in self._newest():
            if isinstance(message.data, ToolResultData) and message.data.tool == "run_cell":
                facts = _facts_of(message.data)
                if facts.cell_id in cell_ids and facts.cell_id and facts.fingerprint:
                    fingerprints.setdefault(facts.cell_id, (facts.notebook, facts.fingerprint))
        return fingerprints

    async def _cells_of(self, path: str) -> dict[str, str] | None:
        """Fingerprints of a notebook's cells, or None if not available at once."""
        try:
            async with asyncio.timeout(GLANCE_SECONDS):
                state = await self.notebooks.glance(self.workspace, path)
        except (CoworkError, TimeoutError):
            return None
        return {cell.id: cell.fingerprint for cell in state.cells} if state else None


def _code_of(call: ToolCallData) -> str:
    parameters = call.parameters
    if call.tool == "insert_cell" and parameters.get("cell_type", "code") == "code":
        return str(parameters.get("source") or "")
    return str(parameters.get("code") or parameters.get("command") or "")


def _facts_of(result: ToolResultData) -> ToolFacts:
    """The facts of a call; of failed code they are in the error's details."""
    return ToolFacts.model_validate(result.error.details) if result.error else result.facts
