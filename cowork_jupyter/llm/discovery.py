"""Finds model servers on this machine by probing their usual ports.

Only on loopback, only with read requests, without any key; nothing found is used before the user
says so.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from http.client import HTTPException
from typing import Any

from ..domain.connection import Connection
from .providers import all_providers
from .reachable import NotReachable, ServedModel, context_size, open_url, read_models

_PATIENCE = 0.7
_MAX_MODELS = 20
_MAX_SIZE = 1024 * 1024


@dataclass(frozen=True)
class KnownServer:
    provider: str
    label: str
    port: int


KNOWN_SERVERS = tuple(
    KnownServer(provider.id, provider.label, provider.port)
    for provider in all_providers()
    if provider.port
)


@dataclass(frozen=True)
class FoundServer:
    provider: str
    label: str
    base_url: str
    models: tuple[ServedModel, ...]


def find_servers(candidates: Sequence[KnownServer] | None = None) -> list[FoundServer]:
    candidates = KNOWN_SERVERS if candidates is None else candidates
    with ThreadPoolExecutor(len(candidates)) as threads:
        return [found for found in threads.map(_probe, candidates) if found]


def _probe(at: KnownServer) -> FoundServer | None:
    root = f"http://127.0.0.1:{at.port}"
    try:
        served = read_models(Connection(f"{root}/v1"), _PATIENCE)[:_MAX_MODELS]
    except NotReachable:
        return None
    if not served:
        return None
    models = [with_context_size(at.provider, root, model) for model in served]
    return FoundServer(at.provider, at.label, f"{root}/v1", tuple(models))


def with_context_size(provider: str, root: str, model: ServedModel) -> ServedModel:
    """Add the context size, for servers that report it at another address."""
    size = model.context_size
    if size is None and provider == "ollama":
        info = _ask(f"{root}/api/show", {"model": model.name}).get("model_info", {})
        sizes = [value for name, value in info.items() if name.endswith(".context_length")]
        size = next((candidate for candidate in sizes if isinstance(candidate, int)), None)
    elif size is None and provider == "lmstudio":
        size = context_size(_ask(f"{root}/api/v0/models/{model.name}"))
    elif size is None and provider == "llama.cpp":
        size = context_size(_ask(f"{root}/props").get("default_generation_settings", {}))
    return replace(model, context_size=size)


def _ask(url: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"} if data else {}
    request = urllib.request.Request(url, data, headers)  # noqa: S310
    try:
        with open_url(request, _PATIENCE) as answer:
            found = json.loads(answer.read(_MAX_SIZE))
    except (OSError, HTTPException, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
