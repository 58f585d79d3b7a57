"""Does the connected model answer? One cheap look at `{base_url}/models`.

Uses the standard library, not the OpenAI client: health must stay light, and the
question is only whether somebody is there and knows the model.
"""

from __future__ import annotations

import asyncio
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from ..domain.connection import BUILT_IN, Connection
from ..domain.errors import Unavailable
from ..domain.health import ModelState

HOW_TO_CONNECT = (
    "No language model is connected. Set COWORK_BASE_URL and COWORK_MODEL (and COWORK_API_KEY "
    "if the server wants one) and start again, or choose a model in the Cowork panel."
)

_PROVIDERS_BY_PORT = {11434: "ollama", 1234: "lmstudio", 8000: "vllm", 8080: "llama.cpp"}
_LOCAL_HOSTS = {"localhost", "127.0.0.1", "::1"}
_CONTEXT_NAMES = (
    *("loaded_context_length", "max_context_length", "max_model_len", "context_length"),
    *("n_ctx", "n_ctx_train"),
)
_MAX_ANSWER = 4 * 1024 * 1024
_ANSWER_IS_FRESH_FOR = 30.0
_TIMEOUT = 3.0


@dataclass(frozen=True)
class ServedModel:
    """One model of a server."""

    name: str
    context_size: int | None = None
    """How many tokens it takes, where the server tells."""


class ModelProbe:
    """Remembers for a while what the last look found, and never looks twice at once."""

    def __init__(self, connection: Callable[[], Connection]) -> None:
        self._connection = connection
        self._seen: Connection | None = None
        self._lock = asyncio.Lock()
        self._state: ModelState | None = None
        self._looked_at = float("-inf")

    async def state(self, *, fresh: bool = False) -> ModelState:
        """The model's state, from memory unless it is old or a fresh look is asked for."""
        asked_at = time.monotonic()
        async with self._lock:
            newest_useful = asked_at if fresh else asked_at - _ANSWER_IS_FRESH_FOR
            connection = self._connection()
            known = self._seen == connection and self._looked_at >= newest_useful
            if self._state is None or not known:
                self._state = await asyncio.to_thread(look, connection)
                self._seen, self._looked_at = connection, time.monotonic()
            return self._state


def look(connection: Connection) -> ModelState:
    """Ask the server once which models it has."""
    state = ModelState(
        provider=provider_of(connection),
        name=connection.name or None,
        base_url=connection.base_url or None,
        ready=False,
        why_not=None,
        chosen=connection.chosen,
    )
    if connection.is_guide:
        return state.model_copy(update={"ready": True})
    if not connection.base_url:
        return state.model_copy(update={"why_not": HOW_TO_CONNECT})
    try:
        served = read_models(connection.base_url, connection.api_key)
    except NotReachable as problem:
        return state.model_copy(update={"why_not": str(problem)})
    return state.model_copy(update=_judge(connection, [one.name for one in served]))


def served_models(connection: Connection) -> list[ServedModel]:
    """All models that the server has; raises `Unavailable` when it cannot be asked."""
    if connection.is_guide:
        return [ServedModel(BUILT_IN)]
    if connection.local:
        return [ServedModel(connection.model)]
    if not connection.base_url:
        raise Unavailable(HOW_TO_CONNECT, code="no_model")
    try:
        return read_models(connection.base_url, connection.api_key)
    except NotReachable as problem:
        raise Unavailable(str(problem)) from None


def provider_of(connection: Connection) -> str:
    """Whose server this probably is; only ever shown, never acted on."""
    if connection.is_guide:
        return "built-in"
    if connection.local:
        return "local"
    if not connection.base_url:
        return "none"
    try:
        parts = urlsplit(connection.base_url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "openai-compatible"
    if host == "api.openai.com":
        return "openai"
    if host in _LOCAL_HOSTS and port in _PROVIDERS_BY_PORT:
        return _PROVIDERS_BY_PORT[port]
    return "openai-compatible"


def _judge(connection: Connection, served: list[str]) -> dict[str, Any]:
    where, wanted = connection.base_url, connection.model
    known = set(served) | {name.removesuffix(":latest") for name in served}
    if wanted in known:
        return {"ready": True}
    if not wanted and len(served) == 1:
        return {"ready": True, "name": served[0]}
    some = ", ".join(served[:5]) + (" …" if len(served) > 5 else "")
    if not served:
        why = f"{where} answers but serves no model. Load one there, then check again."
    elif wanted:
        why = f"{where} does not serve the model '{wanted}'. Set COWORK_MODEL to one of: {some}"
    else:
        why = f"No model is chosen. Set COWORK_MODEL to one of: {some}"
    return {"why_not": why}


class NotReachable(Exception):
    """Carries the sentence to show."""


def read_models(url: str, api_key: str = "", timeout: float = _TIMEOUT) -> list[ServedModel]:
    """What a server says it serves; raises `NotReachable` with the sentence to show."""
    if not url.startswith(("http://", "https://")):
        raise NotReachable(
            f"'{url}' is not a web address. "
            "Set COWORK_BASE_URL to something like http://localhost:11434/v1."
        )
    key = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    try:
        request = urllib.request.Request(f"{url}/models", headers=key)  # noqa: S310
        with open_url(request, timeout) as answer:
            body = answer.read(_MAX_ANSWER)
        return [
            ServedModel(str(entry["id"]), context_size(entry)) for entry in json.loads(body)["data"]
        ]
    except urllib.error.HTTPError as error:
        with error:
            raise NotReachable(_sentence_for_status(url, error.code)) from None
    except (OSError, HTTPException, ValueError, KeyError, TypeError) as error:
        raise NotReachable(_sentence_for_failure(url, error)) from None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """What was asked on this machine is not answered elsewhere."""

    def redirect_request(self, *_: Any) -> None:
        """Nowhere."""


def open_url(request: urllib.request.Request, timeout: float) -> Any:
    """The answer to a request; one to this machine stays on it."""
    handlers: list[urllib.request.BaseHandler] = []
    if urlsplit(request.full_url).hostname in _LOCAL_HOSTS:
        handlers = [urllib.request.ProxyHandler({}), _NoRedirects()]
    return urllib.request.build_opener(*handlers).open(request, timeout=timeout)


def context_size(entry: dict[str, Any]) -> int | None:
    """How many tokens a model takes, by the names that servers have for it."""
    inner = entry.get("meta") if isinstance(entry.get("meta"), dict) else {}
    for told in (entry, inner or {}):
        for name in _CONTEXT_NAMES:
            if isinstance(told.get(name), int):
                return int(told[name])
    return None


def _sentence_for_status(url: str, status: int) -> str:
    if status in (401, 403):
        return f"{url} refuses the key ({status}). Set COWORK_API_KEY to a valid one."
    if status == 404:
        return (
            f"{url} answers, but has no models there (404). "
            "Check COWORK_BASE_URL; it usually ends in /v1."
        )
    return f"{url} has trouble of its own (HTTP {status}). Look at that server, then check again."


def _sentence_for_failure(url: str, error: Exception) -> str:
    if isinstance(error, OSError):
        return (
            f"Nothing answers at {url}. Start the model server there, "
            "or correct COWORK_BASE_URL, then check again."
        )
    return (
        f"{url} answers, but not like an OpenAI-compatible server. "
        "Check COWORK_BASE_URL; it usually ends in /v1."
    )
