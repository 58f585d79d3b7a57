"""Endpoints for the memory of the workspace, and what runs propose to add."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from ...api.calls import Call, may_see, own_job, refuse_unless_person
from ...api.models import Name, RequestBody
from ...api.routes import table
from ...domain.cell_commands import ChangeMemory
from .memory import MEMORY_FILE, WorkspaceMemory
from .proposals import MemoryProposal, MemoryProposals, proposals

MemoryContent = Annotated[str, Field(max_length=100_000)]


class MemoryView(BaseModel):
    """The memory of the workspace."""

    path: str = MEMORY_FILE
    text: str
    """Empty if there is none."""
    trusted: bool
    """Whether agents follow it: the user wrote, kept or trusts it."""
    enabled: bool
    fingerprint: str
    """Identifies this text; changes must name the one they are based on."""
    proposals: list[MemoryProposal] = []
    """What the newest runs would add, newest first."""


class MemoryEdit(RequestBody):
    """`PUT memory`."""

    text: MemoryContent
    fingerprint: Name


class MemoryVerdict(RequestBody):
    """`POST jobs/{id}/memory`."""

    decision: Literal["keep", "drop"]
    fingerprint: Name = ""
    """Of the memory that the proposal was shown for; required to keep it."""
    text: MemoryContent | None = None
    """The whole file, if the user has edited the proposal."""
    cell_id: Name | None = None
    """The cell whose magic asks for it."""


class Forgetting(RequestBody):
    """`DELETE memory`."""

    text: Annotated[str, Field(max_length=1000)] = ""
    """Forget only lines with these words; empty for all."""
    cell_id: Name | None = None


class ProposalView(BaseModel):
    """What a run would add to the memory."""

    proposal: MemoryProposal | None
    """None if it has nothing new, or was dropped."""


@table.get("memory", MemoryView, kernel=True)
async def show_memory(call: Call) -> BaseModel:
    """The memory of this workspace, and proposals for it."""
    return await asyncio.to_thread(_view, call)


@table.put("memory", MemoryView, body=MemoryEdit)
async def edit_memory(call: Call) -> BaseModel:
    """Replace the memory with the user's text, which is thereby trusted."""
    _memory(call).write(call.body.text, call.body.fingerprint)
    return await asyncio.to_thread(_view, call)


@table.delete("memory", answer=MemoryView, query=Forgetting, kernel=True)
async def forget_memory(call: Call) -> BaseModel:
    """Forget all of the memory, or lines with certain words."""
    words = call.query.text
    await refuse_unless_person(call, call.query.cell_id, ChangeMemory("forget", words))
    _memory(call).forget(words)
    return await asyncio.to_thread(_view, call)


@table.get("jobs/{id}/memory", ProposalView, kernel=True)
async def show_proposal(call: Call) -> BaseModel:
    """What a run would add to the memory."""
    job = own_job(call)
    return ProposalView(proposal=await asyncio.to_thread(_proposals(call).of, job.id))


@table.post("jobs/{id}/memory", MemoryView, body=MemoryVerdict, action="write", kernel=True)
async def decide_memory(call: Call) -> BaseModel:
    """Keep what a run would add, as shown or as edited, or drop it."""
    said, offered = call.body, _proposals(call)
    job = own_job(call)
    await refuse_unless_person(call, said.cell_id, ChangeMemory(said.decision))
    if said.decision == "keep":
        await asyncio.to_thread(offered.keep, job.id, said.fingerprint, said.text)
    else:
        offered.drop(job.id)
    return await asyncio.to_thread(_view, call)


def _view(call: Call) -> MemoryView:
    service = call.service
    known = service.guidance.of(WorkspaceMemory).read()
    return MemoryView(
        text=known.text,
        trusted=known.trusted,
        enabled=service.guidance.of(WorkspaceMemory).is_on,
        fingerprint=known.fingerprint,
        proposals=[
            proposal
            for proposal in service.of(proposals).waiting()
            if may_see(service, call.caller, proposal.context_id)
        ],
    )


def _memory(call: Call) -> WorkspaceMemory:
    return call.service.guidance.of(WorkspaceMemory)


def _proposals(call: Call) -> MemoryProposals:
    return call.service.of(proposals)
