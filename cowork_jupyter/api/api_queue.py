"""Endpoints about what the user says while a job runs."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from ..agents.run import steering
from ..domain.contexts import QueuedMessage
from ..domain.errors import Conflict
from .api_messages import command_of
from .calls import Call
from .models import RequestBody, Text
from .routes import table


class QueueList(BaseModel):
    """What no agent has read yet, oldest first."""

    items: list[QueuedMessage]
    next: None = None


class NewQueuedMessage(RequestBody):
    """`POST context/{id}/queue`."""

    content: Annotated[Text, Field(min_length=1)]


@table.route("GET", "context/{id}/queue", answer=QueueList, action="read")
async def list_queue(call: Call) -> BaseModel:
    """Messages queued for the agent's next turn."""
    return QueueList(items=call.service.queued_messages(call.path["id"]))


@table.route(
    "POST",
    "context/{id}/queue",
    body=NewQueuedMessage,
    answer=QueuedMessage,
    status=201,
    action="execute",
)
async def queue_message(call: Call) -> BaseModel:
    """Queue a message while the agent works. It reads the message before its next turn."""
    if command_of(call, call.body.content):
        why = "A command cannot wait for the next turn. Send it when the run has ended."
        raise Conflict(why, code="command_queued")
    return steering.queue_message(call.service.journal, call.path["id"], call.body.content)


@table.route("DELETE", "context/{id}/queue/{message}", answer=None, status=204, action="execute")
async def take_back(call: Call) -> None:
    """Remove a queued message that the agent has not read yet."""
    steering.take_back(call.service.journal, call.path["id"], call.path["message"])
