"""The tool that shows a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from ...domain.errors import InvalidInput
from ...domain.messages import ImagePart
from ...domain.plurals import count_of
from ...domain.roles import Permission
from ..base import ToolContext, ToolParameters, ToolResult, tool
from ..files import PathOf
from .outputs import MAX_LENGTH, PICTURE_TYPES, describe_outputs, pictures_in, size_of
from .state import CellState, NotebookState

MAX_CELLS = 100
MAX_TEXT = 40_000
"""Characters after which no further cell is begun."""

_HOW_TO_SEE = "[read a single cell by cell_id to see its pictures]"

CellId = Annotated[str, Field(min_length=1, description="Cell id, as read_notebook shows it.")]


class ReadNotebook(ToolParameters):
    """Which notebook, and which of its cells."""

    path: PathOf
    offset: Annotated[int, Field(ge=0, description="First cell to show, from 0.")] = 0
    limit: Annotated[int, Field(ge=1, le=MAX_CELLS, description="Number of cells to show.")] = (
        MAX_CELLS
    )
    cell_id: Annotated[
        str | None, Field(description="Only this cell, with more of its output and its pictures.")
    ] = None


@tool(category="notebooks", permissions=[Permission.READ_FILES], idempotent=True, travels=False)
async def read_notebook(parameters: ReadNotebook, context: ToolContext) -> ToolResult:
    """Read a notebook: each cell's id, type, fingerprint, source and output, shortened; unsaved
    edits of an open tab are included.

    Long notebooks come in parts; the answer then says how to read on.
    """
    state = await context.notebooks.read(context.workspace, parameters.path)
    if parameters.cell_id is not None:
        index = state.index(parameters.cell_id)
        cell = state.cells[index]
        result = _result(state, _cell_text(index, cell, MAX_LENGTH), index, index + 1)
        return replace(result, images=await _pictures(cell, parameters, context))
    start = parameters.offset
    if start and start >= len(state.cells):
        raise InvalidInput(
            f"'{state.path}' has only {count_of(len(state.cells), 'cell')}.", code="no_such_cell"
        )
    texts = _page(state.cells, start, parameters.limit)
    end = start + len(texts)
    if any(map(_has_pictures, state.cells[start:end])):
        texts.append(_HOW_TO_SEE)
    return _result(state, "\n\n".join(texts), start, end)


async def _pictures(
    cell: CellState, parameters: ReadNotebook, context: ToolContext
) -> tuple[ImagePart, ...]:
    """Fetched for one cell only, since they are large."""
    if not _has_pictures(cell):
        return ()
    came = await context.notebooks.outputs(context.workspace, parameters.path, cell.id)
    return pictures_in(came)


def _has_pictures(cell: CellState) -> bool:
    return any(kind in output.get("data", {}) for output in cell.outputs for kind in PICTURE_TYPES)


def _page(cells: Sequence[CellState], start: int, limit: int) -> list[str]:
    texts: list[str] = []
    room = MAX_TEXT
    for index, cell in enumerate(cells[start : start + limit], start):
        text = _cell_text(index, cell)
        if texts and len(text) > room:
            break
        room -= len(text)
        texts.append(text)
    return texts


def _cell_text(index: int, cell: CellState, room: int | None = None) -> str:
    run = f" · In [{cell.execution_count}]" if cell.execution_count is not None else ""
    head = f"[cell {index} · {cell.id} · {cell.cell_type}{run} · fingerprint {cell.fingerprint}]"
    came = describe_outputs(cell.outputs) if room is None else describe_outputs(cell.outputs, room)
    return "\n".join([head, cell.source.rstrip(), *(["[output]", came] if came else [])])


def _facts(cell: CellState) -> dict[str, object]:
    return {
        "id": cell.id,
        "cell_type": cell.cell_type,
        "source": cell.source,
        "execution_count": cell.execution_count,
        "failed": any(output.get("output_type") == "error" for output in cell.outputs),
        "output_size": size_of(cell.outputs),
        "tags": list(cell.tags),
    }


def _result(state: NotebookState, text: str, start: int, end: int) -> ToolResult:
    total = len(state.cells)
    notes = [f"{state.path}: {count_of(total, 'cell')}"]
    notes += [state.language] if state.language else []
    if state.is_open:
        notes.append("open in the browser" + (", with unsaved edits" if state.unsaved else ""))
    part = [f"cells {start}–{end - 1} of {total}"] if end - start < total else []
    more = [f"continue with offset={end}"] if end < total else []
    tail = f"\n\n[{'; '.join([*part, *more])}]" if part else ""
    which = f"cells {start}–{end - 1} of " if part else ""
    data = {
        "paths": [state.path],
        "first_cell": start,
        "last_cell": end - 1,
        "total_cells": total,
        "language": state.language,
        "open": state.is_open,
        "unsaved": state.unsaved,
        "cells": [_facts(cell) for cell in state.cells[start:end]],
    }
    return ToolResult(f"[{', '.join(notes)}]\n{text}{tail}", f"read {which}{state.path}", data)
