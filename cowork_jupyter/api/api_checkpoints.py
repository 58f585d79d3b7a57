"""Endpoints for checkpoints: list, compare, roll back."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Annotated

from pydantic import BaseModel, Field

from ..checkpoints import CheckpointDiff, CheckpointUse, RollbackResult, Scope
from ..domain.effects import BroughtBack
from ..domain.errors import NotFound
from ..store import CheckpointRecord
from .calls import Call, check_owner
from .models import Items, ListedPath, Name, RequestBody
from .routes import table

NOT_KEPT = "This is not kept any more."
Paths = Annotated[list[ListedPath], Field(max_length=10_000)]
CellIds = Annotated[list[Name], Field(max_length=10_000)]


class ChangedFile(BaseModel):
    """A file that a checkpoint has a state of."""

    path: str
    change: str
    added: int | None = None
    removed: int | None = None


class CheckpointView(BaseModel):
    """The state of the workspace before a tool ran, which can be restored."""

    id: str
    created_at: str
    job_id: str | None = None
    label: str = ""
    tool: str | None = None
    step_id: str | None = None
    files: list[str] = []
    uncovered: list[str] = []
    """What it does not keep, and why."""
    changes: list[ChangedFile] = []
    """The same files, with how they changed."""

    @classmethod
    def of(cls, record: CheckpointRecord) -> CheckpointView:
        fields = record.model_dump(include={"id", "created_at", "job_id"})
        changes = record.data.get("files", [])
        lists = {
            "files": [change["path"] for change in changes],
            "uncovered": [
                f"{entry['path']} ({entry['why']})" for entry in record.data["uncovered"]
            ],
            "changes": changes,
        }
        return cls.model_validate({**record.data, **fields, **lists})


class CheckpointList(Items[CheckpointView]):
    """The checkpoints of a conversation, oldest first."""

    store: CheckpointUse
    """The size of all checkpoints, including those of other conversations."""


class DiffQuery(RequestBody):
    """`GET checkpoints/{id}/diff`."""

    scope: Scope = "this"
    """One call, its step, its job, or everything since."""
    until: Name | None = None
    """Another checkpoint: compare the two."""


class RollbackRequest(RequestBody):
    """`POST checkpoints/{id}/rollback`."""

    paths: Paths | None = None
    dry_run: bool = False
    scope: Scope = "since"
    overwrite: Paths = []
    """Paths to restore although they would be skipped (`can_overwrite`)."""
    overwrite_cells: Annotated[dict[ListedPath, CellIds], Field(max_length=10_000)] = {}
    """The same for cells, as ids by notebook (`skipped[].cells`)."""
    preview: Name | None = None
    """The `preview` of a dry run; refused (`preview_changed`) if the result would differ."""


@table.get("context/{id}/checkpoints", CheckpointList, kernel=True)
async def list_checkpoints(call: Call) -> BaseModel:
    """The checkpoints of a conversation, oldest first."""
    checkpoints = await call.service.checkpoints.listing(call.path["id"])
    store = await call.service.checkpoints.lazy_store.use()
    return CheckpointList(items=[CheckpointView.of(record) for record in checkpoints], store=store)


@table.get("checkpoints/{id}/diff", CheckpointDiff, query=DiffQuery, kernel=True)
async def checkpoint_diff(call: Call) -> BaseModel:
    """What changed, file by file, and in notebooks cell by cell."""
    _check_owner(call)
    undo = await call.service.checkpoints.finish_interrupted()
    return await undo.diff(call.path["id"], call.query.scope, call.query.until)


@table.post(
    "checkpoints/{id}/rollback", RollbackResult, body=RollbackRequest, action="execute", kernel=True
)
async def roll_back(call: Call) -> BaseModel:
    """Restore the state before a checkpoint, without losing the user's own changes."""
    _check_owner(call)
    body, undo = call.body, await call.service.checkpoints.finish_interrupted()
    return await undo.rollback(
        call.path["id"],
        scope=body.scope,
        paths=body.paths,
        overwrite=body.overwrite,
        overwrite_cells=body.overwrite_cells,
        preview=body.preview,
        dry_run=body.dry_run,
    )


@table.post("context/{id}/set-aside/{batch}/restore", BroughtBack, action="execute")
async def bring_back(call: Call) -> BaseModel:
    """Put back what a command left behind and the sandbox has set aside."""
    tools = call.service.factory.tools
    call.service.journal.store.context(call.path["id"])
    if tools.sandbox is None:
        raise NotFound(NOT_KEPT)
    try:
        work = partial(tools.sandbox.bring_back, tools.workspace, call.path["batch"])
        return await asyncio.to_thread(work)
    except FileNotFoundError:
        raise NotFound(NOT_KEPT) from None


def _check_owner(call: Call) -> None:
    context_id = call.service.journal.store.checkpoint(call.path["id"]).context_id
    check_owner(call.service, call.caller, context_id)
