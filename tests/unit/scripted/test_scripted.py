"""The scripted model itself, seen through plain HTTP: tests are only as good as it is."""

from __future__ import annotations

import gc
import http.client
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests import scripted as play
from tests.scripted import Rule, Scripted, ScriptedServer
from tests.scripted.__main__ import load

PATIENCE = 60.0
"""Seconds after which a test calls it hanging."""


def ask(server: ScriptedServer, content: str = "Hi", **more: Any) -> tuple[int, bytes, Any]:
    """Status, body and headers of one request."""
    messages = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": content}]
    body = json.dumps({"model": "m", "messages": messages, **more})
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    try:
        connection.request("POST", "/v1/chat/completions", body)
        response = connection.getresponse()
        return response.status, response.read(), response.headers
    finally:
        connection.close()


def said(server: ScriptedServer, content: str = "Hi", **more: Any) -> str:
    """The text of an answer that does not stream."""
    status, body, _ = ask(server, content, **more)
    assert status == 200, body
    text = json.loads(body)["choices"][0]["message"]["content"]
    assert isinstance(text, str)
    return text


def streamed(body: bytes) -> list[Any]:
    lines = [line[6:] for line in body.decode().split("\n\n") if line]
    assert lines.pop() == "[DONE]"
    return [json.loads(line) for line in lines]


def test_replies_are_used_up_in_order(scripted: ScriptedServer) -> None:
    scripted.add(play.text("one"), play.text("two"))
    assert [said(scripted), said(scripted)] == ["one", "two"]
    status, body, _ = ask(scripted, "three?")
    assert status == 400
    assert b"no reply to: three?" in body


def test_rules_answer_by_what_was_said() -> None:
    rules = [
        Rule(play.text("a plan"), user="plan"),
        Rule(play.text("kind"), system="kind", user="who"),
        Rule(play.text("else")),
    ]
    with ScriptedServer(rules) as server:
        answers = [said(server, words) for words in ("a plan?", "who", "a plan?", "what")]
    assert answers == ["a plan", "kind", "a plan", "else"]


def test_streaming(scripted: ScriptedServer) -> None:
    entry = {"name": "read_file", "arguments": {"path": "a.py"}}
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    scripted.add(Scripted(text="a b", reasoning="r", tool_calls=[entry], usage=usage))
    _, body, headers = ask(scripted, stream=True, stream_options={"include_usage": True})
    assert headers["content-type"] == "text/event-stream"
    chunks = streamed(body)
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    assert "".join(delta.get("content", "") for delta in deltas) == "a b"
    calls = [delta["tool_calls"][0]["function"] for delta in deltas if "tool_calls" in delta]
    assert "".join(call["arguments"] for call in calls) == '{"path": "a.py"}'
    assert chunks[-2]["choices"][0]["finish_reason"] == "tool_calls"
    assert chunks[-1]["usage"] == usage


@pytest.mark.parametrize("cut", [0, 10, 300])
def test_the_connection_is_cut_after_that_many_bytes(scripted: ScriptedServer, cut: int) -> None:
    scripted.add(Scripted(text="one two three", cut_after=cut))
    with pytest.raises((http.client.IncompleteRead, ConnectionResetError)) as caught:
        ask(scripted, stream=True)
    if isinstance(caught.value, http.client.IncompleteRead):
        assert len(caught.value.partial) == cut


def open_stream(server: ScriptedServer) -> socket.socket:
    """A client that has asked, and read nothing yet."""
    body = json.dumps({"messages": [{"role": "user", "content": "Hi"}], "stream": True}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: {len(body)}\r\n\r\n"
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
    connection.sendall(head.encode() + body)
    return connection


def test_a_stall_lasts_until_the_client_goes(scripted: ScriptedServer) -> None:
    scripted.add(play.stall())
    with open_stream(scripted) as connection:
        received = b""
        while b"Let" not in received:
            received += connection.recv(4096)
        connection.settimeout(0.1)
        with pytest.raises(TimeoutError):
            connection.recv(1)
        assert not scripted.requests[0].disconnected.is_set()
    assert scripted.requests[0].disconnected.wait(PATIENCE)


def test_a_client_that_goes_and_leaves_something_unread_is_seen_to_go() -> None:
    with ScriptedServer(lambda _: play.text("word " * 60_000, delay=0.001)) as server:
        for _ in range(20):  # for some it is noticed by reading, for others by writing
            with open_stream(server) as connection:
                assert connection.recv(1)
        assert all(exchange.disconnected.wait(PATIENCE) for exchange in server.requests)
        assert len(server.requests) == 20


def test_whoever_comes_as_it_ends_is_let_go_of() -> None:
    def knock(port: int) -> list[socket.socket]:
        """Come in again and again, until there is nobody any more."""
        came: list[socket.socket] = []
        with suppress(OSError):
            while len(came) < 90:  # more would have to wait outside
                came.append(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
        return came

    with ThreadPoolExecutor(1) as pool:
        for _ in range(10):
            with ScriptedServer() as server:
                knocking = pool.submit(knock, server.port)
            for connection in knocking.result():
                connection.close()
    gc.collect()  # a connection that was forgotten would complain


def test_a_script_in_json() -> None:
    script = load(
        [{"when": "a", "text": "A"}, {"text": "B", "delay": 0}, {"system": "s", "text": "C"}]
    )
    assert script == [
        Rule(Scripted(text="A"), user="a"),
        Scripted(text="B", delay=0),
        Rule(Scripted(text="C"), system="s"),
    ]


@pytest.fixture
def program(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"when": "Hi", "text": "Hello!"}]))
    command = [sys.executable, "-m", "tests.scripted", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.terminate()


@pytest.mark.process
def test_it_runs_by_itself(program: subprocess.Popen[str]) -> None:
    assert program.stdout is not None
    address = program.stdout.readline().strip()
    port = int(address.removesuffix("/v1").rpartition(":")[2])
    outside = ScriptedServer(port=port)
    assert said(outside) == "Hello!"
