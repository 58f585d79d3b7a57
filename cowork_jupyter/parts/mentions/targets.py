"""Titles of what can be mentioned, for people, and facts about it, for models."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from ...domain.effects import FieldState, TableState
from ...domain.errors import NotFound
from ...domain.messages import MentionKind
from ...domain.plurals import count_of
from ...tools.kernel.inside.plain import is_secret_name
from ...tools.kernel.state import Variable
from ...tools.notebook.state import CellState, NotebookState

OfferKind = MentionKind | Literal["role", "workflow", "skill", "prompt"]

_MAGICS = ("%%plan", "%%act", "%%ask", "%cowork")
"""Cells that begin with one of these show our own output."""


class CompletionItem(BaseModel):
    """One thing that can stand there."""

    text: str
    """What is written, with the `@` or `/`."""
    kind: OfferKind
    title: str = ""
    """What it is, in a few words."""


class CompletionItems(BaseModel):
    """What can stand there, best first."""

    items: list[CompletionItem]
    next: None = None
    more: bool = False
    """Whether something is still being looked up, so that it is worth asking again."""


def cell_of(
    state: NotebookState, kind: MentionKind, which: str, sent_from: str | None = None
) -> CellState:
    """The cell by number or id, else the last that failed or has an output."""
    if which:
        place = int(which) - 1 if which.isdecimal() and len(which) < 6 else -1
        ids = [cell.id for cell in state.cells]
        if which in ids:
            place = ids.index(which)
        if not 0 <= place < len(state.cells):
            raise NotFound(f"The notebook has no cell {which}; it has {len(state.cells)}.")
        return state.cells[place]
    ran = [cell for cell in state.cells if cell.outputs and cell.id != sent_from]
    ran = [cell for cell in ran if not cell.source.lstrip().startswith(_MAGICS)]
    if kind == "error":
        ran = [cell for cell in ran if failure_of(cell)]
    if not ran:
        raise NotFound("No cell has failed." if kind == "error" else "No cell has an output.")
    return max(ran, key=lambda cell: cell.execution_count or 0)


def failure_of(cell: CellState) -> str:
    """The name of the exception that the cell ended with, or ""."""
    names = [output.get("ename") for output in cell.outputs if output.get("output_type") == "error"]
    return str(names[-1]) if names else ""


def variable_title(variable: Variable) -> str:
    """`DataFrame · 6 × 3`."""
    about = variable.about.partition(", ")[0].replace(" rows", "").replace(" columns", "")
    return " · ".join(filter(None, [variable.type.rpartition(".")[2], about]))[:80]


def column_title(column: FieldState) -> str:
    """`object · 3 values`."""
    values = "" if column.distinct is None else f"{column.distinct:,} values"
    return " · ".join(filter(None, [column.type, values]))


def cell_title(cell: CellState) -> str:
    return next(iter(cell.source.strip().splitlines()), "")[:60] or cell.cell_type


def column_facts(table: str, state: TableState, column: FieldState) -> str:
    facts = [column.type, f"{column.missing:,} missing"]
    if column.distinct is not None:
        facts.append(f"{column.distinct:,} different")
    if not is_secret_name(column.name):
        if column.values:
            facts.append(f"values {', '.join(column.values)}")
        elif column.low is not None:
            facts.append(f"{column.low} to {column.high}")
        if column.total is not None:
            facts.append(f"sum {column.total:g}")
    some = " (from some of the rows)" if state.sampled else ""
    names = ", ".join(field.name for field in state.fields)
    return (
        f"{column.name}: {'; '.join(facts)}{some}\n"
        f"in {table}: {state.kind}, {count_of(state.rows, 'row')}; columns {names}"
    )
