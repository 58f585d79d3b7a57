"""The endpoint that tries whether a notebook still runs."""

from __future__ import annotations

from pydantic import BaseModel

from ..agents.reproduction import Reproduction
from .calls import Call
from .routes import table


@table.route("POST", "context/{id}/reproduce", answer=Reproduction, action="execute")
async def reproduce(call: Call) -> BaseModel:
    """Run the conversation's notebook from top to bottom in a new kernel; it answers when done."""
    return await call.service.reproduce(call.path["id"])
