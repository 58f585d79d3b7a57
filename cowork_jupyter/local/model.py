"""A local model, asked like any other: its process starts with the first question."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

from ..llm.chunks import Chunk, ModelRequest, Restarted
from ..llm.client import Model
from ..llm.failures import ModelError, UnknownModel
from ..llm.retries import RetryPolicy
from .process import Endpoint
from .server import CONTEXT, LocalServer

_PATIENT = RetryPolicy(patience=0, first=1_800.0, idle=300.0)
"""A small machine reads a long prompt for minutes, and nobody else can be asked instead."""


class LocalModel:
    """What `llm.client.Model` is for a server, for a model file."""

    is_guide = False

    def __init__(
        self, file: Path, *, context: int = CONTEXT, options: Mapping[str, Any] | None = None
    ) -> None:
        self.server = LocalServer(file, context=context)
        self.name = self.server.name
        self._options = options
        self._models: dict[Endpoint, Model] = {}

    async def aclose(self) -> None:
        for model in self._models.values():
            await model.aclose()
        await self.server.close()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk, None]:
        """Ask, and yield the answer as it comes. A process that dies is started again, once."""
        if request.model not in ("", self.name):
            raise UnknownModel(
                f"'{request.model}' is not available here, only the local model {self.name}: "
                "choose that one for this conversation."
            )
        for attempt in (1, 2):
            endpoint = await self.server.endpoint()
            try:
                async with aclosing(self._at(endpoint).stream(request)) as chunks:
                    async for chunk in chunks:
                        yield chunk
                return
            except ModelError as error:
                died = error.retryable and await self.server.lost(endpoint)
                if attempt == 2 or not died:
                    raise
            yield Restarted("The local model's process ended. Restarting it.", 2, 0.0)

    def _at(self, endpoint: Endpoint) -> Model:
        """Each start has an address and a key of its own."""
        if endpoint not in self._models:
            self._models[endpoint] = Model(
                base_url=endpoint.base_url,
                model=endpoint.model,
                api_key=endpoint.api_key,
                retries=_PATIENT,
                options=self._options,
            )
        return self._models[endpoint]
