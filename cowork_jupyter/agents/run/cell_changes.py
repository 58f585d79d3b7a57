"""Records which cells agents have changed, and what the user decides about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...bus import Journal
from ...domain.cell_changes import CellChange, CellDecision, CellEdit
from ...domain.events import CellChanged
from ...store import Transaction
from ..log import RunLog


def record_edit(tx: Transaction, log: RunLog, edit: CellEdit) -> None:
    """Store what a call did to a cell, merged with earlier undecided edits of it."""
    new = CellChange(**edit.model_dump(), context_id=log.context_id, job_id=log.job_id)
    pending = tx.pending_cell_changes(edit.notebook)
    known = next((change for change in pending if change.cell_id == edit.cell_id), None)
    _save_changes(tx, known.followed_by(new) if known else [new])


def record_decision(journal: Journal, ids: Sequence[str], decision: CellDecision) -> list[CellChange]:
    """Store the user's decision; what was decided before stays as it was."""
    with journal.transaction() as tx:
        found = [tx.cell_change(change_id) for change_id in dict.fromkeys(ids)]
        decided = [change.decided(decision) for change in found if change.decision is None]
        _save_changes(tx, decided)
        return [tx.cell_change(change.id) for change in found]


def _save_changes(tx: Transaction, changes: Iterable[CellChange]) -> None:
    for change in changes:
        tx.save_cell_change(change)
        event = CellChanged(
            notebook=change.notebook, cell_id=change.cell_id, decision=change.decision
        )
        tx.append_event(change.context_id, event, change.job_id)
