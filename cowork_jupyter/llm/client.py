"""Client of an OpenAI-compatible server: streams one answer, with retries.

Transient failures are retried here; all others become one `ModelError` with one clear sentence.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, suppress
from copy import copy
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote, urlsplit

from ..domain.contexts import Usage
from ..domain.errors import CoworkError
from ..domain.health import ModelState
from ..domain.operations import OK, ModelCalled, Observe
from ..domain.redaction import without_surrogates
from ..domain.settings import CONFIGURATION, Connection, FieldNames
from ..domain.suggestions import SuggestionDone, SuggestionRequest
from .chunks import Chunk, Finished, ModelRequest, Restarted, UsageChunk, merge_text, parse_event
from .failures import (
    Failure,
    FailureClassifier,
    NotAStream,
    Refused,
    RetryPolicy,
    ToolsRefused,
    Unreachable,
)
from .protocols import refused_option

if TYPE_CHECKING:
    from ssl import SSLContext

    from openai import AsyncOpenAI


logger = logging.getLogger(__name__)

_NO_KEY = "no-key"
"""The client library insists on a key; local servers do not."""
_KEEP_ALIVE = 3.0
"""Seconds an idle connection is kept: less than the five after which many servers close theirs, or
a request could go out on a connection that is being closed."""
_USAGE_TIMEOUT = 5.0
_NOT_A_STREAM = ("text/html", "application/json")
_FIELD, _DONE = b"data:", b"[DONE]"
MAX_LINE = 32 * 1024 * 1024
"""A longer line means that this is no event stream."""
_DRAIN_SECONDS = 0.1
"""How long to read past the end: only a connection that was drained can be reused."""


class EventDecoder:
    def __init__(self) -> None:
        self.is_done = False
        self._begun: list[bytes] = []
        self._data: list[bytes] = []

    def feed(self, data: bytes) -> list[bytes]:
        """Return the complete events; raises ValueError if a line exceeds MAX_LINE."""
        self._begun.append(data)
        if b"\n" not in data:  # a carriage return may be half of the end of a line
            if sum(map(len, self._begun)) > MAX_LINE:
                raise ValueError("a line without an end")
            return []
        lines = b"".join(self._begun).splitlines(keepends=True)
        self._begun = [] if lines[-1].endswith(b"\n") else [lines.pop()]
        events = filter(None, [self._take(line.rstrip(b"\r\n")) for line in lines])
        return [event for event in events if not self._is_end(event)]

    def _take(self, line: bytes) -> bytes:
        if line.startswith(_FIELD):
            self._data.append(line[len(_FIELD) :].removeprefix(b" "))
        if line or not self._data:  # other fields, and comments that keep the connection open
            return b""
        event, self._data = b"\n".join(self._data), []
        return event

    def _is_end(self, event: bytes) -> bool:
        self.is_done = self.is_done or event.startswith(_DONE)
        return self.is_done


async def read_events(reads: AsyncIterator[bytes]) -> AsyncGenerator[list[bytes], None]:
    decoder = EventDecoder()
    async for data in reads:
        if events := decoder.feed(data):
            yield events
        if len(events) > 1:  # a flood must not block the event loop
            await asyncio.sleep(0)
        if decoder.is_done:
            break
    with suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in reads:
                pass


ProposeFix = Callable[[SuggestionRequest, tuple[Any, ...], tuple[str, ...]], SuggestionDone]
"""From a failed cell, the kernel's variables (`tools` has their type) and the files; the source is
empty if no change of the cell helps."""


@dataclass(frozen=True)
class ModelTraits:
    """What a model can take; by default what every language model can."""

    reads_prompt: bool = True
    """Whether instructions and objections reach it. If not, it reads the request's conversation,
    and answers in its own form."""
    spends_tokens: bool = True
    propose_fix: ProposeFix | None = None
    """Set if this is all that it can suggest for a cell."""


class LanguageModel(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def traits(self) -> ModelTraits: ...

    async def aclose(self) -> None: ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk, None]: ...


class LocalLanguageModel(LanguageModel, Protocol):
    """Served by a process of ours."""

    def state(self) -> ModelState:
        """Without starting it."""

    async def address(self) -> Connection:
        """Where it can be asked; it is started for that."""


class _Failed(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__()
        self.failure = failure


class Model:
    """A language model behind an OpenAI-compatible API. Belongs to one event loop."""

    traits = ModelTraits()

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str = "",
        retries: RetryPolicy | None = None,
        fields: FieldNames = CONFIGURATION,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """`fields`: how the user refers to address, key and model; `options`: sent with every
        request.
        """
        self.base_url = base_url
        self.name = model
        self._key = api_key.strip()
        self._retries = retries or RetryPolicy()
        self._fields = fields
        self._options = options or {}
        self._client: AsyncOpenAI | None = None
        self._connecting = asyncio.Lock()
        self._refused: dict[str, set[str]] = {}
        self._has_answered = False

    def __repr__(self) -> str:
        return f"Model({self.name!r}, {self._classifier('').place!r})"

    async def aclose(self) -> None:
        if self._client:
            await self._client.close()
            self._client = None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk, None]:
        """Stream the answer; raises `ModelError`.

        Cancelling the task that waits for the next chunk closes the connection at once. A caller
        that may stop early should hold the generator in `contextlib.aclosing`.
        """
        classifier = self._classifier(request.model)
        classifier.check()
        await self._connected()  # before the clock starts: the first import is slow
        attempt, spent = 1, 0.0
        while True:
            try:
                async with aclosing(self._attempt(request, classifier)) as chunks:
                    async for chunk in chunks:
                        yield chunk
                return
            except _Failed as failed:
                failure = failed.failure
            kind = type(failure.error).__name__
            logger.debug("model attempt=%d failed error=%s again=%s", attempt, kind, failure.again)
            if self._drop_refused_option(request, failure, classifier.model):
                continue
            spent += failure.seconds if attempt > 1 else 0.0
            patience = self._patience(failure) - spent
            if not failure.again or patience <= 0:
                raise failure.error
            server_delay = self._retries.retry_after(failure.headers)
            delay = min(self._retries.delay(attempt, server_delay), patience)
            attempt, spent = attempt + 1, spent + delay
            yield Restarted(failure.error.message, attempt, delay)
            await self._retries.sleep(delay)

    def _patience(self, failure: Failure) -> float:
        """Wait for a server that has answered before, but not for one that never has."""
        is_unknown = isinstance(failure.error, Unreachable) and not self._has_answered
        retries = self._retries
        return min(retries.patience, retries.first_contact) if is_unknown else retries.patience

    async def _attempt(
        self, request: ModelRequest, classifier: FailureClassifier
    ) -> AsyncGenerator[Chunk, None]:
        reason, wrote = "", False
        try:
            async with (
                aclosing(self._reads(request, classifier.model)) as reads,
                aclosing(self._chunks(reads, classifier)) as chunks,
            ):
                async for chunk in chunks:
                    self._has_answered = True
                    if isinstance(chunk, Finished):
                        reason = chunk.reason
                    wrote = wrote or not isinstance(chunk, (Finished, UsageChunk))
                    yield chunk
        except _Failed:
            # Once the model has finished, a later failure does not matter.
            if not reason:
                raise
        if not reason:
            # The protocol promises a finish reason, so the stream was cut off.
            raise _Failed(classifier.dropped())
        if reason == "content_filter" and not wrote:
            raise _Failed(Failure(Refused("The provider's content filter withheld the answer.")))

    async def _chunks(
        self, reads: AsyncGenerator[list[bytes], None], classifier: FailureClassifier
    ) -> AsyncGenerator[Chunk, None]:
        limit, ended = self._retries.first, False
        while True:
            chunks, failure = list[Chunk](), None
            try:
                async with asyncio.timeout(limit):
                    events = await anext(reads)
                for event in events:
                    chunks += parse_event(json.loads(event))
            except StopAsyncIteration:
                return
            except TimeoutError:
                failure = classifier.stalled(limit)
            except Exception as error:
                failure = classifier.explain(error)
                if failure is None:
                    raise
            for chunk in merge_text(chunks):
                ended = ended or isinstance(chunk, Finished)
                limit = min(self._retries.idle, _USAGE_TIMEOUT) if ended else self._retries.idle
                yield chunk
            if failure:
                raise _Failed(failure)

    async def _reads(self, request: ModelRequest, model: str) -> AsyncGenerator[list[bytes], None]:
        """Raw events: the library would build an object of each, at a high price."""
        from openai import AsyncStream

        client = await self._connected()
        stream = await client.post(
            "/chat/completions",
            body={
                **self._arguments(request, model),
                "model": model,
                "messages": without_surrogates(request.messages),
                "stream": True,
            },
            cast_to=object,
            stream=True,
            stream_cls=AsyncStream[object],
        )
        response = stream.response
        try:
            if response.headers.get("content-type", "").startswith(_NOT_A_STREAM):
                raise NotAStream
            async with aclosing(read_events(response.aiter_bytes())) as reads:
                async for events in reads:
                    yield events
        finally:
            await stream.close()

    def _arguments(self, request: ModelRequest, model: str) -> dict[str, Any]:
        usage = {"stream_options": {"include_usage": True}}
        arguments = {**usage, **request.arguments, **self._options}  # the user's options win
        refused = self._refused.get(model, set())
        return {name: value for name, value in arguments.items() if name not in refused}

    def _drop_refused_option(self, request: ModelRequest, failure: Failure, model: str) -> bool:
        """Whether the failure is about an optional argument; it is then omitted from now on.

        Raises ToolsRefused for `tools`: without them the caller must build another prompt.
        """
        option = refused_option(failure.words, self._arguments(request, model))
        if option == "tools":
            raise ToolsRefused(failure.error.message)
        if option:
            self._refused.setdefault(model, set()).add(option)
        return option is not None

    async def _connected(self) -> AsyncOpenAI:
        """Create the client in a thread, because its import is slow."""
        async with self._connecting:
            if self._client is None:
                self._client = await asyncio.to_thread(self._connect)
            return self._client

    def _connect(self) -> AsyncOpenAI:
        from openai import DEFAULT_CONNECTION_LIMITS, AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

        address, sign_in = _split_credentials(self.base_url)
        limits = copy(DEFAULT_CONNECTION_LIMITS)
        limits.keepalive_expiry = _KEEP_ALIVE
        return AsyncOpenAI(
            base_url=address,
            api_key=self._key or _NO_KEY,
            max_retries=0,
            timeout=Timeout(None, connect=self._retries.connect),
            http_client=DefaultAsyncHttpxClient(
                auth=sign_in, limits=limits, verify=_certificates()
            ),
        )

    def _classifier(self, model: str) -> FailureClassifier:
        return FailureClassifier(self.base_url, model or self.name, self._key, self._fields)


@cache
def _certificates() -> SSLContext:
    """Those that openai's client trusts; to read them takes longer than to connect."""
    from openai import DefaultAsyncHttpxClient

    library = import_module(DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0])
    context: SSLContext = library.create_ssl_context()
    return context


def _split_credentials(base_url: str) -> tuple[str, tuple[str, str] | None]:
    parts = urlsplit(base_url)
    if not parts.username:
        return base_url, None
    address = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    return address, (unquote(parts.username), unquote(parts.password or ""))


async def observe_answer(
    answer: AsyncGenerator[Chunk, None], observe: Observe, *, model: str, job_id: str
) -> AsyncGenerator[Chunk, None]:
    """Pass the answer through, and report duration, usage and outcome when it ends."""
    began, attempts, status = time.monotonic(), 1, "stopped"
    usage: Usage | None = None
    try:
        async with aclosing(answer) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, UsageChunk):
                    usage = chunk.usage
                elif isinstance(chunk, Restarted):
                    attempts = chunk.attempt
                yield chunk
        status = OK
    except Exception as error:
        status = error.code if isinstance(error, CoworkError) else "internal"
        raise
    finally:
        sent = usage.prompt_tokens if usage else None
        written = usage.completion_tokens if usage else None
        seconds = time.monotonic() - began
        observe(ModelCalled(model, status, seconds, attempts, sent, written, job_id))
