"""Endpoints for language models: which one answers, which others exist, and choosing one."""

from __future__ import annotations

import asyncio

from pydantic import BaseModel

from ..domain.health import ModelState
from ..domain.settings import Price
from ..llm.model_probe import find_servers, served_models
from ..llm.providers import SuggestedModel, all_providers, find_model
from ..service.connections import state_of, verify_connection
from .calls import Call
from .models import Items, Name, RequestBody
from .routes import table


class ModelName(BaseModel):
    """A model of the connected server."""

    name: str
    configured: bool
    """Whether it is the default."""
    context_size: int | None = None
    """In tokens, if known."""
    small: bool = False
    """Whether it is used for summaries and completions."""
    price: Price | None = None
    """Per million tokens, with the date of the price."""


class ModelList(BaseModel):
    """The models of the connected server."""

    items: list[ModelName]
    currency: str
    """Of all prices."""
    next: None = None


class OfferedModel(BaseModel):
    """A model of a server that is not connected."""

    name: str
    context_size: int | None


class OfferedServer(BaseModel):
    """A model server on this machine that could be used."""

    provider: str
    label: str
    base_url: str
    models: list[OfferedModel]


class OfferList(Items[OfferedServer]):
    """The servers found. None is used until the user chooses it."""


class OfferedProvider(BaseModel):
    """A well-known provider of models."""

    id: str
    label: str
    base_url: str
    """With `{placeholders}` for what depends on the user."""
    key_variable: str
    """The environment variable that usually holds the key; empty if none is needed."""
    key_is_set: bool
    """Whether the server has that variable; its value is never sent."""
    models: list[SuggestedModel]
    """A selection, with what is known about each."""


class ProviderList(BaseModel):
    """All known providers, in display order."""

    items: list[OfferedProvider]
    currency: str
    """Of all prices."""
    next: None = None


class Choice(RequestBody):
    """The server to use from now on."""

    base_url: Name
    model: Name = ""
    """Can be left out if the server has just one."""
    api_key: Name = ""
    """Stored in the system's keyring, else kept in memory; never in a file of ours."""
    small_model: Name = ""
    """Another model of this server, for summaries and completions."""
    provider: Name = ""
    """The provider picked from the list. At its own address, and without a typed key, the key in
    its environment variable is used.
    """


@table.get("models", ModelList, kernel=True)
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
            or find_model(connection.base_url, model.name).context_size,
            small=model.name == connection.small_model,
            price=prices.get(model.name),
        )
        for model in served
        if call.service.connections.administrator.allows(model.name)
    ]
    return ModelList(items=items, currency=call.service.settings.currency)


@table.get("models/offers", OfferList, kernel=True)
async def list_offers(call: Call) -> BaseModel:
    """The model servers that run on this machine; none where the configuration names one."""
    connections = call.service.connections
    servers = [] if connections.is_configured else await asyncio.to_thread(find_servers)
    items = [OfferedServer.model_validate(server, from_attributes=True) for server in servers]
    return OfferList(items=items)


@table.get("providers", ProviderList, kernel=True)
async def list_providers(call: Call) -> BaseModel:
    """The well-known providers, for the form that connects one.

    Prices include overrides by the user or an administrator.
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


@table.put("models/connection", ModelState, body=Choice)
async def choose_model(call: Call) -> BaseModel:
    """Use this server and model from now on, also after a restart, if they answer.

    Otherwise the error says which part is wrong and which models there are, and the previous
    connection stays.
    """
    choice, connections = call.body, call.service.connections
    proposed = connections.propose(
        *(choice.base_url, choice.model, choice.api_key),
        small_model=choice.small_model,
        provider=choice.provider,
    )
    connection = connections.choose(await asyncio.to_thread(verify_connection, proposed))
    return await asyncio.to_thread(state_of, connection)


@table.delete("models/connection", answer=ModelState)
async def forget_model(call: Call) -> BaseModel:
    """Forget the chosen server and its key. The built-in guide answers again."""
    return await asyncio.to_thread(state_of, call.service.connections.forget())
