"""A hub on this machine, with one file and every bad habit that hubs and networks have."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cowork_jupyter.parts.local_models.model_dir import CATALOGUE

WANTED = CATALOGUE[0]
CONTENT = b"GGUF" + bytes(range(256)) * 12_000
"""About 3 MB, so that it comes in several pieces."""


class Publisher(ThreadingHTTPServer):
    """Serves the listing and the file. Each attribute is one habit."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.content = CONTENT
        self.sha256 = hashlib.sha256(CONTENT).hexdigest()
        self.ranges = True
        self.cuts: list[int] = []
        """After how many bytes each of the next answers is cut off."""
        self.statuses: list[int] = []
        """Instead of the next answers with the file."""
        self.lists = True
        self.asked: list[str] = []
        """The `Range` of each request for the file; empty for one without."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def listing(self) -> object:
        lfs = {"oid": self.sha256, "size": len(CONTENT), "pointerSize": 135}
        file = {"type": "file", "path": WANTED.file, "oid": "0" * 40, "size": len(CONTENT)}
        return [
            {"type": "file", "path": "README.md", "oid": "1" * 40, "size": 10},
            {**file, **({"lfs": lfs} if self.sha256 else {})},
        ]


@contextmanager
def publishing() -> Iterator[Publisher]:
    with Publisher() as publisher:
        thread = threading.Thread(target=publisher.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield publisher
        finally:
            publisher.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: Publisher

    def do_GET(self) -> None:
        publisher, path = self.server, self.path
        if path == f"/api/models/{WANTED.repository}/tree/main" and publisher.lists:
            self._send(200, json.dumps(publisher.listing()).encode())
        elif path == f"/{WANTED.repository}/resolve/main/{WANTED.file}":
            self.send_response(302)  # as the real one does: the file itself is elsewhere
            self.send_header("Location", f"{publisher.address}/mirror")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif path == "/mirror":
            self._file()
        else:
            self._send(404, b"{}")

    def _file(self) -> None:
        publisher = self.server
        asked = self.headers.get("Range", "")
        publisher.asked.append(asked)
        if publisher.statuses:
            self._send(publisher.statuses.pop(0), b"")
        elif asked and publisher.ranges:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            self._send(206, publisher.content[start:])
        else:
            self._send(200, publisher.content)

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.path == "/mirror" and status in (200, 206) and self.server.cuts:
            body = body[: self.server.cuts.pop(0)]
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass
