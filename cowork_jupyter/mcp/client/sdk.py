"""The only importer of the SDK beside `stdio`: connects to servers by any transport."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx2
import mcp_types
from mcp import Client
from mcp.client.session import ElicitationFnT, SamplingFnT
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ..._version import __version__
from ...domain.redaction import Mask
from .entry import ServerConfig
from .facts import MAX_TOOLS, McpToolFacts, facts_of
from .secrets import Resolved
from .stdio import Misbehaved, started
from .tail import Tail
from .tasks import Tasks

MAX_ANSWER_SIZE = 64 * 2**20
_MAX_PAGES = 50
_DAY = 86_400.0

# Their messages hold addresses and whatever a server has sent, which is no business of a log
# that others may read. What is wrong with a server is told where the server is shown.
for _name in ("mcp", "client", "httpx2"):
    if logging.getLogger(_name).level == logging.NOTSET:
        logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


class _Bounded(httpx2.AsyncBaseTransport):
    """Bounds the size of responses. Event streams are exempt; the SDK bounds each event."""

    def __init__(self) -> None:
        self._inner = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        if "text/event-stream" not in response.headers.get("content-type", ""):
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _BoundedStream(response.stream)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._inner:
            size += len(piece)
            if size > MAX_ANSWER_SIZE:
                raise httpx2.ReadError(f"an answer of more than {MAX_ANSWER_SIZE // 2**20} MiB")
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


def _http_client(
    headers: dict[str, str] | None = None,
    timeout: httpx2.Timeout | None = None,
    auth: httpx2.Auth | None = None,
) -> httpx2.AsyncClient:
    # A stream of events may be silent as long as it likes: calls have their own deadlines.
    patience = httpx2.Timeout(30.0, read=None)
    return httpx2.AsyncClient(
        headers=headers, timeout=timeout or patience, auth=auth, transport=_Bounded()
    )


@asynccontextmanager
async def _http(server: Resolved) -> AsyncIterator[Any]:
    async with (
        _http_client(server.headers) as client,
        streamable_http_client(server.url, http_client=client) as streams,
    ):
        yield streams


def _transport(
    config: ServerConfig, server: Resolved, tail: Tail, on_end: Callable[[str], None]
) -> AbstractAsyncContextManager[Any]:
    if config.kind == "stdio":
        return started(server, tail, on_end)
    if config.kind == "sse":
        return sse_client(
            server.url, server.headers, sse_read_timeout=_DAY, httpx_client_factory=_http_client
        )
    return _http(server)


def new_client(
    config: ServerConfig,
    server: Resolved,
    tail: Tail,
    *,
    on_end: Callable[[str], None],
    on_change: Callable[[], None],
    on_update: Callable[[str], None],
    elicit: ElicitationFnT,
    sample: SamplingFnT | None,
) -> Client:
    """A client for one server, not connected yet."""

    async def hear(message: object) -> None:
        if isinstance(message, mcp_types.ToolListChangedNotification):
            on_change()
        elif isinstance(message, mcp_types.ResourceUpdatedNotification):
            on_update(str(message.params.uri))

    async def log(params: mcp_types.LoggingMessageNotificationParams) -> None:
        tail.add_line(f"{params.level}: {params.data}"[:2_000])

    return Client(
        _transport(config, server, tail, on_end),
        client_info=mcp_types.Implementation(name="cowork-jupyter", version=__version__),
        message_handler=hear,
        logging_callback=log,
        elicitation_callback=elicit,
        sampling_callback=sample,
        extensions=[Tasks()],
        cache=None,
    )


def take_results_as_they_are(client: Client) -> None:
    """Disable the SDK's validation of results: it runs a schema of the server's own making,
    patterns included, in our only thread, with which a server could block everything.
    """

    async def unchecked(_name: str, _result: mcp_types.CallToolResult) -> None:
        return

    client.session.validate_tool_result = unchecked  # type: ignore[assignment,method-assign]


async def list_tools(client: Client, mask: Mask) -> tuple[McpToolFacts, ...]:
    if client.server_capabilities.tools is None:
        return ()
    found: list[McpToolFacts] = []
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += [facts_of(tool, mask) for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            return tuple(found)
        if len(found) > MAX_TOOLS:
            break
    raise Misbehaved(f"it has more than {MAX_TOOLS} tools, or never finishes listing them")


async def follow_changes(client: Client, on_change: Callable[[], None]) -> None:
    """Newer servers report changes only to listeners; older ones to the client."""
    if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
        async with client.listen(tools_list_changed=True) as changes:
            async for _change in changes:
                on_change()
