"""The only importer of the SDK: connects to servers by any transport.

Servers that we start speak JSON lines, not through the SDK's own transport: that one reads lines of
any length, writes a traceback into the log for every invalid line, and can leave a server behind
when we are ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import anyio
import httpx2
import mcp_types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import Client
from mcp.client.context import ClientRequestContext
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.session import ClientSession, ElicitationFnT, SamplingFnT
from mcp.client.sse import sse_client
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
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
from ...domain.errors import Unavailable
from ...domain.redaction import Mask
from ...workspace.sandbox import supervised
from ...workspace.sandbox.supervised import MAX_LINE_LENGTH, SupervisedProcess
from .config import ServerConfig
from .environment import OutputTail
from .facts import MAX_TOOLS, McpToolFacts, facts_of
from .pending_call import current
from .secrets import Resolved

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
MAX_GARBAGE = 20
"""Lines that are not messages: some servers greet, none goes on like that."""
FLOOD_SECONDS, FLOOD_MESSAGES = 5.0, 5_000
"""More messages in this time are a flood."""
MAX_HEARD = 100
"""Progress and log messages beyond this in that time are dropped."""
_NOTIFICATIONS = frozenset({"notifications/progress", "notifications/message"})
_PIECE, _STDERR_PAUSE = 65_536, 0.05
LAST_LINES = 1.0
"""Seconds to read what a server wrote before it ended, unless others hold its pipe."""

Streams = tuple[
    MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]
]


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


class ProtocolViolation(Exception):
    """A violation of the protocol; the message says which."""


@dataclass
class _Flood:
    began: float = field(default_factory=time.monotonic)
    count: int = 0

    def message(self) -> None:
        self.count += 1
        now = time.monotonic()
        if now - self.began > FLOOD_SECONDS:
            self.began, self.count = now, 0
        elif self.count > FLOOD_MESSAGES:
            raise ProtocolViolation(
                f"it sent more than {FLOOD_MESSAGES:,} messages in a few seconds"
            )


@asynccontextmanager
async def start_server(
    server: Resolved, tail: OutputTail, on_end: Callable[[str], None]
) -> AsyncIterator[Streams]:
    """A running server; `on_end` gets the reason of its end. Leaves no process behind."""
    process = await _start(server)
    send, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, receive = anyio.create_memory_object_stream[SessionMessage](0)
    stderr_task = asyncio.create_task(_read_stderr(process, tail))
    stdout_task = asyncio.create_task(_read_stdout(process, send, tail, stderr_task, on_end))
    tasks = [stderr_task, stdout_task, asyncio.create_task(_write_stdin(process, receive))]
    try:
        yield read_stream, write_stream
    finally:
        for stream in (read_stream, write_stream):
            stream.close()
        try:
            await process.end()
            await asyncio.wait([stderr_task, stdout_task], timeout=LAST_LINES)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            send.close()
            receive.close()


async def _start(server: Resolved) -> SupervisedProcess:
    program = server.program()
    if program is None:
        raise ProtocolViolation(f"the program '{server.command}' is not installed")
    environment = get_default_environment() | server.env
    try:
        return await supervised.start(program, server.args, environment, server.cwd)
    except (FileNotFoundError, NotADirectoryError):
        raise ProtocolViolation(f"its folder {server.cwd} does not exist") from None
    except Unavailable as error:
        raise ProtocolViolation(error.message) from None


async def _read_stdout(
    process: SupervisedProcess,
    send: MemoryObjectSendStream[SessionMessage | Exception],
    tail: OutputTail,
    stderr_task: asyncio.Task[None],
    on_end: Callable[[str], None],
) -> None:
    why = "it ended"
    try:
        async with send:
            await _messages(process, send, tail)
        code = await process.wait()
        why = f"it ended with exit code {code}" if code >= 0 else f"it was killed by signal {-code}"
        # The end of stderr says more than that, and may still be in the pipe.
        await asyncio.wait([stderr_task], timeout=LAST_LINES)
    except ProtocolViolation as error:
        why = str(error)
        process.cut()
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        why = ""  # the client has closed the stream
    finally:
        on_end(why)
    while await process.stdout.read(_PIECE):
        pass  # or its end would never be seen behind all that it has written


async def _messages(
    process: SupervisedProcess,
    send: MemoryObjectSendStream[SessionMessage | Exception],
    tail: OutputTail,
) -> None:
    flood, garbage = _Flood(), 0
    while True:
        try:
            line = await process.stdout.readuntil(b"\n")
        except asyncio.IncompleteReadError:
            return
        except asyncio.LimitOverrunError:
            size = MAX_LINE_LENGTH // 2**20
            raise ProtocolViolation(f"it sent a message of more than {size} MiB") from None
        flood.message()
        if not line.strip():
            continue
        try:
            message = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            garbage += 1
            tail.add_line(f"no message: {line[:500].decode(errors='replace').rstrip()}")
            if garbage > MAX_GARBAGE:
                raise ProtocolViolation("its output is not valid MCP") from None
            continue
        is_notification = getattr(message, "method", "") in _NOTIFICATIONS
        if not is_notification or flood.count <= MAX_HEARD:
            await send.send(SessionMessage(message))


async def _write_stdin(
    process: SupervisedProcess, receive: MemoryObjectReceiveStream[SessionMessage]
) -> None:
    with contextlib.suppress(OSError, anyio.ClosedResourceError):
        async with receive:
            async for message in receive:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(text.encode() + b"\n")
                await process.stdin.drain()


async def _read_stderr(process: SupervisedProcess, tail: OutputTail) -> None:
    """Keep what it writes to stderr. One that writes without end is throttled."""
    while piece := await process.stderr.read(_PIECE):
        tail.add(piece.decode(errors="replace"))
        if len(piece) == _PIECE:
            await asyncio.sleep(_STDERR_PAUSE)
