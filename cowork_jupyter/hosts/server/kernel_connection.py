"""Our own connection to a kernel, and evaluating our own expressions over it."""

from __future__ import annotations

import ast
import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from queue import Empty
from typing import Any, Literal, Protocol

import zmq.asyncio
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_core.utils import ensure_async
from jupyter_server.gateway.managers import GatewayKernelManager

from ...domain.errors import CoworkError, Unavailable
from ...tools.kernel import inside
from .gateway_channels import GatewayChannels

Message = dict[str, Any]
POLL_SECONDS = 0.25
"""Seconds of silence after which a kernel's liveness is checked."""
_WELCOME = 0.1
"""Seconds in which a kernel that greets new subscribers has done so."""


class KernelDied(CoworkError):
    """The kernel is gone, and its variables with it."""

    code = "kernel_died"


class Channels(Protocol):
    """The channels of a kernel: sockets on this machine, or a gateway's."""

    session: Any
    shell_channel: Any
    control_channel: Any
    iopub_channel: Any

    async def is_alive(self) -> bool:
        """Whether the kernel is alive and still the same process."""


class KernelConnection:
    """A connection with a session of its own: sharing the server's would mix up answers."""

    def __init__(self, manager: Any, channels: Channels) -> None:
        self.manager = manager
        self._channels = channels

    @classmethod
    @asynccontextmanager
    async def open(cls, manager: Any, *, listen: bool = False) -> AsyncIterator[KernelConnection]:
        """`listen` subscribes to iopub."""
        behind_gateway = isinstance(manager, GatewayKernelManager)
        way = GatewayChannels if behind_gateway else _LocalChannels
        async with way.open(manager, listen=listen) as channels:
            yield cls(manager, channels)

    def send(
        self,
        kind: str,
        content: Message | None = None,
        *,
        channel: Literal["shell", "control"] = "shell",
        subshell: str | None = None,
    ) -> str:
        """Send a request and return its id."""
        message = self._channels.session.msg(kind, content or {})
        if subshell is not None:
            message["header"]["subshell_id"] = subshell
        self._channel(channel).send(message)
        sent: str = message["header"]["msg_id"]
        return sent

    async def answer(self, request: str, channel: Literal["shell", "control"] = "shell") -> Message:
        """Wait for the reply's content. Raises KernelDied if the kernel dies first."""
        while True:
            try:
                message = await self._channel(channel).get_msg(timeout=POLL_SECONDS)
            except Empty:
                await self.check_alive()
                continue
            if message["parent_header"].get("msg_id") == request:
                content: Message = message["content"]
                return content

    async def ask(
        self,
        kind: str,
        content: Message | None = None,
        *,
        channel: Literal["shell", "control"] = "shell",
        subshell: str | None = None,
    ) -> Message:
        request = self.send(kind, content, channel=channel, subshell=subshell)
        return await self.answer(request, channel)

    async def receive(self) -> Message | None:
        """The next iopub message; None if the kernel is silent for a moment."""
        try:
            message: Message = await self._channels.iopub_channel.get_msg(timeout=POLL_SECONDS)
        except Empty:
            await self.check_alive()
            return None
        return message

    async def listen(self) -> None:
        """Wait until the iopub subscription works; earlier messages are lost.

        New kernels greet their subscribers. Others are asked for their info again and again, on a
        channel that they answer even when busy.
        """
        channel = self._channels.iopub_channel
        wait = _WELCOME
        while True:
            try:
                await channel.get_msg(timeout=wait)
            except Empty:
                await self.check_alive()
                self.send("kernel_info_request", channel="control")
                self.send("kernel_info_request")
                wait = POLL_SECONDS
            else:
                return

    async def check_alive(self) -> None:
        """Raise `KernelDied` if the kernel is gone or was replaced."""
        if await self._channels.is_alive():
            return
        raise KernelDied(
            "The kernel died or was restarted, and all its variables are gone. Run the cells "
            "that define them again.",
            advice="Do not run the same code again if it may be what killed the kernel.",
        )

    async def interrupt(self) -> None:
        await ensure_async(self.manager.interrupt_kernel())

    def _channel(self, name: Literal["shell", "control"]) -> Any:
        return self._channels.shell_channel if name == "shell" else self._channels.control_channel


