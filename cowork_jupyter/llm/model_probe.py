"""Probes model servers with one cheap request for `{base_url}/models`.

Uses the standard library instead of the OpenAI client, because health must stay light. Servers
on this machine are found at their usual ports: only on loopback, only with read requests, without
any key; nothing found is used before the user says so.
"""

from __future__ import annotations

import asyncio
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from ..domain.errors import Unavailable
from ..domain.health import ModelProblem, ModelState
from ..domain.settings import Connection
from .providers import LOCAL_HOSTS, all_providers, provider_at

HOW_TO_CONNECT = (
    "No language model is connected. Connect one in the Cowork panel or on the `%cowork` card."
)

_CONTEXT_NAMES = (
    *("loaded_context_length", "n_ctx", "max_model_len", "context_length", "context_window"),
    *("max_context_length", "n_ctx_train"),
)
"""What is in use comes before what the model was trained for."""
_MAX_ANSWER = 4 * 1024 * 1024
_ANSWER_IS_FRESH_FOR = 30.0
_TIMEOUT = 3.0
_KEY_REFUSED = (401, 403)
_MAX_LISTED = 1_000


@dataclass(frozen=True)
class ServedModel:
    name: str
    context_size: int | None = None
    calls_tools: bool | None = None
    """None if the server does not say."""


class ModelProbe:
    """Caches the last probe for a while, and never probes twice at once."""

    def __init__(
        self, connection: Callable[[], Connection], look: Callable[[Connection], ModelState]
    ) -> None:
        self._connection, self._look = connection, look
        self._seen: Connection | None = None
        self._lock = asyncio.Lock()
        self._state: ModelState | None = None
        self._looked_at = float("-inf")

    async def state(self, *, fresh: bool = False) -> ModelState:
        asked_at = time.monotonic()
        async with self._lock:
            newest_useful = asked_at if fresh else asked_at - _ANSWER_IS_FRESH_FOR
            connection = self._connection()
            is_fresh = self._seen == connection and self._looked_at >= newest_useful
            if self._state is None or not is_fresh:
                self._state = await asyncio.to_thread(self._look, connection)
                self._seen, self._looked_at = connection, time.monotonic()
            return self._state


def probe(connection: Connection) -> ModelState:
    state = ModelState(
        provider=provider_of(connection),
        name=connection.name or None,
        base_url=connection.place or None,
        ready=False,
        why_not=None,
        source=connection.source,
        small_model=connection.small_model,
    )
    if connection.is_built_in:
        return state.model_copy(update={"ready": True})
    try:
        served = read_models(connection)
    except NotReachable as failure:
        if isinstance(failure, Busy) and connection.model:
            return state.model_copy(update={"ready": True})
        problem_fields = {"why_not": str(failure), "problem": failure.problem}
        return state.model_copy(update=problem_fields)
    return state.model_copy(update=_state_of(connection, [model.name for model in served]))


def served_models(connection: Connection) -> list[ServedModel]:
    if connection.is_built_in or connection.local:
        return [ServedModel(connection.name)]
    try:
        return read_models(connection)
    except NotReachable as failure:
        raise Unavailable(str(failure), code="no_model") from None


def provider_of(connection: Connection) -> str:
    if connection.is_built_in:
        return "built-in"
    if connection.local:
        return "local"
    if not connection.base_url:
        return "none"
    provider = provider_at(connection.base_url)
    return provider.id if provider else "openai-compatible"


def _state_of(connection: Connection, served: list[str]) -> dict[str, Any]:
    where, wanted = connection.place, connection.model
    # Ollama may omit the suffix, and Google the prefix.
    short = {name.removesuffix(":latest").removeprefix("models/") for name in served}
    provider = provider_at(connection.base_url)
    if wanted in {*served, *short} or (wanted and provider and provider.names_deployments):
        return {"ready": True}
    if not wanted and len(served) == 1:
        return {"ready": True, "name": served[0]}
    if not served:
        why = f"{where} answers but has no model. Load one there, then try again."
        return {"why_not": why, "problem": "server"}
    some = ", ".join(served[:5]) + (" …" if len(served) > 5 else "")
    lacks = f"{where} does not have the model '{wanted}'." if wanted else "No model is chosen."
    why = f"{lacks} Set {connection.fields.model} to one of: {some}"
    return {"why_not": why, "problem": "model", "models": served[:_MAX_LISTED]}


class NotReachable(Exception):
    def __init__(self, message: str, problem: ModelProblem = "address") -> None:
        super().__init__(message)
        self.problem = problem


class Busy(NotReachable):
    """The server accepts connections but is slow: on laptops many do one thing at a time."""


