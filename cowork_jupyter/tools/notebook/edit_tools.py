"""Tools that change a notebook cell by cell, wherever it is open.

An edit names the cell by its id and by the fingerprint of what the model read there. The cell's
current source goes along, so that the edit can be refused if the user has typed in between.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ...domain.effects import CellEdit, CellText
from ...domain.errors import Conflict, InvalidInput
from ...domain.plurals import count_of
from ...domain.replies import Option, Question
from ...domain.roles import Permission
from ...policy.calls import Preview
from ...policy.visible import decode_hidden_characters
from ...workspace import Workspace
from ..base import PreviewFunction, ToolContext, ToolParameters, ToolResult, in_thread, tool
from ..diff import Diff, diff
from ..documents import is_notebook
from ..files import PathOf
from .read_tool import CellId
from .state import (
    CellState,
    CellType,
    Edit,
    EditResult,
    NotebookState,
    OpenElsewhere,
    stale_cell_error,
)
from .stored import BY_PLACE, Document, apply, new_cell_id, serialize_notebook


class NewCell(BaseModel):
    """A cell to begin with."""

    model_config = ConfigDict(extra="forbid")

    source: str
    cell_type: CellType = "code"


class CreateNotebook(ToolParameters):
    """Where, for which kernel, and what is in it."""

    path: PathOf
    cells: list[NewCell] = []
    kernel: Annotated[str, Field(min_length=1, description="Kernel name.")] = "python3"


@in_thread
def preview_notebook(parameters: CreateNotebook, workspace: Workspace) -> Preview:
    with workspace.locate(parameters.path) as place:
        return Preview("diff", diff(place.path, "", _as_lines(parameters)).text)


@tool(category="notebooks", permissions=[Permission.CREATE_FILES], preview=preview_notebook)
@in_thread
def create_notebook(parameters: CreateNotebook, workspace: Workspace) -> ToolResult:
    """Create a new notebook (.ipynb) with cells such as {"cell_type": "markdown", "source":
    "# Sales"}. Never overwrites.
    """
    document = _document(parameters)
    with workspace.locate(parameters.path) as place:
        if not is_notebook(place.path):
            raise InvalidInput(f"'{place.path}' must end in .ipynb.", code="no_notebook")
        if place.exists():
            raise Conflict(
                f"'{place.path}' already exists, and create_notebook never overwrites; change "
                "it with insert_cell and edit_cell.",
                code="exists",
            )
        place.create(serialize_notebook(document))
    change = diff(place.path, "", _as_lines(parameters))
    summary = f"created {place.path} ({count_of(len(parameters.cells), 'cell')})"
    ids = [cell["id"] for cell in document["cells"]]
    listed = f" Cell ids: {', '.join(ids)}." if ids else ""
    data = {
        "paths": [place.path],
        "diff": change.text,
        "added": change.added,
        "removed": 0,
        "cell_ids": ids,
    }
    return ToolResult(f"{summary[0].upper()}{summary[1:]}.{listed}", summary, data)


def _document(parameters: CreateNotebook) -> Document:
    # JupyterLab looks the kernel up by name, and fills in the rest when it starts it.
    kernel = {"name": parameters.kernel, "display_name": parameters.kernel}
    document: dict[str, Any] = {
        "cells": [],
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    last: str | None = None
    for cell in parameters.cells:
        edit = Edit(
            "insert", new_cell_id(), after=last, source=cell.source, cell_type=cell.cell_type
        )
        last = apply(parameters.path, document, edit)
    return document


def _as_lines(parameters: CreateNotebook) -> str:
    return "".join(f"[{cell.cell_type}]\n{cell.source}\n\n" for cell in parameters.cells)


Fingerprint = Annotated[
    str, Field(min_length=1, description="Fingerprint of the cell when you read it.")
]
Index = Annotated[int | None, Field(ge=0, description="Position from 0, instead of `after`.")]
After = Annotated[str | None, Field(description="Id of the cell to put it below.")]


WRITE, LEAVE = "write", "leave"


class _Placed(ToolParameters):
    """Where a cell goes: behind another, or to a place by number."""

    path: PathOf
    after: After = None
    index: Index = None

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if self.after is not None and self.index is not None:
            raise ValueError("pass either after or index")
        return self


class InsertCell(_Placed):
    """A new cell, at the end unless said otherwise."""

    source: str
    cell_type: CellType = "code"


class EditCell(ToolParameters):
    """A cell and the whole of what it holds afterwards."""

    path: PathOf
    cell_id: CellId
    fingerprint: Fingerprint
    source: Annotated[str, Field(description="The whole new source.")]
    cell_type: Annotated[CellType | None, Field(description="New cell type, to change it.")] = None


class MoveCell(_Placed):
    """A cell and where it goes."""

    cell_id: CellId

    @model_validator(mode="after")
    def _some_place(self) -> Self:
        if self.after is None and self.index is None:
            raise ValueError("pass after or index")
        return self


class DeleteCell(ToolParameters):
    """A cell that goes."""

    path: PathOf
    cell_id: CellId
    fingerprint: Fingerprint


@dataclass(frozen=True)
class _PlannedEdit:
    state: NotebookState
    edit: Edit
    change: Diff
    summary: Callable[[str], str]
    """One line in the past tense, given what the reader calls the cell."""
    name: str = ""
    """What people call the cell; empty for one that does not exist yet."""

    @property
    def fingerprint(self) -> str | None:
        """Fingerprint of the cell after the edit; None for edits without a source."""
        edit = self.edit
        has_source = edit.kind in ("insert", "edit")
        state = CellState(edit.cell_id, edit.cell_type, edit.source)
        return state.fingerprint if has_source else None

    def cell_edit(self, changed: EditResult) -> CellEdit | None:
        """What the user can accept or revert; None where cells have no ids."""
        edit, state = self.edit, self.state
        if changed.cell_id.startswith(BY_PLACE):
            return None
        place = None if edit.kind == "insert" else state.index(edit.cell_id)
        cell = None if place is None else state.cells[place]
        before = CellText(cell_type=cell.cell_type, source=cell.source) if cell else None
        after = CellText(cell_type=edit.cell_type, source=edit.source)
        return CellEdit(
            notebook=changed.path,
            cell_id=changed.cell_id,
            before=before,
            after={"move": before, "delete": None}.get(edit.kind, after),
            moved=edit.kind == "move",
            above=state.cells[place - 1].id if place else None,
        )

    def preview(self) -> Preview:
        resource = f"{self.name} of {self.state.path}" if self.name else ""
        if self.edit.kind == "move":
            source = self.state.cell(self.edit.cell_id).source
            return Preview("text", f"{self.summary(self.name)}:\n{source}", resource=resource)
        return Preview("diff", self.change.text, resource=resource)


async def _plan_insert(parameters: InsertCell, context: ToolContext) -> _PlannedEdit:
    state = await context.notebooks.read(context.workspace, parameters.path)
    after = _neighbour(state, parameters, len(state.cells))
    source, cell_type = parameters.source, parameters.cell_type
    edit = Edit("insert", new_cell_id(), after=after, source=source, cell_type=cell_type)
    change = diff(f"{state.path} (new {cell_type} cell)", "", _lines(source))
    return _PlannedEdit(state, edit, change, lambda _: f"inserted a cell into {state.path}")


async def _plan_edit(parameters: EditCell, context: ToolContext) -> _PlannedEdit:
    state = await context.notebooks.read(context.workspace, parameters.path)
    cell = _read_cell(state, parameters.cell_id, parameters.fingerprint)
    cell_types: dict[str, CellType] = {"markdown": "markdown", "raw": "raw"}
    cell_type = parameters.cell_type or cell_types.get(cell.cell_type, "code")
    # Models read invisible characters spelled out, and may write them like that.
    source = decode_hidden_characters(parameters.source, cell.source)
    edit = Edit("edit", cell.id, expected=cell.source, source=source, cell_type=cell_type)
    change = diff(state.path, _lines(cell.source), _lines(edit.source))
    details = f"of {state.path} ({change.counts})"
    name = state.name_of(cell.id)
    return _PlannedEdit(state, edit, change, lambda who: f"changed {who} {details}", name)


async def _plan_move(parameters: MoveCell, context: ToolContext) -> _PlannedEdit:
    state = await context.notebooks.read(context.workspace, parameters.path)
    old = state.index(parameters.cell_id)
    others = [cell for cell in state.cells if cell.id != parameters.cell_id]
    after = _neighbour(NotebookState(state.path, tuple(others)), parameters, len(others))
    new = 0 if after is None else [cell.id for cell in others].index(after) + 1
    edit = Edit("move", parameters.cell_id, after=after)
    name = state.name_of(parameters.cell_id)

    def summary(who: str) -> str:
        # Models count from 0, as `index` does; people from 1.
        places = (old + 1, new + 1) if who == name else (old, new)
        return f"moved {who} of {state.path} from position {places[0]} to {places[1]}"

    return _PlannedEdit(state, edit, Diff("", 0, 0), summary, name)


async def _plan_delete(parameters: DeleteCell, context: ToolContext) -> _PlannedEdit:
    state = await context.notebooks.read(context.workspace, parameters.path)
    cell = _read_cell(state, parameters.cell_id, parameters.fingerprint)
    edit = Edit("delete", cell.id, expected=cell.source)
    change = diff(state.path, _lines(cell.source), "")
    name = state.name_of(cell.id)
    return _PlannedEdit(state, edit, change, lambda who: f"deleted {who} of {state.path}", name)


def _preview_of(plan: Callable[[Any, ToolContext], Awaitable[_PlannedEdit]]) -> PreviewFunction:
    async def preview(parameters: ToolParameters, context: ToolContext) -> Preview:
        return (await plan(parameters, context)).preview()

    return preview


_cell_tool = partial(
    tool,
    category="notebooks",
    permissions=[Permission.READ_FILES, Permission.WRITE_FILES],
    travels=False,
    checks_itself=True,
)


@_cell_tool(preview=_preview_of(_plan_insert))
async def insert_cell(parameters: InsertCell, context: ToolContext) -> ToolResult:
    """Insert a cell into a notebook: below the cell `after`, at `index`, or at the end."""
    return await _carry_out(await _plan_insert(parameters, context), context, parameters.path)


@_cell_tool(preview=_preview_of(_plan_edit))
async def edit_cell(parameters: EditCell, context: ToolContext) -> ToolResult:
    """Replace the source of a notebook cell. Read it first to get its id and fingerprint."""
    return await _carry_out(await _plan_edit(parameters, context), context, parameters.path)


@_cell_tool(preview=_preview_of(_plan_move))
async def move_cell(parameters: MoveCell, context: ToolContext) -> ToolResult:
    """Move a notebook cell below the cell `after`, or to position `index`."""
    return await _carry_out(await _plan_move(parameters, context), context, parameters.path)


@_cell_tool(preview=_preview_of(_plan_delete))
async def delete_cell(parameters: DeleteCell, context: ToolContext) -> ToolResult:
    """Delete a notebook cell. Read it first to get its id and fingerprint."""
    return await _carry_out(await _plan_delete(parameters, context), context, parameters.path)


async def _carry_out(planned: _PlannedEdit, context: ToolContext, path: str) -> ToolResult:
    changed = await _change(planned, context, path)
    model_summary = planned.summary(f"cell {changed.cell_id}")  # models know cells by id
    data = {
        "paths": [changed.path],
        "diff": planned.change.text,
        "added": planned.change.added,
        "removed": planned.change.removed,
        "cell_id": changed.cell_id,
        "fingerprint": planned.fingerprint,
        "open": changed.is_open,
        "unsaved": changed.unsaved,
    }
    text = f"{model_summary[0].upper()}{model_summary[1:]}.{_remark(planned, changed)}"
    summary = planned.summary(planned.name)
    return ToolResult(text, summary, data, cell_edit=planned.cell_edit(changed))


async def _change(planned: _PlannedEdit, context: ToolContext, path: str) -> EditResult:
    """Where another program has the notebook open, ask the user before writing."""
    notebooks, answers = context.notebooks, context.write_under_open
    try:
        return await notebooks.change(context.workspace, path, planned.edit)
    except OpenElsewhere:
        name = planned.state.path
        if name not in answers:
            answers[name] = await context.ask(_ask_about_open(name)) == WRITE
        if not answers[name]:
            raise
    return await notebooks.change(context.workspace, path, planned.edit, under_open=True)


def _ask_about_open(path: str) -> Question:
    return Question(
        question=f"{path} is open in another program. Write the file anyway?",
        context="That program does not see the change. When it next saves, it asks which version "
        "to keep.",
        options=[
            Option(label="Leave it", value=LEAVE, description="You can insert the cells yourself."),
            Option(label="Write the file anyway", value=WRITE),
        ],
        default=LEAVE,
    )


def _remark(planned: _PlannedEdit, changed: EditResult) -> str:
    """What the model needs to go on without reading everything again."""
    fingerprint = f" Cell {changed.cell_id} now has fingerprint {planned.fingerprint}."
    unsaved = " The user sees it in the open notebook, which has unsaved edits."
    return (fingerprint if planned.fingerprint else "") + (unsaved if changed.unsaved else "")


def _read_cell(state: NotebookState, cell_id: str, fingerprint: str) -> CellState:
    cell = state.cell(cell_id)
    if cell.fingerprint != fingerprint:
        raise stale_cell_error(state.path, cell)
    return cell


def _neighbour(state: NotebookState, place: _Placed, end: int) -> str | None:
    """The cell below which something goes; None for the top."""
    if place.after is not None:
        return state.cell(place.after).id
    index = end if place.index is None else place.index
    if index > end:
        raise InvalidInput(
            f"'{state.path}' has no position {index}: the last one is {end}.", code="no_such_place"
        )
    return state.cells[index - 1].id if index else None


def _lines(source: str) -> str:
    """With a final line break, so that the diff does not call the last line unfinished."""
    return source if not source or source.endswith("\n") else f"{source}\n"
