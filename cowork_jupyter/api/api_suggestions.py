"""Endpoints about suggestions for a cell: asked for with a gesture, streamed, taken or not."""

from __future__ import annotations

from pydantic import Field

from ..domain.suggestions import Decision, SuggestionLine, SuggestionRequest
from .calls import Call
from .models import RequestBody, Text
from .routes import Stream, table

MAX_SOURCE = 200_000


class NewSuggestion(SuggestionRequest, RequestBody):
    """`POST context/{id}/suggestions`."""

    cell_id: str = Field(max_length=1_000)
    source: Text = Field(default="", max_length=MAX_SOURCE)
    instruction: Text = Field(default="", max_length=20_000)


class SuggestionVerdict(RequestBody):
    """`POST context/{id}/suggestions/{suggestion}/decision`."""

    decision: Decision
    source: Text = Field(default="", max_length=MAX_SOURCE)
    """As it was accepted, if the user has changed it."""


@table.route(
    "POST",
    "context/{id}/suggestions",
    body=NewSuggestion,
    answer=SuggestionLine,
    action="execute",
    streams=True,
)
async def suggest(call: Call) -> Stream:
    """Code or words for one cell, in lines of JSON as they come; ends when the caller goes away."""
    return Stream(call.service.suggest(call.path["id"], call.body))


@table.route(
    "POST",
    "context/{id}/suggestions/{suggestion}/decision",
    body=SuggestionVerdict,
    answer=None,
    status=204,
    action="execute",
)
async def decide_suggestion(call: Call) -> None:
    """Store whether the user took a suggestion."""
    call.service.conversations.get(call.path["id"])
    said: SuggestionVerdict = call.body
    call.service.suggestions.decide(
        call.path["id"], call.path["suggestion"], said.decision, said.source
    )
