"""The endpoints about models: which answers, which others there are, and choosing one."""

from __future__ import annotations

import asyncio

from pydantic import BaseModel

from ..connections import state_of, try_out
from ..domain.health import ModelState
from ..llm.discovery import FoundServer, find_servers
from ..llm.reachable import served_models
from .calls import Call
from .models import Name, RequestBody
from .routes import table


class ModelName(BaseModel):
    """One model."""

    name: str
    configured: bool
    """Whether it is the one that answers unless another is asked for."""
    context_size: int | None = None
    """How many tokens it takes, where the server tells."""


class ModelList(BaseModel):
    """The models of the connected server."""

    items: list[ModelName]
    next: None = None


class OfferedModel(BaseModel):
    """One model of a server that is not connected."""

    name: str
    context_size: int | None


class OfferedServer(BaseModel):
    """A server that runs on this machine and could be used."""

    provider: str
    label: str
    base_url: str
    models: list[OfferedModel]


class OfferList(BaseModel):
    """The servers found. None is used until the user says so."""

    items: list[OfferedServer]
    next: None = None


class Choice(RequestBody):
    """The server to use from now on."""

    base_url: Name
    model: Name = ""
    """May be left out where the server has just one."""
    api_key: Name = ""
    """Goes into the system's keyring, else stays in memory; never into a file of ours."""


@table.route("GET", "models", answer=ModelList, action="read", kernel=True)
async def list_models(call: Call) -> BaseModel:
    """The models of the connected server, by name."""
    connection = call.service.connections.current()
    served = await asyncio.to_thread(served_models, connection)
    items = [
        ModelName(
            name=one.name, configured=one.name == connection.name, context_size=one.context_size
        )
        for one in served
        if call.service.connections.administrator.allows(one.name)
    ]
    return ModelList(items=items)


@table.route("GET", "models/offers", answer=OfferList, action="read", kernel=True)
async def list_offers(call: Call) -> BaseModel:
    """The model servers that run on this machine; none where the configuration names one."""
    connections = call.service.connections
    found = [] if connections.is_configured else await asyncio.to_thread(find_servers)
    return OfferList(items=[_offer(one) for one in found])


@table.route("PUT", "models/connection", answer=ModelState, action="write", body=Choice)
async def choose_model(call: Call) -> BaseModel:
    """Use this server and model, from now on and after a restart, if they answer.

    What does not is refused with the part that is wrong and the models there are; whoever
    answered before goes on answering.
    """
    choice, connections = call.body, call.service.connections
    proposed = connections.proposed(choice.base_url, choice.model, choice.api_key)
    connection = connections.choose(await asyncio.to_thread(try_out, proposed))
    return await asyncio.to_thread(state_of, connection)


@table.route("DELETE", "models/connection", answer=ModelState, action="write")
async def forget_model(call: Call) -> BaseModel:
    """Forget the chosen server and its key. The built-in guide answers again."""
    return await asyncio.to_thread(state_of, call.service.connections.forget())


def _offer(found: FoundServer) -> OfferedServer:
    models = [
        OfferedModel(name=model.name, context_size=model.context_size) for model in found.models
    ]
    return OfferedServer(
        provider=found.provider, label=found.label, base_url=found.base_url, models=models
    )
