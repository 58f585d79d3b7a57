"""The OpenAI API, passed through: for editors and scripts that bring their own prompts.

Requests are forwarded unchanged, with the user's API key added here, where no browser sees it.
Answers come back unchanged and unbuffered, except that the key is masked should the server repeat
it.

Why httpx: its streams are plain loops, so waiting for `flush` slows down the model server when the
client is slow, and cancelling the task closes the connection at once. Tornado's client pushes
chunks into a callback, ready or not, and cannot be stopped. JupyterLab depends on httpx already; it
is imported with the first request. A client is made for each request, so nothing stays open between
two; only the TLS context, which is slow to make, is cached.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from jupyter_server.auth.decorator import allow_unauthenticated
from tornado import web
from tornado.iostream import StreamClosedError

from ...hosts.server.handler import ApiHandler

if TYPE_CHECKING:
    import ssl

    import httpx

    from ...domain.settings import Connection
    from ...llm.failures import FailureClassifier

_ACTIONS = {("GET", "models"): "read", ("POST", "chat/completions"): "execute"}
"""What there is, and which permission it takes."""

# Allow lists, so that an unforeseen header stays behind.
_REQUEST_HEADERS = {"accept", "content-type", "user-agent"}
_RESPONSE_HEADERS = {
    *("cache-control", "content-type", "retry-after", "retry-after-ms"),
    *("x-request-id", "x-should-retry"),
}
_HEADER_PREFIXES = ("openai-", "x-ratelimit-")
"""Prefixes of further headers that may pass in both directions."""

_CONNECT_SECONDS = 10.0
_MIN_SECRET_LENGTH = 4
_MIN_REAL_KEY_LENGTH = 20
"""Local servers take made-up keys like `ollama`, which a model may well have to write."""


class PassthroughHandler(ApiHandler):
    """`GET v1/models` and `POST v1/chat/completions`, for users of the server, not for kernels."""

    @allow_unauthenticated  # authorizes by itself, as all our routes do
    async def dispatch(self, *path: str) -> None:
        (name,) = path
        if self.kernel:
            raise web.HTTPError(403, "A kernel may not do this. Use `%%plan`, `%%act` and `%%ask`.")
        asked = (self.request.method or "", name)
        await self.authorize(_ACTIONS.get(asked, "read"))
        if asked not in _ACTIONS:
            raise web.HTTPError(405, "This address does not support this method.")
        await self.while_connected(self._forward(name))

    get = post = put = delete = patch = head = dispatch

    def error_object(self, status: int, error: BaseException | None) -> dict[str, Any]:
        """As clients of the OpenAI API read it, beside our own fields."""
        kind = "invalid_request_error" if status < 500 else "server_error"
        return super().error_object(status, error) | {"type": kind, "param": None}

    async def _forward(self, name: str) -> None:
        from ...api.calls import MAX_BODY_SIZE
        from ...api.errors import TooLarge

        if len(self.request.body) > MAX_BODY_SIZE:
            raise TooLarge(f"The body is larger than {MAX_BODY_SIZE // 2**20} MiB.")
        await self.extension.load()
        model = self.extension.service.current_model
        connection = await self.extension.thread.run(model.address())
        _check(connection)
        if self.request.method == "POST":
            model.check_direct(_model_of(self.request.body))
        tls = await asyncio.to_thread(_tls)  # importing httpx takes a noticeable time
        import httpx

        timeout = httpx.Timeout(None, connect=_CONNECT_SECONDS)
        client = httpx.AsyncClient(verify=tls, timeout=timeout, follow_redirects=True)
        try:
            async with client, client.stream(**self._request(name, connection)) as response:
                await self._send_response(response, connection.api_key.strip())
        except StreamClosedError:
            pass  # the client has gone
        except (httpx.RequestError, httpx.InvalidURL) as error:
            if not self._headers_written:
                is_there = not isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout))
                raise _unavailable(connection, is_there=is_there) from None
            # A truncated answer must not look complete.
            stream: Any = self.request.connection
            stream.close()

    def _request(self, name: str, connection: Connection) -> dict[str, Any]:
        from ...api.calls import drop_jupyter_parameters

        query = urlencode(drop_jupyter_parameters(self.request.query_arguments), doseq=True)
        headers = _filter_headers(_REQUEST_HEADERS, self.request.headers)
        # Uncompressed, so that a key in the answer can be found.
        headers["accept-encoding"] = "identity"
        if key := connection.api_key.strip():
            headers["authorization"] = f"Bearer {key}"
        return {
            "method": self.request.method,
            "url": f"{connection.base_url}/{name}" + (f"?{query}" if query else ""),
            "headers": headers,
            "content": self.request.body or None,
        }

    async def _send_response(self, response: httpx.Response, key: str) -> None:
        failed = response.status_code >= 400
        is_secret = len(key) >= (_MIN_SECRET_LENGTH if failed else _MIN_REAL_KEY_LENGTH)
        secret = key if is_secret else ""
        self.set_status(response.status_code)
        for name, value in _filter_headers(_RESPONSE_HEADERS, response.headers).items():
            self.set_header(name, _mask(value.encode("latin-1", "replace"), secret.encode()))
        if "content-encoding" not in response.headers and "content-length" in response.headers:
            self.set_header("Content-Length", response.headers["content-length"])
        await self.flush()
        async for piece in _mask_stream(response.aiter_bytes(), secret.encode()):
            self.write(piece)
            await self.flush()


def _model_of(body: bytes) -> str:
    """Empty if it is not JSON; the model server refuses that itself."""
    from ...api.errors import MalformedRequest

    try:
        model = json.loads(body)["model"]
    except RecursionError:
        raise MalformedRequest("The body is nested too deeply.") from None
    except (ValueError, KeyError, TypeError):
        return ""
    return model if isinstance(model, str) else ""


@cache
def _tls() -> ssl.SSLContext:
    """Cached: httpx would read it from disk for each client."""
    import httpx

    return httpx.create_ssl_context()


def _check(connection: Connection) -> None:
    from ...domain.errors import Unavailable
    from ...llm.failures import ModelError

    try:
        _classifier(connection).check()
    except ModelError as error:
        raise Unavailable(error.message, code=error.code, retryable=False) from None


def _classifier(connection: Connection) -> FailureClassifier:
    from ...llm.failures import FailureClassifier

    key, fields = connection.api_key.strip(), connection.fields
    return FailureClassifier(connection.base_url, "of the request", key, fields)


def _unavailable(connection: Connection, *, is_there: bool) -> Exception:
    from ...domain.errors import Unavailable

    classifier = _classifier(connection)
    error = classifier.dropped().error if is_there else classifier.unreachable()
    return Unavailable(error.message, code="model_unreachable")


def _filter_headers(names: set[str], headers: Mapping[str, str]) -> dict[str, str]:
    lower = {name.lower(): value for name, value in headers.items()}
    return {
        name: value
        for name, value in lower.items()
        if name in names or name.startswith(_HEADER_PREFIXES)
    }


def _mask(data: bytes, secret: bytes) -> bytes:
    """Mask the secret with as many stars, so that all lengths stay true."""
    return data.replace(secret, b"*" * len(secret)) if secret else data


async def _mask_stream(pieces: AsyncIterator[bytes], secret: bytes) -> AsyncIterator[bytes]:
    """Mask the secret even across chunks; only a possible beginning of it is held back."""
    waiting = b""
    async for piece in pieces:
        data = _mask(waiting + piece, secret)
        lengths = range(min(len(secret) - 1, len(data)), 0, -1)
        begun = next((length for length in lengths if data.endswith(secret[:length])), 0)
        waiting = data[len(data) - begun :]
        yield data[: len(data) - begun]
    if waiting:
        yield waiting
