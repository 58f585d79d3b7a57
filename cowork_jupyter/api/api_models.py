"""The endpoint about models: what the connected server has, by name."""

from __future__ import annotations

import asyncio

from pydantic import BaseModel

from ..llm.reachable import served_models
from .calls import Call
from .routes import table


class ModelName(BaseModel):
    """One model."""

    name: str
    configured: bool
    """Whether it is the one that answers unless another is asked for."""


class ModelList(BaseModel):
    """The models of the connected server."""

    items: list[ModelName]
    next: None = None


@table.route("GET", "models", answer=ModelList, action="read", kernel=True)
async def list_models(call: Call) -> BaseModel:
    """The models that the connected server has, by name."""
    settings = call.service.settings
    names = await asyncio.to_thread(served_models, settings)
    items = [ModelName(name=one, configured=one == settings.model) for one in names]
    return ModelList(items=items)
