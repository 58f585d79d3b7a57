"""Servers on this machine are found by their answers, and asked for nothing but what they have."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from cowork_jupyter.llm.model_probe import KnownServer, ServedModel, find_servers

Answers = dict[str, Any]


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """These servers are there, however busy the machine is."""
    monkeypatch.setattr("cowork_jupyter.llm.model_probe._PROBE_TIMEOUT", 60.0)


@contextmanager
def serving(answers: Answers) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """A server that knows some addresses; gives its port and what it was asked."""
    asked: list[tuple[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.command, self.path))
            assert "Authorization" not in self.headers
            known = answers.get(self.path)
            self.send_response(404 if known is None else 200)
            self.end_headers()
            self.wfile.write(known if isinstance(known, bytes) else json.dumps(known).encode())

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield http.server_port, asked
        finally:
            http.shutdown()
            thread.join()


def test_each_kind_is_found_with_its_models_and_their_sizes() -> None:
    ollama = {
        "/v1/models": {"data": [{"id": "qwen:7b"}]},
        "/api/show": {"model_info": {"qwen2.context_length": 32768, "general.size": 7}},
    }
    lmstudio = {
        "/v1/models": {"data": [{"id": "phi"}]},
        "/api/v0/models/phi": {"id": "phi", "max_context_length": 4096},
    }
    with serving(ollama) as (first, _), serving(lmstudio) as (second, _):
        found = find_servers(
            [KnownServer("ollama", "Ollama", first), KnownServer("lmstudio", "LM Studio", second)]
        )
    assert [one.base_url for one in found] == [
        f"http://127.0.0.1:{first}/v1",
        f"http://127.0.0.1:{second}/v1",
    ]
    assert found[0].models == (ServedModel("qwen:7b", 32768),)
    assert found[1].models == (ServedModel("phi", 4096),)


def test_whatever_else_listens_there_is_no_model_server() -> None:
    page = {"/v1/models": b"<html>hello</html>"}
    empty: Answers = {"/v1/models": {"data": []}}
    with serving(page) as (one, asked), serving(empty) as (two, _), serving({}) as (three, _):
        kinds = [KnownServer("vllm", "vLLM", port) for port in (one, two, three)]
        assert find_servers(kinds) == []
    assert asked == [("GET", "/v1/models")]


def test_nobody_there_is_nothing_found() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        assert find_servers([KnownServer("vllm", "vLLM", taken.getsockname()[1])]) == []


def test_a_size_that_nobody_tells_is_left_open() -> None:
    with serving({"/v1/models": {"data": [{"id": "m"}]}}) as (port, _):
        (found,) = find_servers([KnownServer("llama.cpp", "llama.cpp", port)])
    assert found.models == (ServedModel("m", None),)
