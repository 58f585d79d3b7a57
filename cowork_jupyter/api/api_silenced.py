"""The endpoint for warnings that the user does not want to see."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from ..domain.errors import InvalidInput
from ..effects.silenced import SilenceScope, place_of
from .calls import Call
from .models import Name, RequestBody
from .routes import table


class SilenceRequest(RequestBody):
    """`POST context/{id}/silenced`."""

    code: Annotated[Name, Field(min_length=1, max_length=100)]
    """The kind of warning."""
    scope: SilenceScope
    cell_id: Name | None = None
    """Where the scope is a cell."""
    silenced: bool = True
    """False to hear of it again."""


class SilenceAnswer(BaseModel):
    """What is so now."""

    code: str
    scope: SilenceScope
    silenced: bool


@table.route(
    "POST", "context/{id}/silenced", body=SilenceRequest, answer=SilenceAnswer, action="write"
)
async def silence_warning(call: Call) -> BaseModel:
    """Silence a kind of warning in a cell, in the conversation's notebook, or everywhere."""
    said, service = call.body, call.service
    notebook = service.conversations.get(call.path["id"]).notebook
    place = {"cell": said.cell_id, "notebook": notebook, "everywhere": ""}[said.scope]
    if place is None:
        raise InvalidInput(f"scope: there is no {said.scope} here.", code="no_place")
    tools = service.factory.tools
    if said.scope == "notebook":
        place = place_of(tools.workspace, place)
    tools.silenced.set(said.code, said.scope, place, silenced=said.silenced)
    return SilenceAnswer(code=said.code, scope=said.scope, silenced=said.silenced)
