"""What is known of each model: what its server says, what the user set, what was learnt.

What was learnt is kept in one file, by server and model, so that the next conversation need not
learn it again. A server may be started anew with a larger window, so after a day it is forgotten.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from ..domain.connection import BUILT_IN, Connection
from ..domain.settings import ProtocolChoice, ToolProtocol
from .discovery import sized
from .protocols import protocol_for
from .providers import SuggestedModel, suggested
from .reachable import NotReachable, ServedModel, provider_of, read_models

_LISTING = 1.0
"""Seconds that a first question waits for the server's list of models."""
_DAY = 86_400.0


class Learnt(BaseModel):
    """What trying has shown of one model."""

    window: int | None = None
    """Tokens that it takes, question and answer together."""
    protocol: ToolProtocol | None = None
    """How it calls tools, where the API's own way did not work."""
    at: float = 0.0
    """When that was, in seconds since 1970."""


_KEPT = TypeAdapter(dict[str, Learnt])


class KnownModels:
    """One file for all workspaces."""

    def __init__(
        self,
        file: Path | None = None,
        connection: Callable[[], Connection] = Connection,
        context_size: int = 0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`context_size` is what the user set; without a file, nothing outlives the process."""
        self._file = file
        self._connection = connection
        self._context_size = context_size
        self._clock = clock
        self._listed: dict[Connection, dict[str, ServedModel]] = {}
        self._looks: dict[Connection, asyncio.Task[None]] = {}
        self._learnt: dict[str, Learnt] | None = None

    async def look(self) -> None:
        """Ask the server for its models, once; one that does not say soon is as good as unknown."""
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
        """The models that the server has listed so far."""
        listed = self._listed.get(self._connection(), {})
        return list(dict.fromkeys(model.name for model in listed.values()))

    def window(self, model: str) -> int | None:
        """How many tokens the model takes, as far as anybody knows."""
        said = self._said(model).context_size or self._suggested(model).context_size
        known = [self._context_size or said, self._of(model).window]
        return min((size for size in known if size), default=None)

    def protocol(self, choice: ProtocolChoice, model: str) -> ToolProtocol:
        """How to let it call tools: as was chosen, as worked before, else as is known of it."""
        known = self._of(model).protocol or self._suggested(model).protocol
        if choice == "auto" and known:
            return known
        return protocol_for(choice, model, calls_tools=self._said(model).calls_tools)

    def learn_window(self, model: str, window: int) -> None:
        """Trying has shown that it takes no more than this."""
        self._keep(model, window=window)

    def learn_protocol(self, model: str, protocol: ToolProtocol) -> None:
        """Trying has shown that it calls tools better in this way."""
        self._keep(model, protocol=protocol)

    def _said(self, model: str) -> ServedModel:
        """What its server says of it."""
        listed = self._listed.get(self._connection(), {})
        return listed.get(model.removesuffix(":latest")) or ServedModel(model)

    def _suggested(self, model: str) -> SuggestedModel:
        return suggested(self._connection().base_url, model)

    def _of(self, model: str) -> Learnt:
        if self._learnt is None:
            self._learnt = self._read()
        learnt = self._learnt.get(self._key(model), Learnt())
        return learnt if self._clock() - learnt.at < _DAY else Learnt()

    def _key(self, model: str) -> str:
        return f"{self._connection().place} {model}".strip()

    def _keep(self, model: str, **news: object) -> None:
        """Other processes write there too, so the file is read again before."""
        learnt = self._of(model).model_copy(update={**news, "at": self._clock()})
        self._learnt = {**(self._learnt or {}), **self._read(), self._key(model): learnt}
        if self._file is None or model == BUILT_IN:
            return
        with suppress(OSError):  # what cannot be kept is learnt again
            self._file.parent.mkdir(parents=True, exist_ok=True)
            temporary = self._file.with_suffix(f".{os.getpid()}.tmp")
            temporary.write_bytes(_KEPT.dump_json(self._learnt, exclude_defaults=True))
            temporary.replace(self._file)

    def _read(self) -> dict[str, Learnt]:
        with suppress(OSError, ValueError):  # not there, or broken: nothing is known
            return _KEPT.validate_json(self._file.read_bytes()) if self._file else {}
        return {}


def _served(connection: Connection) -> list[ServedModel]:
    """The server's models; each with its size where there is a place of its own for that."""
    try:
        served = read_models(connection, _LISTING)
    except NotReachable:
        return []
    root = connection.base_url.removesuffix("/v1")
    provider = provider_of(connection)
    return [
        sized(provider, root, model) if model.name == connection.model else model
        for model in served
    ]
