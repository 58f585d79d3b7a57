"""The channels of a kernel behind a gateway: one WebSocket with a session of its own.

Jupyter's own gateway client is not used: it blocks the event loop while it connects, spins while it
waits, and does not send the token.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from queue import Empty
from typing import Any

from jupyter_client.jsonutil import json_default
from jupyter_client.session import Session
from jupyter_server.gateway.gateway_client import GatewayClient
from jupyter_server.gateway.managers import GatewayKernelManager
from jupyter_server.services.kernels.connection.base import deserialize_binary_message
from jupyter_server.utils import url_path_join
from tornado.escape import url_escape
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.web import HTTPError
from tornado.websocket import (
    WebSocketClientConnection,
    WebSocketClosedError,
    WebSocketError,
    websocket_connect,
)

from ...domain.errors import Unavailable

Message = dict[str, Any]
ASK_AGAIN = 3.0
"""Seconds between two liveness requests to the gateway for a silent kernel."""
MAX_MESSAGE = 256 * 1024 * 1024
_ANOTHER_PROCESS = {"starting", "restarting", "dead"}
"""States that mean that the process we connected to is gone."""


class GatewayChannels:
    def __init__(self, manager: GatewayKernelManager, *, listen: bool) -> None:
        self.session = Session()
        self.shell_channel = _Channel("shell")
        self.control_channel = _Channel("control")
        self.iopub_channel = _Channel("iopub")
        self._manager = manager
        self._listens = listen
        self._is_gone = False
        self._is_cut_off = False
        self._asked_at = time.monotonic()

    @classmethod
    @asynccontextmanager
    async def open(
        cls, manager: GatewayKernelManager, *, listen: bool
    ) -> AsyncIterator[GatewayChannels]:
        """Connect for the duration of the context; a cancelled caller leaves no connection."""
        channels = cls(manager, listen=listen)
        socket = await channels._connect()
        for channel in (channels.shell_channel, channels.control_channel):
            channel.socket = socket
        try:
            yield channels
        finally:
            socket.close()

    async def is_alive(self) -> bool:
        if self._is_gone:
            return False
        now = time.monotonic()
        if not self._is_cut_off and now - self._asked_at < ASK_AGAIN:
            return True
        self._asked_at = now
        try:
            is_up = await self._manager.is_alive() and self._manager.has_kernel
        except HTTPError as error:
            raise _no_gateway(error.log_message or str(error)) from error
        if is_up and self._is_cut_off:
            raise _no_gateway("the connection was closed")
        return bool(is_up)

    async def _connect(self) -> WebSocketClientConnection:
        gateway = GatewayClient.instance()
        kernel = url_escape(str(self._manager.kernel_id))
        address = url_path_join(gateway.ws_url or "", gateway.kernels_endpoint, kernel, "channels")
        request = HTTPRequest(
            f"{address}?session_id={url_escape(self.session.session)}",
            **gateway.load_connection_args(),
        )
        connecting = asyncio.ensure_future(
            websocket_connect(request, on_message_callback=self._take, max_message_size=MAX_MESSAGE)
        )
        try:
            # Tornado keeps connecting even if the caller is cancelled.
            return await asyncio.shield(connecting)
        except asyncio.CancelledError:
            connecting.add_done_callback(_close)
            raise
        except (HTTPClientError, WebSocketError, OSError) as error:
            raise _no_gateway(str(error)) from error

    def _take(self, data: str | bytes | None) -> None:
        """Handle an incoming message; None means that the connection was closed."""
        if data is None:
            self._is_cut_off = True
            return
        message: Message = (
            json.loads(data) if isinstance(data, str) else deserialize_binary_message(data)
        )
        match message["channel"]:
            case "shell":
                self.shell_channel.messages.put_nowait(message)
            case "control":
                self.control_channel.messages.put_nowait(message)
            case "iopub":
                self._is_gone |= _tells_of_another_process(message)
                if self._listens:
                    self.iopub_channel.messages.put_nowait(message)


class _Channel:
    """One of the channels that share the WebSocket, with the interface of jupyter_client's."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.socket: WebSocketClientConnection | None = None
        self.messages: asyncio.Queue[Message] = asyncio.Queue()

    def send(self, message: Message) -> None:
        """A closed connection is noticed by whoever waits for the answer."""
        assert self.socket
        whole = {**message, "channel": self._name, "buffers": []}
        with suppress(WebSocketClosedError):
            self.socket.write_message(json.dumps(whole, default=json_default))

    async def get_msg(self, timeout: float) -> Message:  # noqa: ASYNC109 - as jupyter_client has it
        """Raises `Empty` on timeout."""
        try:
            async with asyncio.timeout(timeout):
                return await self.messages.get()
        except TimeoutError:
            raise Empty from None


def _tells_of_another_process(message: Message) -> bool:
    kind, content = message["header"]["msg_type"], message["content"]
    state = content.get("execution_state") if kind == "status" else None
    return kind == "shutdown_reply" or state in _ANOTHER_PROCESS


def _close(connecting: asyncio.Future[WebSocketClientConnection]) -> None:
    if not connecting.cancelled() and connecting.exception() is None:
        connecting.result().close()


def _no_gateway(why: str) -> Unavailable:
    return Unavailable(f"The gateway that runs this kernel does not answer: {why}.")
