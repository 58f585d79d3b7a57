"""Endpoints for notebooks and their cells: changes, data effects, suggestions, fresh runs."""

from __future__ import annotations

import asyncio
from typing import Annotated

from pydantic import BaseModel, Field

from ..agents.run.call_log import record_decision
from ..domain.effects import CellChange, CellDecision, DataEffect
from ..domain.errors import InvalidInput
from ..domain.messages import Reproduction
from ..effects.silenced import SilenceScope, place_of
from ..tools.kernel.inside import recorder_expression
from ..tools.notebook.dependencies import CellTimes, StaleCell, outdated_cells, stale_cells
from .calls import Call, own_job
from .models import Items, ListedPath, Name, RequestBody, Text
from .routes import table


class CellChangeList(Items[CellChange]):
    """Changes of cells, oldest first."""


class CellChangesQuery(RequestBody):
    """`GET cell-changes`."""

    notebook: ListedPath
    """Relative to the workspace."""


class CellChangesDecision(RequestBody):
    """`POST cell-changes`."""

    ids: Annotated[list[Name], Field(min_length=1, max_length=1000)]
    decision: CellDecision


@table.get("cell-changes", CellChangeList, query=CellChangesQuery)
async def list_cell_changes(call: Call) -> BaseModel:
    """Changes in a notebook that the user has not accepted or reverted, of all conversations."""
    return CellChangeList(
        items=call.service.journal.store.pending_cell_changes(call.query.notebook)
    )


@table.post("cell-changes", CellChangeList, body=CellChangesDecision, action="execute")
async def decide_cell_changes(call: Call) -> BaseModel:
    """Accept changes, or record that they were reverted. The caller changes the document."""
    decided = record_decision(call.service.journal, call.body.ids, call.body.decision)
    return CellChangeList(items=decided)


class EffectList(Items[DataEffect]):
    """Data effects, oldest first."""


class CellRun(RequestBody):
    """`POST cell-effects`."""

    notebook: Annotated[ListedPath, Field(min_length=1)]
    """Relative to the workspace."""
    cell_id: Name
    source: Text
    execution_count: Annotated[int, Field(ge=1)]


class CellRecorder(BaseModel):
    """How a page has a kernel record what its cells do."""

    expression: str
    """Python for the kernel to evaluate before the first cell."""


class StaleQuery(RequestBody):
    """`GET stale-cells`."""

    notebook: Annotated[ListedPath, Field(min_length=1)]
    """Relative to the workspace."""
    cell_id: Name


class StaleCellView(BaseModel):
    """A cell that ran and depends on a changed one."""

    cell_id: str
    cell: int
    """Its position in the notebook, from 1."""
    name: str
    """The name that it takes from that cell, or from one between them."""
    changed_id: str
    """The cell that changed."""


class CellTimesView(RequestBody):
    """When a code cell ran and changed, in ticks of a clock shared by the notebook's cells."""

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


class StaleCellList(Items[StaleCellView]):
    """Stale cells in the order of the notebook."""


@table.get("jobs/{id}/effects", EffectList, kernel=True)
async def job_effects(call: Call) -> BaseModel:
    """What the code of a job did to tables and data files, with warnings."""
    job = own_job(call)
    store = call.service.journal.store
    return EffectList(items=await asyncio.to_thread(store.data_effects, job.context_id, job.id))


@table.post("cell-effects", EffectList, body=CellRun, action="execute")
async def cell_effects(call: Call) -> BaseModel:
    """What a cell that the user ran did to tables, if its kernel recorded it. Nothing is stored.

    From then on the kernel records its cells.
    """
    ran = call.body
    return EffectList(
        items=await call.service.cell_watch.effects(
            ran.notebook, ran.cell_id, ran.source, ran.execution_count
        )
    )


@table.get("cell-recorder", CellRecorder)
async def cell_recorder(call: Call) -> BaseModel:  # noqa: ARG001
    """What a page sends to a kernel ahead of the cells, which do not wait for each other."""
    return CellRecorder(expression=recorder_expression())


