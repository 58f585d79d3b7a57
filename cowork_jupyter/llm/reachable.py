"""Does the configured model answer? One cheap look at `{base_url}/models`.

Uses the standard library, not the OpenAI client: health must stay light, and the
question is only whether somebody is there and knows the model.
"""

from __future__ import annotations

import asyncio
import json
import time
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from ..domain.errors import Unavailable
from ..domain.health import ModelState
from ..domain.settings import Settings

HOW_TO_CONNECT = (
    "No language model is connected. Set COWORK_BASE_URL and COWORK_MODEL "
    "(and COWORK_API_KEY if the server wants one), then start Jupyter again."
)

_PROVIDERS_BY_PORT = {11434: "ollama", 1234: "lmstudio", 8000: "vllm", 8080: "llama.cpp"}
_LOCAL_HOSTS = {"localhost", "127.0.0.1", "::1"}
_MAX_ANSWER = 4 * 1024 * 1024
_ANSWER_IS_FRESH_FOR = 30.0
_TIMEOUT = 3.0


class ModelProbe:
    """Remembers for a while what the last look found, and never looks twice at once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = asyncio.Lock()
        self._state: ModelState | None = None
        self._looked_at = float("-inf")

    async def state(self, *, fresh: bool = False) -> ModelState:
        """The model's state, from memory unless it is old or a fresh look is asked for."""
        asked_at = time.monotonic()
        async with self._lock:
            newest_useful = asked_at if fresh else asked_at - _ANSWER_IS_FRESH_FOR
            if self._state is None or self._looked_at < newest_useful:
                self._state = await asyncio.to_thread(look, self._settings)
                self._looked_at = time.monotonic()
            return self._state


def look(settings: Settings) -> ModelState:
    """Ask the server once which models it has."""
    state = ModelState(
        provider=provider_of(settings.base_url),
        name=settings.model or None,
        base_url=settings.base_url or None,
        ready=False,
        why_not=None,
    )
    if not settings.base_url:
        return state.model_copy(update={"why_not": HOW_TO_CONNECT})
    try:
        served = _served_models(settings)
    except _NotReachable as problem:
        return state.model_copy(update={"why_not": str(problem)})
    return state.model_copy(update=_judge(settings, served))


def served_models(settings: Settings) -> list[str]:
    """The names of all models that the server has; raises `Unavailable` when it cannot be asked."""
    if not settings.base_url:
        raise Unavailable(HOW_TO_CONNECT, code="no_model")
    try:
        return _served_models(settings)
    except _NotReachable as problem:
        raise Unavailable(str(problem)) from None


def provider_of(base_url: str) -> str:
    """Whose server this probably is; only ever shown, never acted on."""
    if not base_url:
        return "none"
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "openai-compatible"
    if host == "api.openai.com":
        return "openai"
    if host in _LOCAL_HOSTS and port in _PROVIDERS_BY_PORT:
        return _PROVIDERS_BY_PORT[port]
    return "openai-compatible"


def _judge(settings: Settings, served: list[str]) -> dict[str, Any]:
    known = set(served) | {name.removesuffix(":latest") for name in served}
    if settings.model in known:
        return {"ready": True}
    if not settings.model and len(served) == 1:
        return {"ready": True, "name": served[0]}
    some = ", ".join(served[:5]) + (" …" if len(served) > 5 else "")
    if not served:
        why = f"{settings.base_url} answers but serves no model. Load one there, then check again."
    elif settings.model:
        why = (
            f"{settings.base_url} does not serve the model '{settings.model}'. "
            f"Set COWORK_MODEL to one of: {some}"
        )
    else:
        why = f"No model is chosen. Set COWORK_MODEL to one of: {some}"
    return {"why_not": why}


class _NotReachable(Exception):
    """Carries the sentence to show."""


def _served_models(settings: Settings) -> list[str]:
    url = settings.base_url
    if not url.startswith(("http://", "https://")):
        raise _NotReachable(
            f"'{url}' is not a web address. "
            "Set COWORK_BASE_URL to something like http://localhost:11434/v1."
        )
    key = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
    try:
        request = urllib.request.Request(f"{url}/models", headers=key)  # noqa: S310
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:  # noqa: S310
            body = answer.read(_MAX_ANSWER)
        return [str(entry["id"]) for entry in json.loads(body)["data"]]
    except urllib.error.HTTPError as error:
        with error:
            raise _NotReachable(_sentence_for_status(url, error.code)) from None
    except (OSError, HTTPException, ValueError, KeyError, TypeError) as error:
        raise _NotReachable(_sentence_for_failure(url, error)) from None


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
