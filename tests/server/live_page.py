"""A page of a real Jupyter server in which a person has a notebook open and runs its cells."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import websocket

from tests.unit.hosts.kernel.kernels import SECONDS, Cells, Shown

from .live import TOKEN, LiveServer


class LivePage:
    """Says what our Lab extension says, and answers that it has no more to say."""

    def __init__(self, server: LiveServer, path: str) -> None:
        address = f"{server.api.replace('http', 'ws', 1)}ws"
        headers = {"Authorization": f"token {TOKEN}"}
        self._socket = websocket.create_connection(address, header=headers, timeout=SECONDS)
        self._path = path
        self._heard = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()
        self._say(type="documents", documents=[{"path": path, "current": True}], focused=True)

    def start(self, cell_id: str, source: str) -> None:
        """Tell that a person has run a cell, as Lab's action for that does."""
        self._say(type="cell-started", path=self._path, cell_id=cell_id, source=source)

    def end(self, cell_id: str | None = None) -> None:
        """Tell that it has ended, or all have."""
        self._say(type="cell-ended", path=self._path, cell_id=cell_id)

    def run(self, cells: Cells, source: str, cell_id: str) -> Shown:
        """Run a cell to its end, as a person does."""
        self.start(cell_id, source)
        shown = cells.run(source, cell_id)
        self.end(cell_id)
        return shown

    def close(self) -> None:
        self._socket.close()

    def _say(self, **frame: Any) -> None:
        """Until the server has taken it in: it answers in turn, and knows no such conversation."""
        self._heard.clear()
        self._socket.send(json.dumps(frame))
        asks = {"type": "subscribe", "subscription": 1, "context_id": "none"}
        self._socket.send(json.dumps(asks))
        assert self._heard.wait(SECONDS)

    def _listen(self) -> None:
        while self._socket.connected:
            try:
                frame = json.loads(self._socket.recv())
            except (OSError, ValueError, websocket.WebSocketException):
                return
            if frame["type"] == "refused":
                self._heard.set()
            elif frame["type"] == "question":
                part = json.dumps({"ok": False, "code": "not_open"})
                answer = {"type": "answer", "question": frame["id"], "part": part, "last": True}
                self._socket.send(json.dumps(answer))


@contextmanager
def live_page(server: LiveServer, path: str) -> Iterator[LivePage]:
    """`with live_page(server, "a.ipynb") as person: person.run(cells, "%%act", "c1")`"""
    page = LivePage(server, path)
    try:
        yield page
    finally:
        page.close()