@table.get("stale-cells", StaleCellList, query=StaleQuery)
async def list_stale_cells(call: Call) -> BaseModel:
    """Cells that ran and depend on a changed cell, directly or indirectly."""
    tools = call.service.factory.tools
    notebook = await tools.gate.notebooks.read(tools.workspace, call.query.notebook)
    notebook.cell(call.query.cell_id)
    return _stale_list(stale_cells(notebook.cells, call.query.cell_id))


@table.post("stale-cells", StaleCellList, body=OutdatedQuery, action="read")
async def list_outdated_cells(call: Call) -> BaseModel:
    """Cells that ran before one on which they depend changed. Nothing is stored."""
    cells = [CellTimes(**vars(cell)) for cell in call.body.cells]
    return _stale_list(await asyncio.to_thread(outdated_cells, cells))


def _stale_list(cells: list[StaleCell]) -> StaleCellList:
    return StaleCellList(items=[StaleCellView(**vars(cell)) for cell in cells])


class SilenceRequest(RequestBody):
    """`POST context/{id}/silenced`."""

    code: Annotated[Name, Field(min_length=1, max_length=100)]
    """The kind of warning."""
    scope: SilenceScope
    cell_id: Name | None = None
    """Required if the scope is a cell."""
    silenced: bool = True
    """False to show it again."""


class SilenceAnswer(BaseModel):
    """Whether a kind of warning is silenced now."""

    code: str
    scope: SilenceScope
    silenced: bool


@table.post("context/{id}/silenced", SilenceAnswer, body=SilenceRequest, action="write")
async def silence_warning(call: Call) -> BaseModel:
    """Silence a kind of warning in a cell, in the conversation's notebook, or everywhere."""
    body, service = call.body, call.service
    notebook = service.conversations.get(call.path["id"]).notebook
    place = {"cell": body.cell_id, "notebook": notebook, "everywhere": ""}[body.scope]
    if place is None:
        raise InvalidInput(f"scope: there is no {body.scope} here.", code="no_place")
    tools = service.factory.tools
    if body.scope == "notebook":
        place = place_of(tools.workspace, place)
    tools.silenced.set(body.code, body.scope, place, silenced=body.silenced)
    return SilenceAnswer(code=body.code, scope=body.scope, silenced=body.silenced)


REPRODUCE = "context/{id}/reproduce"


class Reproduce(RequestBody):
    """`POST context/{id}/reproduce`."""

    job_id: str | None = None
    """The run whose card shows the result, and whose rollback covers what the cells change."""


class ReproductionAnswer(BaseModel):
    """The running reproduction, if any. Its job can be cancelled; the result is a message of it."""

    reproduction: Reproduction | None
    notebook: str | None
    """The notebook that can be run; null without one, or without a server."""


class KernelAnswer(BaseModel):
    """What a kernel cannot know by itself."""

    notebook: str | None
    """The file of its notebook, which may have been renamed since the kernel started."""


@table.get("kernel", KernelAnswer, kernel=True)
async def kernel(call: Call) -> BaseModel:
    """The notebook that the calling kernel belongs to now; null for other callers."""
    kernel_id = call.caller.kernel_id
    return KernelAnswer(notebook=await call.host.notebook_of(kernel_id) if kernel_id else None)


@table.post(REPRODUCE, ReproductionAnswer, body=Reproduce, status=202, action="execute")
async def reproduce(call: Call) -> BaseModel:
    """Start a job that runs all cells of the conversation's notebook in a new kernel."""
    state = await call.service.reproduce(call.path["id"], call.body.job_id)
    return reproduction_answer(call, state.context_id, state)


@table.get(REPRODUCE, ReproductionAnswer)
async def reproduction(call: Call) -> BaseModel:
    """The progress of the reproduction; null if none is running."""
    return reproduction_answer(
        call, call.path["id"], call.service.reproductions.state(call.path["id"])
    )


def reproduction_answer(
    call: Call, context_id: str, state: Reproduction | None
) -> ReproductionAnswer:
    notebook = call.service.conversations.get(context_id).notebook
    can = call.host.kind == "server" and notebook
    return ReproductionAnswer(reproduction=state, notebook=notebook if can else None)
