"""The endpoints about instructions: which there are, and a first file of them."""

from __future__ import annotations

import asyncio

from pydantic import BaseModel

from ..domain.cell_commands import StartInstructions
from ..domain.health import Problem
from ..guidance.instructions import Instructions
from .calls import Call, refuse_unless_person
from .models import Name, RequestBody
from .routes import table


class InstructionList(BaseModel):
    """All instructions, and what is wrong with those that were skipped."""

    items: list[Instructions]
    next: None = None
    problems: list[Problem]


class InstructionsStart(RequestBody):
    """`POST instructions/init`: `show` only tells what would be written."""

    show: bool = False
    cell_id: Name | None = None


class FirstInstructions(BaseModel):
    """A first `AGENTS.md`."""

    path: str
    text: str
    written: bool


@table.route("GET", "instructions", answer=InstructionList, action="read", kernel=True)
async def list_instructions(call: Call) -> BaseModel:
    """The user's `AGENTS.md`, then those of the workspace; only trusted ones reach a model."""
    listing = await asyncio.to_thread(call.service.instructions.listing)
    return InstructionList(items=listing.items, problems=listing.problems)


@table.route(
    "POST",
    "instructions/init",
    body=InstructionsStart,
    answer=FirstInstructions,
    action="write",
    kernel=True,
)
async def start_instructions(call: Call) -> BaseModel:
    """Write a first `AGENTS.md` from what the workspace is; one that is there stays as it is."""
    show = call.body.show
    if not show:
        await refuse_unless_person(call, call.body.cell_id, StartInstructions())
    path, text = await asyncio.to_thread(call.service.start_instructions, show=show)
    return FirstInstructions(path=path, text=text, written=not show)
