"""Failures of a model server: one clear sentence each, and whether to try again.

The original exception is never kept, because its text may repeat the API key.
"""

from __future__ import annotations

import asyncio
import math
import random
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from ..domain.errors import CoworkError
from ..domain.redaction import without_credentials
from ..domain.settings import CONFIGURATION, FieldNames
from .chunks import ErrorEvent


class ModelError(CoworkError):
    code = "model_failed"


class WrongKey(ModelError):
    code = "model_auth"


class UnknownModel(ModelError):
    code = "model_unknown"


class Unreachable(ModelError):
    code = "model_unreachable"


class ContextOverflow(ModelError):
    """The conversation exceeds the model's context; shorten it and ask again."""

    code = "context_overflow"
    window: int | None = None
    """The model's context size in tokens, if the server says so."""


class RateLimited(ModelError):
    code = "model_rate_limited"
    retryable = True


class Rejected(ModelError):
    code = "model_rejected"


class ToolsRefused(ModelError):
    """The server takes no tools; ask for calls in the model's text instead."""

    code = "model_rejected"


class Refused(ModelError):
    code = "model_refused"


class Stalled(ModelError):
    code = "model_stalled"
    retryable = True


class Garbled(ModelError):
    code = "model_garbled"


class NotAStream(Exception):
    """The response has a content type that is no stream, usually a web page."""


@dataclass(frozen=True)
class Failure:
    error: ModelError
    again: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    words: str = ""
    """Everything the server said, to find options that it does not know."""


_OVERFLOW = re.compile(
    r"context[_ ](length|size|window|limit)|(prompt|input) is too long|input token count"
    r"|too many tokens|maximum (prompt|model) length|too large for model|request too large"
    r"|inputs` (tokens|must have less)|reduce the length",
    re.IGNORECASE,
)
_WINDOW = re.compile(
    r"(?:maximum context length (?:is|of)|context size \(|model length of|n_ctx['\"]?:|tokens >"
    r"|context limit: \d+ \+ \d+ >|tokens allowed\s*\(|too large for model with"
    r"|must be <=|prompt length is|context length \(|cannot exceed)\s*(\d{3,8})\b",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model_not_found|(unknown|invalid|no such) model|not a valid model"
    r"|model\b.{0,120}(not found|not exist|not available|no endpoints)",
    re.IGNORECASE | re.DOTALL,
)
_NO_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing", re.IGNORECASE)
_FILTERED = re.compile(r"content_filter|content management policy", re.IGNORECASE)
_NOT_CONNECTED = ("ConnectError", "ConnectTimeout", "UnsupportedProtocol")
_MAX_QUOTE_LENGTH = 300
_MIN_SECRET_LENGTH = 4
"""Keys made up for local servers can be a letter or two, which ordinary words contain."""