class _LocalChannels:
    """For a kernel whose sockets can be reached from here."""

    def __init__(self, manager: Any, client: AsyncKernelClient, *, listen: bool) -> None:
        self.session: Any = client.session
        self.shell_channel: Any = client.shell_channel
        self.control_channel: Any = client.control_channel
        self.iopub_channel: Any = client.iopub_channel if listen else None  # created on access
        self._manager = manager
        self._process = _process(manager)

    @classmethod
    @asynccontextmanager
    async def open(cls, manager: Any, *, listen: bool) -> AsyncIterator[_LocalChannels]:
        facts = manager.get_connection_info(session=False)
        if not facts.get("shell_port"):
            raise Unavailable(
                "This kernel has no sockets that can be reached from here.",
                code="remote_kernel",
                retryable=False,
            )
        # Not the manager's own context: terminating that waits for all its sockets to close.
        client = AsyncKernelClient(context=zmq.asyncio.Context.instance())
        client.load_connection_info(facts)
        client.start_channels(iopub=listen, stdin=False, hb=False)
        try:
            yield cls(manager, client, listen=listen)
        finally:
            client.stop_channels()

    async def is_alive(self) -> bool:
        """A new process in its place has none of its variables."""
        is_same = _process(self._manager) == self._process
        return is_same and bool(await ensure_async(self._manager.is_alive()))


def _process(manager: Any) -> Any:
    return getattr(manager.provisioner, "pid", None)


async def within(seconds: float, work: Any) -> Any:
    async with asyncio.timeout(seconds):
        return await work


BUSY_AFTER = 0.2
"""Seconds in which a busy kernel must let us in before it is reported as busy."""
PATIENCE = 5.0
"""The same for a kernel that is not known to be busy, on a machine that may be."""
EVALUATION_SECONDS = 10.0
"""Seconds that an evaluation may take once it has begun."""
LEAVE_SECONDS = 1.0
FREE_AFTER = 1.0
"""Seconds to wait for an idle kernel, for evaluations between cells."""
_SUBSHELLS = "kernel subshells"


async def report_on(manager: Any, name: str | None) -> dict[str, Any]:
    return await evaluate(manager, inside.expression(name))


async def evaluate(
    manager: Any, expression: str, *, between_cells: bool = False, seconds: float | None = None
) -> dict[str, Any]:
    """Evaluate an expression of ours in a kernel; `between_cells` only while no cell runs.

    `seconds` is the time limit, if more than the default is needed.
    """
    # Its first status may be missed, so an idle kernel can be listed as starting.
    busy = getattr(manager, "execution_state", "") == "busy"
    async with KernelConnection.open(manager) as connection:
        try:
            if between_cells:
                await within(FREE_AFTER, _wait_for_turn(connection))
                subshell = None
            else:
                subshell = await within(BUSY_AFTER if busy else PATIENCE, _enter(connection))
            try:
                reply = await within(
                    seconds or EVALUATION_SECONDS, _evaluate(connection, subshell, expression)
                )
            finally:
                await _leave(connection, subshell)
        except TimeoutError:
            raise _is_busy() from None
    return _parse_reply(reply)


def _is_busy() -> Unavailable:
    return Unavailable(
        "The kernel is busy and does not answer. Try again when its cell has finished.",
        code="kernel_busy",
    )


async def _enter(connection: KernelConnection) -> str | None:
    """Create a subshell if the kernel has them; else wait for its turn between two cells."""
    info = await connection.ask("kernel_info_request", channel="control")
    _check_language(info)
    if _SUBSHELLS in info.get("supported_features", []):
        subshell = await connection.ask("create_subshell_request", channel="control")
        if subshell.get("status") == "ok":
            return str(subshell["subshell_id"])
    await _wait_for_turn(connection)
    return None


async def _wait_for_turn(connection: KernelConnection) -> None:
    _check_language(await connection.ask("kernel_info_request"))


def _check_language(info: dict[str, Any]) -> None:
    language = str(info.get("language_info", {}).get("name", ""))
    if language != "python":
        raise Unavailable(
            f"Inspecting variables is not supported in {language or 'unknown'} kernels. Run code "
            "that prints what you need.",
            code="not_supported",
            retryable=False,
        )


async def _leave(connection: KernelConnection, subshell: str | None) -> None:
    """Delete the subshell's thread; the connection must stay open until that is confirmed."""
    if subshell is not None:
        content = {"subshell_id": subshell}
        with suppress(TimeoutError, CoworkError):
            await within(
                LEAVE_SECONDS, connection.ask("delete_subshell_request", content, channel="control")
            )


async def _evaluate(
    connection: KernelConnection, subshell: str | None, expression: str
) -> dict[str, Any]:
    content = {
        "code": "" if subshell is None else inside.quietly(),
        "silent": True,
        "store_history": False,
        "user_expressions": {"cowork": expression},
        # We never ask, but False would hold for the whole kernel, even for a running cell.
        "allow_stdin": True,
        "stop_on_error": False,
    }
    return await connection.ask("execute_request", content, subshell=subshell)


def _parse_reply(reply: dict[str, Any]) -> dict[str, Any]:
    result = reply.get("user_expressions", {}).get("cowork", {})
    try:
        facts: dict[str, Any] = json.loads(ast.literal_eval(result["data"]["text/plain"]))
    except (KeyError, ValueError, SyntaxError) as error:
        exception = f"{result.get('ename') or reply.get('ename')}: {result.get('evalue')}"
        raise CoworkError(f"Cannot read the kernel's variables: {exception}") from error
    return facts
