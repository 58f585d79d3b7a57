"""Endpoints for suggestions."""

from __future__ import annotations

from pydantic import Field

from ...api.calls import Call
from ...api.models import RequestBody, Text
from ...api.routes import Stream, table
from ...domain.suggestions import Decision, SuggestionLine, SuggestionRequest
from .suggestions import Suggestions

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
    """What was accepted, if the user has changed it."""


@table.post(
    "context/{id}/suggestions", SuggestionLine, body=NewSuggestion, action="execute", streams=True
)
async def suggest(call: Call) -> Stream:
    """Suggest code or text for one cell, streamed as lines of JSON; ends when the client
    disconnects.
    """
    return Stream(_suggestions(call).stream(call.path["id"], call.body))


@table.post(
    "context/{id}/suggestions/{suggestion}/decision",
    None,
    body=SuggestionVerdict,
    status=204,
    action="execute",
)
async def decide_suggestion(call: Call) -> None:
    """Record whether the user accepted a suggestion."""
    call.service.conversations.get(call.path["id"])
    said: SuggestionVerdict = call.body
    _suggestions(call).decide(call.path["id"], call.path["suggestion"], said.decision, said.source)


def _suggestions(call: Call) -> Suggestions:
    return call.service.of(Suggestions)
