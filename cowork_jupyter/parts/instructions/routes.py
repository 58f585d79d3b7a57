"""Endpoints for instructions."""

from __future__ import annotations

import asyncio

from pydantic import BaseModel

from ...api.calls import Call, refuse_unless_person
from ...api.models import Items, Name, RequestBody
from ...api.routes import table
from ...domain.cell_commands import StartInstructions
from ...domain.health import Problem
from .first_instructions import write_first_instructions
from .instructions import InstructionFinder, Instructions


class InstructionList(Items[Instructions]):
    """All instructions, and what is wrong with those that were skipped."""

    problems: list[Problem]


class InstructionsStart(RequestBody):
    """`POST instructions/init`: `show` only returns what would be written."""

    show: bool = False
    cell_id: Name | None = None


class FirstInstructions(BaseModel):
    """A first `AGENTS.md`."""

    path: str
    text: str
    written: bool


@table.get("instructions", InstructionList, kernel=True)
async def list_instructions(call: Call) -> BaseModel:
    """The user's `AGENTS.md`, then those of the workspace; only trusted ones reach a model."""
    listing = await asyncio.to_thread(call.service.guidance.of(InstructionFinder).listing)
    return InstructionList(items=listing.items, problems=listing.problems)


@table.post(
    "instructions/init", FirstInstructions, body=InstructionsStart, action="write", kernel=True
)
async def start_instructions(call: Call) -> BaseModel:
    """Write a first `AGENTS.md` from what is in the workspace; never overwrites one."""
    show = call.body.show
    if not show:
        await refuse_unless_person(call, call.body.cell_id, StartInstructions())
    path, text = await asyncio.to_thread(write_first_instructions, call.service, show=show)
    return FirstInstructions(path=path, text=text, written=not show)
