"""Model servers that run on this machine, found by knocking at their usual ports.

Only on loopback, only with requests that read, without any key; nothing found is used
before the user says so.
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
    """A kind of server, and where it usually is."""

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
    """A server that answered."""

    provider: str
    label: str
    base_url: str
    models: tuple[ServedModel, ...]


def find_servers(usual: Sequence[KnownServer] | None = None) -> list[FoundServer]:
    """All that answer now, in the order in which they are known."""
    usual = KNOWN_SERVERS if usual is None else usual
    with ThreadPoolExecutor(len(usual)) as http_sessions:
        return [found for found in http_sessions.map(_knock, usual) if found]


def _knock(at: KnownServer) -> FoundServer | None:
    root = f"http://127.0.0.1:{at.port}"
    try:
        served = read_models(Connection(f"{root}/v1"), _PATIENCE)[:_MAX_MODELS]
    except NotReachable:
        return None
    if not served:
        return None
    models = [sized(at.provider, root, model) for model in served]
    return FoundServer(at.provider, at.label, f"{root}/v1", tuple(models))


def sized(provider: str, root: str, model: ServedModel) -> ServedModel:
    """With its context size, where the server has a place of its own for that."""
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
    """A JSON object from there; empty if there is none to be had."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"} if data else {}
    request = urllib.request.Request(url, data, headers)  # noqa: S310
    try:
        with open_url(request, _PATIENCE) as answer:
            found = json.loads(answer.read(_MAX_SIZE))
    except (OSError, HTTPException, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