def read_models(connection: Connection, timeout: float = _TIMEOUT) -> list[ServedModel]:
    """Raises `NotReachable` with the sentence to show."""
    url, fields = connection.base_url, connection.fields
    if not url:
        why = f"No server is set for the model '{connection.model}'. Set {fields.address}."
        raise NotReachable(why)
    if not url.startswith(("http://", "https://")):
        raise NotReachable(
            f"'{connection.place}' is not a web address. "
            f"Set {fields.address} to something like http://localhost:11434/v1."
        )
    try:
        with open_url(_request(connection, "models"), timeout) as answer:
            body = answer.read(_MAX_ANSWER)
        return [
            ServedModel(str(entry["id"]), context_size(entry), _calls_tools(entry))
            for entry in json.loads(body)["data"]
        ]
    except urllib.error.HTTPError as error:
        with error:
            raise _refusal(connection, error.code) from None
    except TimeoutError:  # a connection that was never made is a `URLError`
        why = f"{connection.place} is busy: it has not answered for {timeout:g} s. Try again later."
        raise Busy(why, "server") from None
    except (OSError, HTTPException, ValueError, KeyError, TypeError) as error:
        raise NotReachable(_sentence_for_failure(connection, error)) from None


def check_key(connection: Connection) -> None:
    """Raise `NotReachable` if chatting needs another key.

    Many servers list their models to anybody. A chat without messages is refused by all of them, at
    no cost, and with 401 only because of the key.
    """
    empty = json.dumps({"model": connection.model, "messages": []}).encode()
    try:
        with open_url(_request(connection, "chat/completions", empty), _TIMEOUT):
            return
    except urllib.error.HTTPError as error:
        with error:
            if error.code in _KEY_REFUSED:
                raise _refusal(connection, error.code) from None
    except (OSError, HTTPException, ValueError):
        return  # its models were listed: leave it to the first question


def _request(
    connection: Connection, path: str, body: bytes | None = None
) -> urllib.request.Request:
    headers = {"Content-Type": "application/json"} if body else {}
    request = urllib.request.Request(f"{connection.base_url}/{path}", body, headers)  # noqa: S310
    provider, key = provider_at(connection.base_url), connection.api_key
    own = provider.list_headers if provider and path == "models" else {}
    for name, value in (own or {"Authorization": "Bearer {key}"}).items():
        if key or "{key}" not in value:
            # Not sent along with redirects, which may lead to another host.
            request.add_unredirected_header(name, value.replace("{key}", key))
    return request


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A request to this machine must not be redirected elsewhere."""

    def redirect_request(self, *_: Any) -> None:
        pass


def open_url(request: urllib.request.Request, timeout: float) -> Any:
    """Requests to this machine bypass proxies and follow no redirects."""
    handlers: list[urllib.request.BaseHandler] = []
    if urlsplit(request.full_url).hostname in LOCAL_HOSTS:
        handlers = [urllib.request.ProxyHandler({}), _NoRedirects()]
    return urllib.request.build_opener(*handlers).open(request, timeout=timeout)


def context_size(entry: dict[str, Any]) -> int | None:
    inner = entry.get("meta") if isinstance(entry.get("meta"), dict) else {}
    for facts in (entry, inner or {}):
        for name in _CONTEXT_NAMES:
            if isinstance(facts.get(name), int):
                return int(facts[name])
    return None


def _calls_tools(entry: dict[str, Any]) -> bool | None:
    """As OpenRouter, Mistral and LM Studio report it."""
    parameters, abilities = entry.get("supported_parameters"), entry.get("capabilities")
    if isinstance(parameters, list):
        return "tools" in parameters
    if isinstance(abilities, dict) and isinstance(abilities.get("function_calling"), bool):
        return bool(abilities["function_calling"])
    return True if isinstance(abilities, list) and {"tool_use", "tools"} & {*abilities} else None


def _refusal(connection: Connection, status: int) -> NotReachable:
    url, fields = connection.place, connection.fields
    if status in _KEY_REFUSED:
        asks = "refuses the key" if connection.api_key else "requires a key"
        return NotReachable(f"{url} {asks} ({status}). Set {fields.key} to a valid one.", "key")
    if status == 404:
        return NotReachable(
            f"{url} answers, but has no models there (404). "
            f"Check {fields.address}; it usually ends in /v1."
        )
    trouble = f"{url} reports an internal error (HTTP {status}). Check that server, then try again."
    return NotReachable(trouble, "server")


def _sentence_for_failure(connection: Connection, error: Exception) -> str:
    url, address = connection.place, connection.fields.address
    if isinstance(error, OSError):
        return (
            f"Nothing answers at {url}. Start the model server there, "
            f"or correct {address}, then try again."
        )
    return (
        f"{url} answers, but not like an OpenAI-compatible server. "
        f"Check {address}; it usually ends in /v1."
    )


_PROBE_TIMEOUT = 0.7
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
        return [server for server in threads.map(_probe, candidates) if server]


def _probe(at: KnownServer) -> FoundServer | None:
    root = f"http://127.0.0.1:{at.port}"
    try:
        served = read_models(Connection(f"{root}/v1"), _PROBE_TIMEOUT)[:_MAX_MODELS]
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
        with open_url(request, _PROBE_TIMEOUT) as answer:
            parsed = json.loads(answer.read(_MAX_SIZE))
    except (OSError, HTTPException, ValueError):
        return {}
    return parsed if isinstance(parsed, dict) else {}
