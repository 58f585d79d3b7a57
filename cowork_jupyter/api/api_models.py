"""The endpoints about models: which answers, which others there are, and choosing one."""

from __future__ import annotations

import asyncio

from pydantic import BaseModel

from ..connections import state_of, verify_connection
from ..domain.health import ModelState
from ..domain.settings import Price
from ..llm.discovery import FoundServer, find_servers
from ..llm.providers import SuggestedModel, all_providers, suggested
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
    """How many tokens it takes, as far as anybody knows."""
    small: bool = False
    """Whether it is the one for summaries and completions."""
    price: Price | None = None
    """What a million tokens cost, and when that was looked up."""


class ModelList(BaseModel):
    """The models of the connected server."""

    items: list[ModelName]
    currency: str
    """Of all prices."""
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


class OfferedProvider(BaseModel):
    """A well-known provider of models."""

    id: str
    label: str
    base_url: str
    """With `{placeholders}` for what is the user's own."""
    key_variable: str
    """The environment variable that usually holds the key; empty where none is needed."""
    key_is_set: bool
    """Whether the server has that variable; its value is never told."""
    models: list[SuggestedModel]
    """Some of them, with what is known of each."""


class ProviderList(BaseModel):
    """All providers that are known, in the order in which they are offered."""

    items: list[OfferedProvider]
    currency: str
    """Of all prices."""
    next: None = None


class Choice(RequestBody):
    """The server to use from now on."""

    base_url: Name
    model: Name = ""
    """May be left out where the server has just one."""
    api_key: Name = ""
    """Goes into the system's keyring, else stays in memory; never into a file of ours."""
    small_model: Name = ""
    """Another model of this server, for summaries and completions."""
    provider: Name = ""
    """The provider that was picked from the list. At its own address, and without a key typed in,
    the one in its environment variable is used."""


@table.route("GET", "models", answer=ModelList, action="read", kernel=True)
async def list_models(call: Call) -> BaseModel:
    """The models of the connected server, by name."""
    connection = call.service.connections.current()
    served = await asyncio.to_thread(served_models, connection)
    prices = call.service.settings.prices
    items = [
        ModelName(
            name=model.name,
            configured=model.name == connection.name,
            context_size=model.context_size
            or suggested(connection.base_url, model.name).context_size,
            small=model.name == connection.small_model,
            price=prices.get(model.name),
        )
        for model in served
        if call.service.connections.administrator.allows(model.name)
    ]
    return ModelList(items=items, currency=call.service.settings.currency)


@table.route("GET", "models/offers", answer=OfferList, action="read", kernel=True)
async def list_offers(call: Call) -> BaseModel:
    """The model servers that run on this machine; none where the configuration names one."""
    connections = call.service.connections
    found = [] if connections.is_configured else await asyncio.to_thread(find_servers)
    return OfferList(items=[_offer(server) for server in found])


@table.route("GET", "providers", answer=ProviderList, action="read", kernel=True)
async def list_providers(call: Call) -> BaseModel:
    """The well-known providers, for the form in which one is connected.

    Prices are those that count here, also where a user or an administrator has set others.
    """
    connections, prices = call.service.connections, call.service.settings.prices
    items = [
        OfferedProvider(
            **provider.model_dump(include={"id", "label", "base_url", "key_variable"}),
            key_is_set=connections.has_environment_key(provider),
            models=[
                model.model_copy(update={"price": prices.get(model.name)})
                for model in provider.models
                if connections.administrator.allows(model.name)
            ],
        )
        for provider in all_providers()
    ]
    return ProviderList(items=items, currency=call.service.settings.currency)


@table.route("PUT", "models/connection", answer=ModelState, action="write", body=Choice)
async def choose_model(call: Call) -> BaseModel:
    """Use this server and model, from now on and after a restart, if they answer.

    What does not is refused with the part that is wrong and the models there are; whoever
    answered before goes on answering.
    """
    choice, connections = call.body, call.service.connections
    proposed = connections.propose(
        *(choice.base_url, choice.model, choice.api_key),
        small_model=choice.small_model,
        provider=choice.provider,
    )
    connection = connections.choose(await asyncio.to_thread(verify_connection, proposed))
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
