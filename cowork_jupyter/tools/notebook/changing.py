"""Tools that change a notebook cell by cell, wherever it is open.

An edit names the cell by its id and by the fingerprint of what the model read there. What
the cell holds at that moment goes along, so that whoever carries it out can refuse it if the
user has typed in between.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from ...domain.cell_changes import CellEdit, CellText
from ...domain.errors import InvalidInput
from ...domain.replies import Option, Question
from ...domain.roles import Permission
from ...policy.calls import Preview
from ...policy.visible import unspell
from ..base import PreviewFunction, ToolContext, ToolParameters, ToolResult, tool
from ..diff import Diff, diff
from ..files import PathOf
from .editing import BY_PLACE, new_cell_id
from .reading import CellId
from .state import CellState, CellType, Changed, Edit, NotebookState, OpenElsewhere, stale

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
class _Planned:
    """An edit and what it means for people."""

    state: NotebookState
    edit: Edit
    change: Diff
    summary: Callable[[str], str]
    """One line in the past tense, given what the reader calls the cell."""
    name: str = ""
    """What people call the cell; there is none for one that is yet to come."""

    @property
    def fingerprint(self) -> str | None:
        """That of the cell once it is done; None for what writes no source."""
        edit = self.edit
        if edit.kind not in ("insert", "edit"):
            return None
        return CellState(edit.cell_id, edit.cell_type, edit.source).fingerprint

    def cell_edit(self, changed: Changed) -> CellEdit | None:
        """What the user can accept or revert; None where cells have no ids to be known by."""
        edit, state = self.edit, self.state
        if changed.cell_id.startswith(BY_PLACE):
            return None
        place = None if edit.kind == "insert" else state.index(edit.cell_id)
        before = None if place is None else _text_of(state.cells[place])
        return CellEdit(
            notebook=changed.path,
            cell_id=changed.cell_id,
            before=before,
            after={
                "move": before,
                "delete": None,
            }.get(edit.kind, CellText(cell_type=edit.cell_type, source=edit.source)),
            moved=edit.kind == "move",
            above=state.cells[place - 1].id if place else None,
        )

    def preview(self) -> Preview:
        """What an approval card shows."""
        resource = f"{self.name} of {self.state.path}" if self.name else ""
        if self.edit.kind == "move":
            source = self.state.cell(self.edit.cell_id).source
            return Preview("text", f"{self.summary(self.name)}:\n{source}", resource=resource)
        return Preview("diff", self.change.text, resource=resource)


async def _insertion(parameters: InsertCell, context: ToolContext) -> _Planned:
    state = await context.notebooks.read(context.workspace, parameters.path)
    after = _neighbour(state, parameters, len(state.cells))
    edit = Edit(
        "insert",
        new_cell_id(),
        after=after,
        source=parameters.source,
        cell_type=parameters.cell_type,
    )
    name = f"{state.path} (new {parameters.cell_type} cell)"
    change = diff(name, "", _lines(parameters.source))
    return _Planned(state, edit, change, lambda _: f"inserted a cell into {state.path}")


async def _edition(parameters: EditCell, context: ToolContext) -> _Planned:
    state = await context.notebooks.read(context.workspace, parameters.path)
    cell = _as_read(state, parameters.cell_id, parameters.fingerprint)
    cell_type = parameters.cell_type or _type_of(cell)
    # A model reads characters that hide spelled out, and may write them like that.
    source = unspell(parameters.source, cell.source)
    edit = Edit("edit", cell.id, expected=cell.source, source=source, cell_type=cell_type)
    change = diff(state.path, _lines(cell.source), _lines(edit.source))
    said = f"of {state.path} ({change.counts})"
    name = state.name_of(cell.id)
    return _Planned(state, edit, change, lambda who: f"changed {who} {said}", name)


async def _move(parameters: MoveCell, context: ToolContext) -> _Planned:
    state = await context.notebooks.read(context.workspace, parameters.path)
    old = state.index(parameters.cell_id)
    others = [cell for cell in state.cells if cell.id != parameters.cell_id]
    after = _neighbour(NotebookState(state.path, tuple(others)), parameters, len(others))
    new = 0 if after is None else [cell.id for cell in others].index(after) + 1
    edit = Edit("move", parameters.cell_id, after=after)
    name = state.name_of(parameters.cell_id)

    def said(who: str) -> str:
        # Models count from 0, as `index` does; people from 1.
        places = (old + 1, new + 1) if who == name else (old, new)
        return f"moved {who} of {state.path} from position {places[0]} to {places[1]}"

    return _Planned(state, edit, Diff("", 0, 0), said, name)


async def _deletion(parameters: DeleteCell, context: ToolContext) -> _Planned:
    state = await context.notebooks.read(context.workspace, parameters.path)
    cell = _as_read(state, parameters.cell_id, parameters.fingerprint)
    edit = Edit("delete", cell.id, expected=cell.source)
    change = diff(state.path, _lines(cell.source), "")
    name = state.name_of(cell.id)
    return _Planned(state, edit, change, lambda who: f"deleted {who} of {state.path}", name)


def _preview_of(plan: Callable[[Any, ToolContext], Awaitable[_Planned]]) -> PreviewFunction:
    async def preview(parameters: ToolParameters, context: ToolContext) -> Preview:
        return (await plan(parameters, context)).preview()

    return preview


_CHANGES = (Permission.READ_FILES, Permission.WRITE_FILES)


@tool(
    category="notebooks",
    permissions=_CHANGES,
    preview=_preview_of(_insertion),
    travels=False,
    checks_itself=True,
)
async def insert_cell(parameters: InsertCell, context: ToolContext) -> ToolResult:
    """Insert a cell into a notebook: below the cell `after`, at `index`, or at the end."""
    return await _carried_out(await _insertion(parameters, context), context, parameters.path)


@tool(
    category="notebooks",
    permissions=_CHANGES,
    preview=_preview_of(_edition),
    travels=False,
    checks_itself=True,
)
async def edit_cell(parameters: EditCell, context: ToolContext) -> ToolResult:
    """Replace the source of a notebook cell. Read it first to get its id and fingerprint."""
    return await _carried_out(await _edition(parameters, context), context, parameters.path)


@tool(
    category="notebooks",
    permissions=_CHANGES,
    preview=_preview_of(_move),
    travels=False,
    checks_itself=True,
)
async def move_cell(parameters: MoveCell, context: ToolContext) -> ToolResult:
    """Move a notebook cell below the cell `after`, or to position `index`."""
    return await _carried_out(await _move(parameters, context), context, parameters.path)


@tool(
    category="notebooks",
    permissions=_CHANGES,
    preview=_preview_of(_deletion),
    travels=False,
    checks_itself=True,
)
async def delete_cell(parameters: DeleteCell, context: ToolContext) -> ToolResult:
    """Delete a notebook cell. Read it first to get its id and fingerprint."""
    return await _carried_out(await _deletion(parameters, context), context, parameters.path)


async def _carried_out(planned: _Planned, context: ToolContext, path: str) -> ToolResult:
    changed = await _change(planned, context, path)
    said = planned.summary(f"cell {changed.cell_id}")  # models know cells by their ids
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
    text = f"{said[0].upper()}{said[1:]}.{_remark(planned, changed)}"
    summary = planned.summary(planned.name)
    return ToolResult(text, summary, data, cell_edit=planned.cell_edit(changed))


async def _change(planned: _Planned, context: ToolContext, path: str) -> Changed:
    """Carry it out; where another program has the notebook open, only if the user wants that."""
    notebooks, answers = context.notebooks, context.write_under_open
    try:
        return await notebooks.change(context.workspace, path, planned.edit)
    except OpenElsewhere:
        name = planned.state.path
        if name not in answers:
            answers[name] = await context.ask(_about_open(name)) == WRITE
        if not answers[name]:
            raise
    return await notebooks.change(context.workspace, path, planned.edit, under_open=True)


def _about_open(path: str) -> Question:
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


def _remark(planned: _Planned, changed: Changed) -> str:
    """What the model needs to go on without reading all again."""
    remark = ""
    if planned.fingerprint:
        remark += f" Cell {changed.cell_id} now has fingerprint {planned.fingerprint}."
    if changed.unsaved:
        remark += " The user sees it in the open notebook, which has unsaved edits."
    return remark


def _as_read(state: NotebookState, cell_id: str, fingerprint: str) -> CellState:
    cell = state.cell(cell_id)
    if cell.fingerprint != fingerprint:
        raise stale(state.path, cell)
    return cell


def _neighbour(state: NotebookState, place: _Placed, end: int) -> str | None:
    """The cell behind which something goes; None for the top."""
    if place.after is not None:
        return state.cell(place.after).id
    index = end if place.index is None else place.index
    if index > end:
        raise InvalidInput(
            f"'{state.path}' has no position {index}: the last one is {end}.", code="no_such_place"
        )
    return state.cells[index - 1].id if index else None


def _text_of(cell: CellState) -> CellText:
    return CellText(cell_type=cell.cell_type, source=cell.source)


def _type_of(cell: CellState) -> CellType:
    return cell.cell_type if cell.cell_type in ("markdown", "raw") else "code"  # type: ignore[return-value]


def _lines(source: str) -> str:
    """The source as the lines of a file, so that its last line is not called unfinished."""
    return source if not source or source.endswith("\n") else f"{source}\n"