@dataclass(frozen=True)
class FailureClassifier:
    address: str
    model: str
    secret: str = field(default="", repr=False)
    fields: FieldNames = CONFIGURATION
    """How the user refers to address, key and model."""

    def check(self) -> None:
        if not self.address:
            raise Unreachable(f"No model server is set: set {self.fields.address}.")
        if not _is_web_address(self.address):
            raise Unreachable(
                f"'{self.place}' is not a web address: {self.fields.address} "
                "should look like http://localhost:8000/v1."
            )
        if not self.model:
            raise self.unknown_model()
        if not (self.secret.isascii() and self.secret.isprintable()):
            raise WrongKey(
                f"{self.fields.key} contains characters that no key has. Copy the key again."
            )

    def explain(self, error: Exception) -> Failure | None:
        """Return None if the exception is a bug of ours."""
        from openai import APIConnectionError, APIError, APIStatusError

        if isinstance(error, APIStatusError):
            return self._status(error.status_code, _error_text(error), error.response.headers)
        if isinstance(error, APIConnectionError) or _is_transport(error):
            return self._connection(error.__cause__ or error)
        if isinstance(error, (APIError, ErrorEvent)):
            # Mid-stream errors have a code in their body, or none.
            code = str(error.code)
            return self._status(int(code) if code.isdecimal() else 500, _error_text(error), {})
        if isinstance(error, NotAStream):
            return self.garbled(again=False)
        if isinstance(error, (ValueError, RecursionError)):
            # Only the parsing of events raises these: malformed bytes or JSON.
            return self.garbled(again=True)
        return None

    def stalled(self, seconds: float) -> Failure:
        message = f"The model at {self.place} sent nothing for {seconds:g} seconds."
        return Failure(Stalled(message), again=True, seconds=seconds)

    def dropped(self) -> Failure:
        message = f"The connection to the model at {self.place} was lost."
        return Failure(ModelError(message, retryable=True), again=True)

    def garbled(self, *, again: bool) -> Failure:
        message = (
            f"The server at {self.place} did not answer with a chat completion: "
            f"check that {self.fields.address} is the address of an OpenAI-compatible API."
        )
        return Failure(Garbled(message), again=again)

    @property
    def place(self) -> str:
        return without_credentials(self.address)

    def _status(self, status: int, text: str, headers: Mapping[str, str]) -> Failure:
        again = status in (408, 429) or status >= 500
        error = self._by_text(status, text)
        if error is not None:
            return Failure(error)
        if status == 429:
            message = (
                f"The server at {self.place} is receiving too many requests: {self._quote(text)}"
            )
            return Failure(RateLimited(message), again, headers)
        message = f"The server at {self.place} answered with error {status}: {self._quote(text)}"
        model_error = ModelError(message, retryable=True) if again else Rejected(message)
        return Failure(model_error, again, headers, words=text)

    def _by_text(self, status: int, text: str) -> ModelError | None:
        """Errors that a retry cannot fix. The text says more than the status does."""
        if status in (401, 403):
            return WrongKey(
                f"The server at {self.place} does not accept the key: "
                f"check {self.fields.key}. It says: {self._quote(text)}"
            )
        if status == 413 or _OVERFLOW.search(text):
            error = ContextOverflow(
                f"The conversation is too long for the model: {self._quote(text)}"
            )
            if window := _WINDOW.search(text.replace(",", "")):
                error.window = int(window[1])
            return error
        if _NO_QUOTA.search(text):
            return RateLimited(
                f"The quota of this API key is exhausted: {self._quote(text)}", retryable=False
            )
        if status < 500 and _FILTERED.search(text):
            return Refused(f"The provider's content filter blocked it: {self._quote(text)}")
        if status in (400, 404, 422) and _NO_MODEL.search(text):
            return self.unknown_model()
        if status in (404, 405):
            return Unreachable(
                f"There is no chat completions API at {self.place}: "
                f"check {self.fields.address}, which often ends in /v1."
            )
        return None

    def unknown_model(self) -> ModelError:
        if not self.model:
            return UnknownModel(f"No model is set: set {self.fields.model}.")
        return UnknownModel(
            f"The server at {self.place} has no model '{self.model}': check "
            f"{self.fields.model}, or list the models with `%cowork models`."
        )

    def _connection(self, cause: BaseException) -> Failure:
        if type(cause).__name__ not in _NOT_CONNECTED:
            return self.dropped()
        return Failure(self.unreachable(), again=True)

    def unreachable(self) -> ModelError:
        return Unreachable(
            f"No model server answers at {self.place}: check that it is running "
            f"and that {self.fields.address} is correct.",
            retryable=True,
        )

    def _quote(self, text: str) -> str:
        line = " ".join(text.split())
        if len(self.secret) >= _MIN_SECRET_LENGTH:
            line = line.replace(self.secret, "…")
        if len(line) > _MAX_QUOTE_LENGTH:
            return f"{line[:_MAX_QUOTE_LENGTH]}…"
        line = line or "no reason"
        return f"{line}." if line[-1].isalnum() else line


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        if not text.isprintable() or " " in text:
            return False
        host = (parts.hostname or "").encode("idna")
        return parts.scheme in ("http", "https") and bool(host) and parts.port != 0
    except ValueError:
        return False


def _error_text(error: Any) -> str:
    body = error.body
    if isinstance(body, dict):
        code = f"({body['code']})" if body.get("code") else None
        window = f"(n_ctx: {body['n_ctx']})" if body.get("n_ctx") else None  # llama.cpp's
        parts = [body.get("message") or body.get("detail") or body, code, window]
        return " ".join(str(part) for part in parts if part)
    return str(body or "")


def _is_transport(error: Exception) -> bool:
    """By name, because the HTTP library depends on the version of openai."""
    return any(base.__name__ == "RequestError" for base in type(error).__mro__)


@dataclass(frozen=True)
class RetryPolicy:
    """Time limits in seconds, and the clock they run by."""

    patience: float = 120.0
    """Total for one request whose attempts fail, waits and stalls included."""
    first_contact: float = 4.0
    """The same if the server has never answered: the address may be wrong."""
    connect: float = 10.0
    first: float = 180.0
    """Until the first chunk; a small machine reads a long prompt slowly."""
    idle: float = 60.0
    backoff: float = 0.5
    """Before the second try; doubles with each one, up to `longest`."""
    longest: float = 60.0
    """Upper bound for a single wait, whatever the server asks for."""
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    clock: Callable[[], float] = time.time
    random: Callable[[], float] = random.random

    def delay(self, attempt: int, retry_after: float | None) -> float:
        """Seconds to wait after this attempt: what the server says, else exponential backoff.

        If the server fails again sooner than it said, the larger of both counts.
        """
        # Jitter keeps parallel tasks from retrying in step.
        grown = min(self.backoff * 2.0 ** (attempt - 1), self.longest) * (0.5 + self.random() / 2)
        if retry_after is None:
            return grown
        return min(max(retry_after, 0.0 if attempt == 1 else grown), self.longest)

    def retry_after(self, headers: Mapping[str, str]) -> float | None:
        milliseconds = _number(headers.get("retry-after-ms", ""))
        if milliseconds is not None:
            return milliseconds / 1000
        value = headers.get("retry-after", "")
        seconds = _number(value)
        return seconds if seconds is not None else self._until(value)

    def _until(self, date: str) -> float | None:
        try:
            return parsedate_to_datetime(date).timestamp() - self.clock()
        except (ValueError, OverflowError):
            return None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
