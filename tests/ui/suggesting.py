"""A stand-in for whoever answers gestures: each line of an answer is written down beforehand, and
can be held back until the test has looked."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from playwright.sync_api import Page, Route

from .patience import PATIENCE

Line = dict[str, Any] | threading.Event


class Suggestions:
    """What was asked and decided, and what will be answered next."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.answers: list[list[Line]] = []
        self.requests: list[dict[str, Any]] = []
        self.decisions: list[str] = []
        self.gone = threading.Event()
        """Set when somebody went away before the end."""

    def add(self, *lines: Line) -> None:
        """The next answer."""
        self.answers.append([{"type": "started", "id": "s1", "model": "scripted"}, *lines])

    def propose(self, source: str, why: str = "") -> None:
        """The next answer is this new source, in two pieces."""
        half = len(source) // 2
        pieces = [{"type": "text", "text": one} for one in (source[:half], source[half:])]
        self.add(*pieces, done(source, why))

    def answer(self, page: Page) -> None:
        """Let this stand-in answer the page."""
        page.route(re.compile(r"/cowork/context/[^/]+/suggestions(\?|$)"), self._pass_on)
        page.route(re.compile(r"/suggestions/[^/]+/decision(\?|$)"), self._keep)

    def _pass_on(self, route: Route) -> None:
        self.requests.append(json.loads(route.request.post_data or ""))
        route.continue_(url=f"http://127.0.0.1:{self._port}/")

    def _keep(self, route: Route) -> None:
        self.decisions.append(json.loads(route.request.post_data or "")["decision"])
        route.fulfill(status=204)


def text(words: str) -> dict[str, Any]:
    """One more piece."""
    return {"type": "text", "text": words}


def done(source: str, why: str = "") -> dict[str, Any]:
    """The last line."""
    return {"type": "done", "source": source, "explanation": why, "usage": {}}


def failed(message: str) -> dict[str, Any]:
    """The last line of what went wrong."""
    return {"type": "error", "error": {"code": "busy", "message": message}}


@contextmanager
def suggesting() -> Iterator[Suggestions]:
    """The stand-in, as long as it is needed."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "application/x-ndjson")
            self.end_headers()
            try:
                for line in made.answers.pop(0):
                    if isinstance(line, threading.Event):
                        line.wait(PATIENCE / 1000)
                    else:
                        self.wfile.write(json.dumps(line).encode() + b"\n")
                        self.wfile.flush()
            except OSError:
                made.gone.set()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (its name there)
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made = Suggestions(server.server_port)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield made
        server.shutdown()
        thread.join()
