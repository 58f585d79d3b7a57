"""The only importer of the SDK beside `stdio`: connects to servers by any transport."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, ClassVar, Literal

import httpx2
import mcp_types
from mcp import Client
from mcp.client.context import ClientRequestContext
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.session import ClientSession, ElicitationFnT, SamplingFnT
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    CallToolResult,
    EmptyResult,
    ErrorData,
    InputRequests,
    InputResponses,
    Request,
    RequestParams,
    Result,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ..._version import __version__
from ...domain.redaction import Mask
from .config import ServerConfig
from .environment import OutputTail
from .facts import MAX_TOOLS, McpToolFacts, facts_of
from .pending_call import current
from .secrets import Resolved
from .stdio import ProtocolViolation, start_server

MAX_ANSWER_SIZE = 64 * 2**20
_MAX_PAGES = 50
_DAY = 86_400.0

# Their messages hold addresses and whatever a server has sent, which is no business of a log
# that others may read. Problems of a server are shown where the server is listed.
for _name in ("mcp", "client", "httpx2"):
    if logging.getLogger(_name).level == logging.NOTSET:
        logging.getLogger(_name).setLevel(logging.CRITICAL + 1)

TASKS = "io.modelcontextprotocol/tasks"
"""The extension for long-running calls."""


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
    config: ServerConfig, server: Resolved, tail: OutputTail, on_end: Callable[[str], None]
) -> AbstractAsyncContextManager[Any]:
    if config.kind == "stdio":
        return start_server(server, tail, on_end)
    if config.kind == "sse":
        options: dict[str, Any] = {"sse_read_timeout": _DAY, "httpx_client_factory": _http_client}
        return sse_client(server.url, server.headers, **options)
    return _http(server)


def new_client(
    config: ServerConfig,
    server: Resolved,
    tail: OutputTail,
    *,
    on_end: Callable[[str], None],
    on_change: Callable[[], None],
    on_update: Callable[[str], None],
    elicit: ElicitationFnT,
    sample: SamplingFnT | None,
) -> Client:
    async def receive(message: object) -> None:
        if isinstance(message, mcp_types.ToolListChangedNotification):
            on_change()
        elif isinstance(message, mcp_types.ResourceUpdatedNotification):
            on_update(str(message.params.uri))

    async def log(params: mcp_types.LoggingMessageNotificationParams) -> None:
        tail.add_line(f"{params.level}: {params.data}"[:2_000])

    return Client(
        _transport(config, server, tail, on_end),
        client_info=mcp_types.Implementation(name="cowork-jupyter", version=__version__),
        message_handler=receive,
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
    raise ProtocolViolation(f"it has more than {MAX_TOOLS} tools, or never finishes listing them")


async def follow_changes(client: Client, on_change: Callable[[], None]) -> None:
    """Newer servers report changes only to listeners; older ones to the client."""
    if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
        async with client.listen(tools_list_changed=True) as changes:
            async for _change in changes:
                on_change()


_PAUSE, _SHORTEST, _LONGEST = 1.0, 0.1, 30.0
"""Seconds between two polls: the default and the bounds of what the server wants."""
_LAST_WORDS = 2.0

Status = Literal["working", "input_required", "completed", "failed", "cancelled"]


class TaskHandle(Result):
    result_type: Literal["task"] = "task"
    task_id: str
    poll_interval_ms: int | None = None


class TaskState(Result):
    status: Status
    status_message: str | None = None
    poll_interval_ms: int | None = None
    input_requests: InputRequests | None = None
    result: dict[str, Any] | None = None
    error: ErrorData | None = None


class TaskParams(RequestParams):
    task_id: str


class TaskAnswers(TaskParams):
    input_responses: InputResponses


class GetTask(Request[TaskParams, Literal["tasks/get"]]):
    method: Literal["tasks/get"] = "tasks/get"
    params: TaskParams
    name_param: ClassVar[str | None] = "taskId"


class UpdateTask(Request[TaskAnswers, Literal["tasks/update"]]):
    method: Literal["tasks/update"] = "tasks/update"
    params: TaskAnswers
    name_param: ClassVar[str | None] = "taskId"


class CancelTask(Request[TaskParams, Literal["tasks/cancel"]]):
    method: Literal["tasks/cancel"] = "tasks/cancel"
    params: TaskParams
    name_param: ClassVar[str | None] = "taskId"


class Tasks(ClientExtension):
    identifier = TASKS

    def claims(self) -> Sequence[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=TaskHandle, resolve=_result_of)]


async def _result_of(handle: TaskHandle, context: ClaimContext) -> CallToolResult:
    """Polls until there is a result. Cancelling cancels the task."""
    try:
        return await _poll(handle, context.session)
    except asyncio.CancelledError:
        with suppress(Exception):
            async with asyncio.timeout(_LAST_WORDS):
                stop = CancelTask(params=TaskParams(task_id=handle.task_id))
                await context.session.send_request(stop, EmptyResult)
        raise


async def _poll(handle: TaskHandle, session: ClientSession) -> CallToolResult:
    answered: set[str] = set()
    pause, asked = handle.poll_interval_ms, 0
    while True:
        wanted = _PAUSE if pause is None else pause / 1000
        await asyncio.sleep(min(max(wanted, _SHORTEST), _LONGEST))
        which = GetTask(params=TaskParams(task_id=handle.task_id))
        state = await session.send_request(which, TaskState)
        pause, asked = state.poll_interval_ms, asked + 1
        if call := current.get():
            await call.progress(asked, None, state.status_message)
        match state.status:
            case "completed":
                return CallToolResult.model_validate(state.result)
            case "failed":
                raise MCPError.from_error_data(state.error or _unexplained("failed"))
            case "cancelled":
                raise MCPError.from_error_data(_unexplained("was cancelled by the server"))
        new = {k: v for k, v in (state.input_requests or {}).items() if k not in answered}
        if new:
            answered |= new.keys()
            responses = await _answers(new, session)
            answers = TaskAnswers(task_id=handle.task_id, input_responses=responses)
            await session.send_request(UpdateTask(params=answers), EmptyResult)


async def _answers(requests: InputRequests, session: ClientSession) -> InputResponses:
    """Sequentially, because one person answers them."""
    responses: InputResponses = {}
    for key, request in requests.items():
        meta = request.params.meta if request.params else None
        context = ClientRequestContext(session=session, request_id=key, meta=meta)
        answer = await session.dispatch_input_request(context, request)
        if isinstance(answer, ErrorData):
            raise MCPError.from_error_data(answer)
        responses[key] = answer
    return responses


def _unexplained(how: str) -> ErrorData:
    return ErrorData(code=INTERNAL_ERROR, message=f"the task {how}")
