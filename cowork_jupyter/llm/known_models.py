"""What is known about each model: from its server, the user's settings, and experience.

Experience is stored in one file, by server and model. It expires after a day, because a server may
be restarted with a larger window.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from ..domain.settings import Connection, ProtocolChoice, ToolProtocol
from .model_probe import NotReachable, ServedModel, provider_of, read_models, with_context_size
from .protocols import protocol_for
from .providers import SuggestedModel, find_model

_LISTING = 1.0
"""Seconds that the first question waits for the server's list of models."""
_DAY = 86_400.0


class LearnedModel(BaseModel):
    window: int | None = None
    """Context size in tokens, question and answer together."""
    protocol: ToolProtocol | None = None
    """Set where native tool calls did not work."""
    at: float = 0.0


_KEPT = TypeAdapter(dict[str, LearnedModel])


class KnownModels:
    def __init__(
        self,
        file: Path | None = None,
        connection: Callable[[], Connection] = Connection,
        context_size: int = 0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`context_size` is the user's setting; without a file, nothing outlives the process."""
        self._file = file
        self._connection = connection
        self._context_size = context_size
        self._clock = clock
        self._listed: dict[Connection, dict[str, ServedModel]] = {}
        self._looks: dict[Connection, asyncio.Task[None]] = {}
        self._learnt: dict[str, LearnedModel] | None = None

    async def look(self) -> None:
        """Ask the server for its models once, and do not wait long for it."""
        connection = self._connection()
        if not connection.base_url:
            return
        if connection not in self._looks:
            self._looks[connection] = asyncio.create_task(self._list(connection))
        await asyncio.wait([self._looks[connection]], timeout=_LISTING)

    async def _list(self, connection: Connection) -> None:
        served = await asyncio.to_thread(_served, connection)
        listed = {model.name.removesuffix(":latest"): model for model in served}
        if len(served) == 1:  # many servers take any name for their one model
            listed[connection.model] = served[0]
        self._listed[connection] = listed

    def names(self) -> list[str]:
        listed = self._listed.get(self._connection(), {})
        return list(dict.fromkeys(model.name for model in listed.values()))

    def window(self, model: str) -> int | None:
        context_size = self._served(model).context_size or self._suggested(model).context_size
        sizes = [self._context_size or context_size, self._of(model).window]
        return min((size for size in sizes if size), default=None)

    def protocol(self, choice: ProtocolChoice, model: str) -> ToolProtocol:
        protocol = self._of(model).protocol or self._suggested(model).protocol
        if choice == "auto" and protocol:
            return protocol
        return protocol_for(choice, model, calls_tools=self._served(model).calls_tools)

    def learn_window(self, model: str, window: int) -> None:
        self._keep(model, window=window)

    def learn_protocol(self, model: str, protocol: ToolProtocol) -> None:
        self._keep(model, protocol=protocol)

    def _served(self, model: str) -> ServedModel:
        listed = self._listed.get(self._connection(), {})
        return listed.get(model.removesuffix(":latest")) or ServedModel(model)

    def _suggested(self, model: str) -> SuggestedModel:
        return find_model(self._connection().base_url, model)

    def _of(self, model: str) -> LearnedModel:
        if self._learnt is None:
            self._learnt = self._read()
        learnt = self._learnt.get(self._key(model), LearnedModel())
        return learnt if self._clock() - learnt.at < _DAY else LearnedModel()

    def _key(self, model: str) -> str:
        return f"{self._connection().place} {model}".strip()

    def _keep(self, model: str, **news: object) -> None:
        """Re-reads the file first, because other processes write there too."""
        learnt = self._of(model).model_copy(update={**news, "at": self._clock()})
        self._learnt = {**(self._learnt or {}), **self._read(), self._key(model): learnt}
        if self._file is None:
            return
        with suppress(OSError):  # what cannot be kept is learnt again
            self._file.parent.mkdir(parents=True, exist_ok=True)
            temporary = self._file.with_suffix(f".{os.getpid()}.tmp")
            temporary.write_bytes(_KEPT.dump_json(self._learnt, exclude_defaults=True))
            temporary.replace(self._file)

    def _read(self) -> dict[str, LearnedModel]:
        with suppress(OSError, ValueError):  # not there, or broken: nothing is known
            return _KEPT.validate_json(self._file.read_bytes()) if self._file else {}
        return {}


def _served(connection: Connection) -> list[ServedModel]:
    try:
        served = read_models(connection, _LISTING)
    except NotReachable:
        return []
    root = connection.base_url.removesuffix("/v1")
    provider = provider_of(connection)
    return [
        with_context_size(provider, root, model) if model.name == connection.model else model
        for model in served
    ]
