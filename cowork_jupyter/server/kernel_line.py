"""A line of our own to a kernel: messages go out, and only the answers to them come back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from queue import Empty
from typing import Any, Literal

import zmq.asyncio
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_core.utils import ensure_async

from ..domain.errors import CoworkError, Unavailable

Message = dict[str, Any]
LOOK_UP = 0.25
"""Seconds after which one looks whether a silent kernel is still alive."""
_WELCOME = 0.1
"""Seconds in which a kernel that greets its subscribers has done so."""


class KernelDied(CoworkError):
    """The kernel is not there any more, and its variables with it."""

    code = "kernel_died"


class KernelLine:
    """One connection, with a session of its own: sharing the server's would mix up answers."""

    def __init__(self, manager: Any, client: AsyncKernelClient) -> None:
        self.manager = manager
        self._client = client
        self._process = _process(manager)

    @classmethod
    @asynccontextmanager
    async def open(cls, manager: Any, *, listen: bool = False) -> AsyncIterator[KernelLine]:
        """A line that is closed in the end; one that listens hears all that a kernel tells."""
        facts = manager.get_connection_info(session=False)
        if not facts.get("shell_port"):
            raise Unavailable(
                "This kernel runs behind a gateway and cannot be reached from here.",
                code="remote_kernel",
                retryable=False,
            )
        # Not the manager's own context: ending that one waits until all its lines are closed.
        client = AsyncKernelClient(context=zmq.asyncio.Context.instance())
        client.load_connection_info(facts)
        client.start_channels(iopub=listen, stdin=False, hb=False)
        try:
            yield cls(manager, client)
        finally:
            client.stop_channels()

    def send(
        self,
        kind: str,
        content: Message | None = None,
        *,
        channel: Literal["shell", "control"] = "shell",
        subshell: str | None = None,
    ) -> str:
        """Send a request; its id."""
        message = self._client.session.msg(kind, content or {})
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
            message: Message = await self._client.iopub_channel.get_msg(timeout=LOOK_UP)
        except Empty:
            await self.check_alive()
            return None
        return message

    async def listen(self) -> None:
        """Wait until the kernel is heard. What it tells before that is lost.

        New kernels greet; others are asked something, over and over, on a channel that they
        answer also when they are busy.
        """
        channel: Any = self._client.iopub_channel
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
        if _process(self.manager) == self._process and await ensure_async(self.manager.is_alive()):
            return
        raise KernelDied(
            "The kernel died or was restarted, and all its variables are gone. Run the cells "
            "that define them again.",
            advice="Do not run the same code again if it may be what killed the kernel.",
        )

    async def interrupt(self) -> None:
        await ensure_async(self.manager.interrupt_kernel())

    def _channel(self, name: Literal["shell", "control"]) -> Any:
        return self._client.shell_channel if name == "shell" else self._client.control_channel


def _process(manager: Any) -> Any:
    return getattr(manager.provisioner, "pid", None)


async def within(seconds: float, work: Any) -> Any:
    """The result of work that must not take longer; `TimeoutError` if it does."""
    async with asyncio.timeout(seconds):
        return await work
