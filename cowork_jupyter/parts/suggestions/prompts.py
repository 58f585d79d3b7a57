"""The prompt for each kind of suggestion, within a token limit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...domain.errors import InvalidInput
from ...domain.plurals import count_of
from ...domain.suggestions import CellError, SuggestionRequest
from ...llm.frames import Frame
from ...llm.tokens import Count, cut_middle
from ...policy.visible import spell_hidden
from ...tools.kernel.state import Variable
from .cell_context import CellContext, in_notebook_order, related_cells

_FRAME = re.compile(r"(?:Cell In\s*\[|Input In\s*\[|File |<ipython-input)")
_LIBRARY = ("site-packages", "dist-packages", "/lib/python", "\\lib\\", "<frozen ", "<__array_")
_NUMBERED = re.compile(r"^(?:-+>)?\s*\d+\s?")
_MAX_TRACEBACK = 60_000
_MIN_LINE = 4
"""Characters below which a line is no evidence of a cell."""

MAX_CELL = 6_000
"""Tokens of the cell itself: it is rewritten as a whole, so it must be read as a whole."""
_FAILURE_TOKENS, _TRIED_TOKENS, _CELL_TOKENS = 900, 700, 500
_VARIABLES_SHARE = 3
_MAX_COLUMNS = 40
_MAX_LINE = 160
_CODE = (
    "Write short, idiomatic code as a good colleague would: the notebook's own libraries, names "
    "and style; one idea; the result as the last expression; no comments that repeat the code. "
    "Use only variables and columns that are there."
)
_BLOCK = "one ```{language} block, and write nothing after it."
_ASKS = {
    "fix": "You repair one cell of a notebook that has failed. Say in one short sentence what was "
    "wrong. Then give the whole corrected cell in " + _BLOCK + " Change as little as possible.",
    "explain": "You explain one cell of a notebook to its author: if it failed, what the error "
    "means, why it happened here and what to do; else what the cell does. At most 120 words of "
    "plain Markdown. Answer in the language of the user's words, if there are any.",
    "generate": "You write one new cell of a notebook, as the user asks. Reply with only the "
    "cell's code in " + _BLOCK + " " + _CODE,
    "change": "You change one cell of a notebook as the user asks, and nothing else in it. Reply "
    "with only the whole new cell in " + _BLOCK + " " + _CODE,
    "next_cell": "You suggest the next cell of a notebook: what its author most likely does next "
    "after the current cell. Reply with only that cell's code in " + _BLOCK + " " + _CODE,
}
_WANTED = {
    "fix": "Repair the current cell.",
    "explain": "Explain the current cell.",
    "generate": "Write the current cell.",
    "change": "Change the current cell.",
    "next_cell": "Suggest the cell after the current one.",
}


def failure_text(error: CellError, private: Iterable[str] = ()) -> str:
    """The traceback with library frames counted instead, and lines of private cells left out."""
    hidden = {
        line.strip()
        for source in private
        for line in source.splitlines()
        if len(line.strip()) >= _MIN_LINE
    }
    lines = list(_own_frames(error.traceback[-_MAX_TRACEBACK:].splitlines()))
    kept = [line for line in lines if _NUMBERED.sub("", line).strip() not in hidden]
    said = f"{error.name}: {error.value}".rstrip(": ")
    text = "\n".join(kept).strip()
    return text if error.value and error.value.strip() in text else f"{text}\n{said}".strip()


def _own_frames(lines: list[str]) -> Iterator[str]:
    skipped, is_library = 0, False
    for line in lines:
        if _FRAME.match(line.lstrip()):
            is_library = any(sign in line for sign in _LIBRARY)
            skipped += is_library
        elif is_library and line and not line[0].isspace() and not line.startswith("-"):
            is_library = False  # what the error says, after the last frame
        if is_library:
            continue
        if skipped:
            yield f"[{count_of(skipped, 'frame')} of libraries]"
            skipped = 0
        yield line
    if skipped:
        yield f"[{count_of(skipped, 'frame')} of libraries]"


@dataclass(frozen=True)
class Prompter:
    frame: Frame
    count: Count
    budget: int

    def messages(
        self,
        request: SuggestionRequest,
        around: CellContext,
        tried: Sequence[str] = (),
        mentioned: str = "",
    ) -> list[dict[str, Any]]:
        if self.count(request.source) > MAX_CELL:
            raise InvalidInput(
                "This cell is too long for a suggestion. Split it first.", code="cell_too_long"
            )
        language = around.language or "python"
        system = _ASKS[request.kind].replace("{language}", language)
        parts = [*self._parts(request, around, tried), *([mentioned] if mentioned else [])]
        data = self.frame.around("\n\n".join(parts))
        wanted = [_WANTED[request.kind], *self._selection_text(request)]
        if request.instruction.strip():
            wanted.append(f"The user's words: {request.instruction.strip()}")
        return [
            {"role": "system", "content": f"{system}\n{self.frame.explained}"},
            {"role": "user", "content": "\n\n".join([data, *wanted])},
        ]

    def _parts(
        self, request: SuggestionRequest, around: CellContext, tried: Sequence[str]
    ) -> list[str]:
        parts = [*self._around(request, around), f"Current cell:\n{request.source}"]
        if request.error:
            failure = failure_text(request.error, around.private)
            parts.append(f"It failed:\n{self._cut(failure, _FAILURE_TOKENS)}")
        if tried:
            each = _TRIED_TOKENS // len(tried)
            sources = "\n---\n".join(self._cut(attempt, each) for attempt in tried)
            parts.append(f"Tried already, and no help:\n{sources}")
        return parts

    def _around(self, request: SuggestionRequest, around: CellContext) -> list[str]:
        room, parts = self.budget, []
        variables = self._variables(
            around.named_in(self._naming(request)), room // _VARIABLES_SHARE
        )
        room -= self.count(variables)
        kept = []
        for cell in related_cells(request.cell_id, around.cells, self._naming(request)):
            text = self._cut(cell.source, min(_CELL_TOKENS, room))
            room -= self.count(text)
            if not text:
                break
            kept.append(cell.model_copy(update={"source": text}))
        sources = {cell.id: cell.source for cell in kept}
        numbers = {cell.id: number for number, cell in enumerate(around.cells, 1)}
        for cell in in_notebook_order(kept, around.cells):
            ran = ", not run yet" if cell.cell_type == "code" and not cell.has_run else ""
            head = f"Cell {numbers[cell.id]} ({cell.cell_type}{ran}):"
            parts.append(f"{head}\n{spell_hidden(sources[cell.id])}")
        return [*parts, variables] if variables else parts

    def _naming(self, request: SuggestionRequest) -> str:
        """The text whose names matter. An empty cell continues the one before it."""
        if request.source.strip() and request.kind != "next_cell":
            return f"{request.source}\n{request.instruction}"
        ids = [cell.id for cell in request.cells]
        place = ids.index(request.cell_id) if request.cell_id in ids else len(ids)
        before = [cell.source for cell in request.cells[:place] if cell.cell_type == "code"]
        return "\n".join([request.source, request.instruction, *before[-2:]])

    def _variables(self, variables: Sequence[Variable], room: int) -> str:
        lines: list[str] = []
        for variable in variables:
            line = spell_hidden(describe_variable(variable))
            room -= self.count(line)
            if room < 0:
                break
            lines.append(line)
        return "\n".join(["Variables:", *lines]) if lines else ""

    def _selection_text(self, request: SuggestionRequest) -> list[str]:
        if request.kind != "change" or not request.selection:
            return []
        first, last = sorted(request.selection)
        if not request.source[first:last].strip():
            return []
        lines = [request.source.count("\n", 0, at) + 1 for at in (first, max(first, last - 1))]
        where = f"line {lines[0]}" if lines[0] == lines[1] else f"lines {lines[0]} to {lines[1]}"
        return [f"They have selected {where}: change only that part, and give the whole cell."]

    def _cut(self, text: str, limit: int) -> str:
        return cut_middle(spell_hidden(text), limit, self.count)


def describe_variable(variable: Variable) -> str:
    """A variable in one line: `df: DataFrame · 10 rows × 2 columns · region (str), units (int64)`.

    No values of tables: code needs only their names and types.
    """
    columns = variable.columns
    listed = [f"{name} ({kind})" for name, kind in list(columns.items())[:_MAX_COLUMNS]]
    more = [f"and {len(columns) - _MAX_COLUMNS} more"] if len(columns) > _MAX_COLUMNS else []
    about = " ".join(variable.about.split())[:_MAX_LINE]
    facts = [f"{variable.name}: {variable.type}", about, ", ".join([*listed, *more])]
    return " · ".join(fact for fact in facts if fact)
