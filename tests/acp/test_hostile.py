"""A client that sends nonsense is told so, and the agent goes on."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .editor import AGENT, agent_environment
from .published import check

Answer = dict[str, Any]

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602
NOT_FOUND = -32002


class Agent:
    """The bare process: bytes in, lines out."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        assert process.stdin
        assert process.stdout
        self._stdin, self._stdout = process.stdin, process.stdout

    def send(self, data: bytes) -> None:
        self._stdin.write(data + b"\n")
        self._stdin.flush()

    def answer(self) -> Answer:
        """The next line, which has to be an answer."""
        found: Answer = json.loads(self._stdout.readline())
        assert found["jsonrpc"] == "2.0"
        if "error" in found:
            check("Error", found["error"])
        return found

    def ask(self, method: str, params: object = None) -> Answer:
        self.send(json.dumps(_request(method, params)).encode())
        return self.answer()

    def end(self) -> tuple[bytes, int]:
        """Close its input; what it still said, and its exit code."""
        self._stdin.close()
        return self._stdout.read(), self.process.wait(60)


def _request(method: str, params: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": "one", "method": method, "params": params}


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    """One process for all that is sent here: none of it may end it."""
    home = tmp_path_factory.mktemp("home")
    environment = agent_environment(home, "http://127.0.0.1:9/v1")
    pipe = subprocess.PIPE
    with (
        (home / "log").open("wb") as log,
        subprocess.Popen(AGENT, stdin=pipe, stdout=pipe, stderr=log, env=environment) as process,
    ):
        agent = Agent(process)
        yield agent
        said, exit_code = agent.end()
        assert (said, exit_code) == (b"", 0)


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (b"hello", PARSE_ERROR),
        (b"\xff\xfe\x00", PARSE_ERROR),
        (b'{"jsonrpc": "2.0", "id": 1, "method": ', PARSE_ERROR),
        (b"[" * 100_000, PARSE_ERROR),
        (b"[]", INVALID_REQUEST),
        (b"42", INVALID_REQUEST),
        (b"null", INVALID_REQUEST),
        (b'{"id": 1, "method": "initialize"}', INVALID_REQUEST),
        (b'{"jsonrpc": "2.0"}', INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": [], "method": "initialize"}', INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": 1, "method": {}}', INVALID_REQUEST),
    ],
)
def test_what_is_no_frame_is_refused(agent: Agent, frame: bytes, code: int) -> None:
    agent.send(frame)
    assert agent.answer()["error"]["code"] == code


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("session/fly", {}, NO_METHOD),
        ("_private/thing", {}, NO_METHOD),
        ("initialize", {}, INVALID_PARAMS),
        ("initialize", [1], INVALID_PARAMS),
        ("session/new", {"cwd": "/nowhere/at/all", "mcpServers": []}, INVALID_PARAMS),
        ("session/new", {"cwd": "relative", "mcpServers": []}, INVALID_PARAMS),
        ("session/new", {"cwd": 3, "mcpServers": []}, INVALID_PARAMS),
        ("session/new", {"cwd": "\ud800", "mcpServers": []}, INVALID_PARAMS),
        ("session/prompt", {"sessionId": "no", "prompt": []}, NOT_FOUND),
        ("session/set_mode", {"sessionId": "no", "modeId": "actor"}, NOT_FOUND),
    ],
)
def test_what_cannot_be_done_is_an_error(
    agent: Agent, method: str, params: object, code: int
) -> None:
    answer = agent.ask(method, params)
    assert answer["id"] == "one"
    assert answer["error"]["code"] == code


def test_answers_that_nobody_asked_for_and_unknown_news_are_passed_over(
    agent: Agent, tmp_path: Path
) -> None:
    agent.send(b"")
    agent.send(b'{"jsonrpc": "2.0", "id": 77, "result": {}}')
    agent.send(b'{"jsonrpc": "2.0", "id": 78, "error": "no"}')
    agent.send(b'{"jsonrpc": "2.0", "id": {}, "result": {}}')
    agent.send(b'{"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "no"}}')
    agent.send(b'{"jsonrpc": "2.0", "method": "session/unheard", "params": {}}')
    made = agent.ask("session/new", {"cwd": str(tmp_path), "mcpServers": []})
    assert made["result"]["sessionId"]
    assert agent.answer()["method"] == "session/update"  # the commands


def test_an_empty_prompt_is_refused(agent: Agent, tmp_path: Path) -> None:
    made = agent.ask("session/new", {"cwd": str(tmp_path), "mcpServers": []})
    assert agent.answer()["method"] == "session/update"
    session = made["result"]["sessionId"]
    answer = agent.ask("session/prompt", {"sessionId": session, "prompt": []})
    assert answer["error"]["code"] == INVALID_PARAMS
