"""Endpoints about cells that agents have changed."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from ..agents.run.call_log import record_decision
from ..domain.cell_changes import CellChange, CellDecision
from .calls import Call
from .models import ListedPath, Name, RequestBody
from .routes import table


class CellChangeList(BaseModel):
    """Changes of cells, oldest first."""

    items: list[CellChange]
    next: None = None


class CellChangesQuery(RequestBody):
    """`GET cell-changes`."""

    notebook: ListedPath
    """Relative to the workspace."""


class CellChangesDecision(RequestBody):
    """`POST cell-changes`."""

    ids: Annotated[list[Name], Field(min_length=1, max_length=1000)]
    decision: CellDecision


@table.route("GET", "cell-changes", query=CellChangesQuery, answer=CellChangeList, action="read")
async def list_cell_changes(call: Call) -> BaseModel:
    """Changes in a notebook that the user has not accepted or reverted, of all conversations."""
    return CellChangeList(
        items=call.service.journal.store.pending_cell_changes(call.query.notebook)
    )


@table.route(
    "POST", "cell-changes", body=CellChangesDecision, answer=CellChangeList, action="execute"
)
async def decide_cell_changes(call: Call) -> BaseModel:
    """Accept changes, or record that they were reverted. The caller changes the document."""
    decided = record_decision(call.service.journal, call.body.ids, call.body.decision)
    return CellChangeList(items=decided)
