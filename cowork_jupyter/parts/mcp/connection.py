"""One server: started on first use, restarted when it dies, and stopped with us.

It runs in a task of its own, so that its failures do not affect others.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal

from ...domain.errors import CoworkError, Unavailable
from ...domain.health import missing_extra
from ...domain.operations import McpServerChanged
from ...domain.redaction import Mask
from ...tools.base import ToolContext
from .config import ServerConfig
from .environment import McpEnvironment, OutputTail
from .facts import McpServerFacts, McpToolFacts
from .pending_call import PendingCall, ResourceSubscriptions
from .secrets import resolve
from .server_requests import ServerRequests

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult

logger = logging.getLogger(__name__)

State = Literal["idle", "starting", "ready", "failed"]


class ServerUnavailable(Unavailable):
    code = "mcp_server"


class McpConnection:
    def __init__(
        self,
        config: ServerConfig,
        environment: McpEnvironment,
        on_change: Callable[[], None],
        known: McpServerFacts | None = None,
    ) -> None:
        self.config = config
        self.state: State = "idle"
        self.why = ""
        self.tail = OutputTail()
        self.mask = Mask()
        self.known = known
        """What it reported when it last ran; None if it never did."""
        self.was_awaited = False
        self._environment = environment
        self._on_change = on_change
        self._task: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[Client] | None = None
        self._ended = asyncio.Event()
        self._stopping = asyncio.Event()
        self._changed = asyncio.Event()
        self._requests = ServerRequests(config, environment.model, environment.observe)
        self._following = ResourceSubscriptions()
        self._follow_tasks: set[asyncio.Task[None]] = set()
        self._was_ready = False
        self._deaths = 0
        self._next_start = 0.0

    # Use

    @property
    def tools(self) -> tuple[McpToolFacts, ...] | None:
        """None if it never ran."""
        return self.known.tools if self.known else None

    @property
    def has_resources(self) -> bool:
        return self.known is not None and self.known.has_resources

    def fingerprint(self, tool: str) -> str:
        """Identifies its current description of a tool; empty if it has no such tool."""
        named = (facts for facts in self.tools or () if facts.name == tool)
        return next((facts.fingerprint(self.config) for facts in named), "")

    async def client(self) -> Client:
        """The connected client; starts the server if necessary."""
        if self._task is None or self._task.done():
            if time.monotonic() < self._next_start:
                raise self._unavailable()
            self._begin()
        wait = self._next_start - time.monotonic()
        if self.state == "failed" and wait > self._environment.patience.longest_wait:
            raise self._unavailable()
        assert self._ready
        return await asyncio.shield(self._ready)

    async def call(
        self, tool: str, arguments: dict[str, Any], context: ToolContext
    ) -> CallToolResult:
        client = await self.client()
        ongoing = PendingCall(context, self.config.entry.timeout, self.mask)
        with self._requests.during(ongoing):
            async with self._explain_errors(tool), ongoing.bounded():
                return await client.call_tool(tool, arguments, progress_callback=ongoing.progress)

    @asynccontextmanager
    async def asking(self, what: str) -> AsyncIterator[Client]:
        client = await self.client()
        async with self._explain_errors(what), asyncio.timeout(self.config.entry.timeout):
            yield client

    async def follow(self, uri: str, on_change: Callable[[], None]) -> None:
        """Report changes of a resource until cancelled, or until the server stops reporting."""
        client = await self.client()
        task = asyncio.create_task(self._following.follow(client, uri, on_change))
        self._follow_tasks.add(task)
        task.add_done_callback(self._follow_tasks.discard)
        task.add_done_callback(_retrieve_exception)
        try:
            await asyncio.wait([task])
        finally:
            task.cancel()
            await asyncio.wait([task])

    @asynccontextmanager
    async def _explain_errors(self, what: str) -> AsyncIterator[None]:
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED
        from pydantic import ValidationError

        try:
            yield
        except TimeoutError:
            why = f"there was no answer within {self.config.entry.timeout:g} seconds"
            raise self._failed(what, why) from None
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                await self._wait_for_end()
            if self._ended.is_set():
                why = f"{self.why or 'the connection ended'}. It is unknown whether it was done"
                raise self._failed(what, why) from None
            raise self._failed(what, error.message, code="tool_failed") from None
        except ValidationError:
            raise self._failed(what, "its answer is not valid MCP") from None
        except (RuntimeError, ValueError) as error:  # raised by the SDK for protocol violations
            raise self._failed(what, str(error)) from None

    async def _wait_for_end(self) -> None:
        """Wait a moment for the exit status of a process whose connection was closed."""
        if self.config.kind == "stdio":
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._environment.patience.last_words):
                    await self._ended.wait()
        self._end("")

    def _failed(self, what: str, why: str, code: str = "mcp_server") -> CoworkError:
        message = f"{what} of the MCP server '{self.config.name}' failed: {self.mask(why)[:2_000]}."
        return ServerUnavailable(message.replace("..", "."), code=code, retryable=False)

    def _unavailable(self) -> ServerUnavailable:
        wait = max(0.0, self._next_start - time.monotonic())
        message = f"The MCP server '{self.config.name}' is not running: {self.why}."
        return ServerUnavailable(message + (f" Retrying in {wait:.0f} s." if wait >= 1 else ""))

    # Life

    async def restart(self) -> None:
        """Start it at the user's request, regardless of pauses."""
        await self.stop()
        self._begin()

    async def stop(self) -> None:
        task, self._task = self._task, None
        self._deaths, self._next_start = 0, 0.0
        if task is not None:
            self._stopping.set()
            if self.state == "ready":  # only then it can shut down gracefully
                await asyncio.wait([task], timeout=self._environment.patience.stop)
            task.cancel()
            await asyncio.wait([task])
        self.state, self.why = "idle", ""

    def _begin(self) -> None:
        self._stopping = asyncio.Event()
        self._ready = _future_client()
        self._task = asyncio.create_task(self._live(), name=f"mcp {self.config.name}")

    async def _live(self) -> None:
        while not self._stopping.is_set():
            began, self._was_ready = time.monotonic(), False
            try:
                await self._serve()
            except asyncio.CancelledError:
                self._fail("it was stopped")
                self._tell("ended", began)
                raise
            except (Exception, BaseExceptionGroup) as error:
                logger.debug("mcp server broke error=%s", type(_innermost(error)).__name__)
                if not self._was_ready:  # otherwise the cause of its end is known already
                    self.why = self._cause(error)
            if self._stopping.is_set():
                self._tell("ended", began)
                break
            self._tell("failed", began)
            pause = self._note_death(time.monotonic() - began)
            self.state = "failed"
            if not self._was_ready:
                self._fail(self.why)
                return  # it is started again on the next use
            if pause > self._environment.patience.longest_wait:
                self._fail(self.why)
                self._ready = _future_client()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._next_start - time.monotonic()):
                    await self._stopping.wait()
        self._fail("it was stopped")

    def _tell(
        self, state: Literal["started", "ended", "failed"], since: float, tools: int | None = None
    ) -> None:
        place = (self.config.name, self.config.kind, time.monotonic() - since)
        self._environment.observe(McpServerChanged(state, *place, tools))

    def _note_death(self, lived: float) -> float:
        """Returns the pause before the next start."""
        patience = self._environment.patience
        self._deaths = 1 if lived >= patience.steady else self._deaths + 1
        pause = patience.pauses[min(self._deaths, len(patience.pauses)) - 1]
        self._next_start = time.monotonic() + pause
        return pause

    def _fail(self, why: str) -> None:
        self.state, self.why = "failed", why
        if self._ready and not self._ready.done():
            self._ready.set_exception(self._unavailable())

    async def _serve(self) -> None:
        """Returns when the server has ended; raises if it never started."""
        began, self.state, self.why = time.monotonic(), "starting", ""
        self._ended, self._changed = asyncio.Event(), asyncio.Event()
        if lack := missing_extra("mcp"):
            raise ServerUnavailable(f"MCP servers cannot be used. {lack}", code="mcp_missing")
        from . import sdk

        server = resolve(self.config.entry, os.environ, self._environment.folder)
        self.tail.mask = self.mask = Mask(server.secrets)
        client = sdk.new_client(
            *(self.config, server, self.tail),
            on_end=self._end,
            on_change=self._changed.set,
            on_update=self._following.notify,
            elicit=self._requests.elicit,
            sample=self._requests.sample if self.config.entry.sampling else None,
        )
        limit = self._environment.patience.start
        try:
            async with asyncio.timeout(limit) as starting, client:
                sdk.take_results_as_they_are(client)
                has_resources = client.server_capabilities.resources is not None
                tools = await sdk.list_tools(client, self.mask)
                self._learn(McpServerFacts(tools, has_resources))
                starting.reschedule(None)
                self._tell("started", began, len(self.tools or ()))
                await self._run(client)
        except TimeoutError:
            raise ServerUnavailable(f"it did not answer within {limit:g} seconds") from None

    async def _run(self, client: Client) -> None:
        self.state, self._was_ready = "ready", True
        assert self._ready
        self._ready.set_result(client)
        watching = asyncio.create_task(self._watch(client))
        ends = [asyncio.ensure_future(event.wait()) for event in (self._ended, self._stopping)]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ending = [*ends, watching, *self._follow_tasks]
            for task in ending:
                task.cancel()
            await asyncio.wait(ending)

    async def _watch(self, client: Client) -> None:
        from . import sdk

        following = asyncio.create_task(sdk.follow_changes(client, self._changed.set))
        following.add_done_callback(_retrieve_exception)
        try:
            while True:
                await self._changed.wait()
                self._changed.clear()
                try:
                    tools = await sdk.list_tools(client, self.mask)
                    self._learn(McpServerFacts(tools, self.has_resources))
                except Exception as error:
                    self.tail.add_line(f"its tools cannot be listed: {self._cause(error)}")
                await asyncio.sleep(0.2)  # throttles a server that reports changes without end
        finally:
            following.cancel()

    def _learn(self, facts: McpServerFacts) -> None:
        if facts != self.known:
            self.known = facts
            self._on_change()

    def _end(self, why: str) -> None:
        if not self._ended.is_set():
            last = self.tail.last_line() if why else ""
            self.why = self.mask(f"{why}: {last}" if last else why) or "the connection ended"
            self._ended.set()
            if self._ready and self._ready.done():
                self.state = "failed"
                self._ready = _future_client()  # callers from now on wait for the restart

    def _cause(self, error: BaseException) -> str:
        """The cause in a few words; the SDK wraps it several times."""
        error = _innermost(error)
        if isinstance(error, CoworkError):
            return error.message
        if self._ended.is_set() and self.why:
            return self.why
        words = str(error).strip() or type(error).__name__
        last = self.tail.last_line()
        return self.mask(f"{words}: {last}" if last and last not in words else words)[:1_000]


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _future_client() -> asyncio.Future[Client]:
    """A future whose exception need not be retrieved."""
    future: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
    future.add_done_callback(_retrieve_exception)
    return future


def _retrieve_exception(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()
