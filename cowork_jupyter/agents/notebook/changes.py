"""What became of a notebook's cells since the agent last looked at them, by their ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...domain.message_data import ToolFacts, ToolResultData
from ...domain.messages import Message
from ...tools.notebook.state import CellState, NotebookState

Mark = tuple[str, int | str | None]
"""A cell's fingerprint and its execution count; `ANY` count if the agent has run it since."""
ANY = "any"


@dataclass(frozen=True)
class Changes:
    """Ids of cells, in notebook order."""

    added: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    run: tuple[str, ...] = ()


def marks_of(state: NotebookState) -> dict[str, Mark]:
    """What to remember of a notebook; nothing of an old format, whose cells have no ids."""
    if any(cell.id.startswith("#") for cell in state.cells):
        return {}
    return {cell.id: _mark(cell) for cell in state.cells}


def as_left(before: Mapping[str, Mark], path: str, messages: Iterable[Message]) -> dict[str, Mark]:
    """The marks as the agent's own calls have left them, which are no news to it."""
    marks = dict(before)
    for message in messages:
        if isinstance(message.data, ToolResultData):
            _account_for(message.data, path, marks)
    return marks


def changes(before: Mapping[str, Mark], state: NotebookState) -> Changes:
    now = marks_of(state)
    both = [cell_id for cell_id in now if cell_id in before]
    return Changes(
        added=tuple(cell_id for cell_id in now if cell_id not in before),
        edited=tuple(cell_id for cell_id in both if now[cell_id][0] != before[cell_id][0]),
        removed=tuple(cell_id for cell_id in before if cell_id not in now),
        run=tuple(cell_id for cell_id in both if _has_run(before[cell_id][1], now[cell_id][1])),
    )


def _account_for(result: ToolResultData, path: str, marks: dict[str, Mark]) -> None:
    # A cell that failed has run all the same; what is known of it then stands with the error.
    facts = ToolFacts.model_validate(result.error.details) if result.error else result.facts
    cell_id = facts.cell_id
    if cell_id is None or path not in (facts.notebook, *facts.paths):
        return
    fingerprint, count = marks.get(cell_id, ("", None))
    if result.tool == "run_cell":
        marks[cell_id] = (fingerprint, ANY)
    elif facts.fingerprint:
        marks[cell_id] = (facts.fingerprint, count)
    elif result.tool == "delete_cell" and result.ok:
        marks.pop(cell_id, None)


def _mark(cell: CellState) -> Mark:
    return cell.fingerprint, cell.execution_count


def _has_run(before: int | str | None, now: int | str | None) -> bool:
    return now is not None and before not in (now, ANY)
