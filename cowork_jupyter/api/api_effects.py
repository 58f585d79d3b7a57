"""Endpoints about what code does to data: the agent's, and the user's own cells."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from ..domain.effects import DataEffect
from ..tools.notebook.dependencies import CellTimes, StaleCell, outdated_cells, stale_cells
from .calls import Call, check_owner
from .models import ListedPath, Name, RequestBody, Text
from .routes import table


class EffectList(BaseModel):
    """Data effects, oldest first."""

    items: list[DataEffect]
    next: None = None


class CellRun(RequestBody):
    """`POST cell-effects`."""

    notebook: Annotated[ListedPath, Field(min_length=1)]
    """Relative to the workspace."""
    cell_id: Name
    source: Text
    phase: Literal["before", "after"] = "after"
    """Before the cell runs, what there is is only looked at, to compare with it later."""


class StaleQuery(RequestBody):
    """`GET stale-cells`."""

    notebook: Annotated[ListedPath, Field(min_length=1)]
    """Relative to the workspace."""
    cell_id: Name


class StaleCellView(BaseModel):
    """A cell that has run, and depends on the one that has changed."""

    cell_id: str
    cell: int
    """Its place in the notebook, from 1."""
    name: str
    """What it needs of that cell, or of one between them."""
    changed_id: str
    """The cell that has changed."""


class CellTimesView(RequestBody):
    """When a code cell ran and changed, in steps of a clock that all cells of a notebook share."""

    id: Name
    source: Text
    ran: int | None = None
    """Null if it did not run in this kernel."""
    changed: int | None = None
    """When it ran, or was edited after that."""


class OutdatedQuery(RequestBody):
    """`POST stale-cells`."""

    cells: Annotated[list[CellTimesView], Field(max_length=2000)]
    """The code cells of a notebook, as the page shows them."""


class StaleCellList(BaseModel):
    """Cells in the order of the notebook."""

    items: list[StaleCellView]
    next: None = None


@table.route("GET", "jobs/{id}/effects", answer=EffectList, action="read", kernel=True)
async def job_effects(call: Call) -> BaseModel:
    """What the code of a job did to tables and data files, with warnings."""
    job = call.service.jobs.get(call.path["id"])
    check_owner(call.service, call.caller, job.context_id)
    store = call.service.journal.store
    return EffectList(items=await asyncio.to_thread(store.data_effects, job.context_id, job.id))


@table.route("POST", "cell-effects", body=CellRun, answer=EffectList, action="execute")
async def cell_effects(call: Call) -> BaseModel:
    """What a cell that the user has run did to tables, since they were last looked at.

    Nothing is stored; to ask again about the same run gives the same answer.
    """
    run, watch = call.body, call.service.cell_watch
    if run.phase == "before":
        await watch.begin(run.notebook, run.source)
        return EffectList(items=[])
    return EffectList(items=await watch.end(run.notebook, run.cell_id, run.source))


@table.route("GET", "stale-cells", query=StaleQuery, answer=StaleCellList, action="read")
async def list_stale_cells(call: Call) -> BaseModel:
    """Cells that have run and depend on a cell that has changed, directly or by way of others."""
    tools = call.service.factory.tools
    notebook = await tools.gate.notebooks.read(tools.workspace, call.query.notebook)
    notebook.cell(call.query.cell_id)
    return _listed(stale_cells(notebook.cells, call.query.cell_id))


@table.route("POST", "stale-cells", body=OutdatedQuery, answer=StaleCellList, action="read")
async def list_outdated_cells(call: Call) -> BaseModel:
    """Cells of a notebook that ran before one changed on which they depend. Nothing is stored."""
    cells = [CellTimes(**vars(cell)) for cell in call.body.cells]
    return _listed(await asyncio.to_thread(outdated_cells, cells))


def _listed(found: list[StaleCell]) -> StaleCellList:
    return StaleCellList(items=[StaleCellView(**vars(cell)) for cell in found])
