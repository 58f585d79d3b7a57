"""A line of our own to a kernel: messages go out, and only the answers to them come back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from queue import Empty
from typing import Any, Literal, Protocol

import zmq.asyncio
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_core.utils import ensure_async
from jupyter_server.gateway.managers import GatewayKernelManager

from ...domain.errors import CoworkError, Unavailable
from .gateway_channels import GatewayChannels

Message = dict[str, Any]
LOOK_UP = 0.25
"""Seconds after which one looks whether a silent kernel is still alive."""
_WELCOME = 0.1
"""Seconds in which a kernel that greets its subscribers has done so."""


class KernelDied(CoworkError):
    """The kernel is not there any more, and its variables with it."""

    code = "kernel_died"


class Channels(Protocol):
    """A way to a kernel: sockets on this machine, or a gateway's."""

    session: Any
    shell_channel: Any
    control_channel: Any
    iopub_channel: Any

    async def is_alive(self) -> bool:
        """Whether the kernel is still there, and is still the same."""


class KernelLine:
    """One connection, with a session of its own: sharing the server's would mix up answers."""

    def __init__(self, manager: Any, channels: Channels) -> None:
        self.manager = manager
        self._channels = channels

    @classmethod
    @asynccontextmanager
    async def open(cls, manager: Any, *, listen: bool = False) -> AsyncIterator[KernelLine]:
        """A line that is closed in the end; one that listens hears all that a kernel tells."""
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
        """Send a request; its id."""
        message = self._channels.session.msg(kind, content or {})
        if subshell is not None:
            message["header"]["subshell_id"] = subshell
        self._channel(channel).send(message)
        sent: str = message["header"]["msg_id"]
        return sent

    async def answer(self, request: str, channel: Literal["shell", "control"] = "shell") -> Message:
        """The content of the answer to a request, as long as the kernel lives."""
        while True:
            try:
                message = await self._channel(channel).get_msg(timeout=LOOK_UP)
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
        """Send a request and wait for its answer."""
        request = self.send(kind, content, channel=channel, subshell=subshell)
        return await self.answer(request, channel)

    async def hear(self) -> Message | None:
        """The next thing that the kernel tells everybody; None if it is silent for a moment."""
        try:
            message: Message = await self._channels.iopub_channel.get_msg(timeout=LOOK_UP)
        except Empty:
            await self.check_alive()
            return None
        return message

    async def listen(self) -> None:
        """Wait until the kernel is heard. What it tells before that is lost.

        New kernels greet; others are asked something, over and over, on a channel that they
        answer also when they are busy.
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
                wait = LOOK_UP
            else:
                return

    async def check_alive(self) -> None:
        """Raise `KernelDied` if it is gone, or if another has come in its place."""
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
    """Those of a kernel whose sockets can be reached from here."""

    def __init__(self, manager: Any, client: AsyncKernelClient, *, listen: bool) -> None:
        self.session: Any = client.session
        self.shell_channel: Any = client.shell_channel
        self.control_channel: Any = client.control_channel
        self.iopub_channel: Any = client.iopub_channel if listen else None  # made when asked for
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
        # Not the manager's own context: ending that one waits until all its lines are closed.
        client = AsyncKernelClient(context=zmq.asyncio.Context.instance())
        client.load_connection_info(facts)
        client.start_channels(iopub=listen, stdin=False, hb=False)
        try:
            yield cls(manager, client, listen=listen)
        finally:
            client.stop_channels()

    async def is_alive(self) -> bool:
        """Another process in its place has none of its variables."""
        is_same = _process(self._manager) == self._process
        return is_same and bool(await ensure_async(self._manager.is_alive()))


def _process(manager: Any) -> Any:
    return getattr(manager.provisioner, "pid", None)


async def within(seconds: float, work: Any) -> Any:
    """The result of work that must not take longer; `TimeoutError` if it does."""
    async with asyncio.timeout(seconds):
        return await work
