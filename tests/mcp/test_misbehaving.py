"""Servers that die, hang, flood, lie and talk nonsense: they hurt themselves and nobody else."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest

from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.domain.replies import Question
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.parts.mcp import sdk
from cowork_jupyter.parts.mcp.connection import McpConnection
from cowork_jupyter.parts.mcp.servers import McpServers
from cowork_jupyter.tools.registry import default_tools
from tests.unit.domain.test_health import hide_package

from .conftest import HERE, PATIENCE, House, call, eventually, npm, odd

pytestmark = pytest.mark.asyncio


async def failure(house: House, servers: McpServers, tool: str, **given: Any) -> CoworkError:
    with pytest.raises(CoworkError) as failed:
        await call(house, servers, tool, **given)
    return failed.value


class Process(NamedTuple):
    pid: int
    words: str


def below_us(words: str) -> list[Process]:
    """Processes that we have started, or that those have started, with these words."""
    children = psutil.Process().children(recursive=True)
    found = [Process(one.pid, " ".join(_words(one))) for one in children]
    return [one for one in found if words in one.words]


def _words(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def is_alive(pid: int) -> bool:
    """A zombie is not: whoever should bury it is another matter."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


async def test_one_that_dies_in_the_middle_of_a_call_is_started_again(house: House) -> None:
    servers = await house.ready(odd=odd(), other=odd())
    error = await failure(house, servers, "mcp__odd__die")
    assert "it ended with exit code 3" in error.message
    assert "It is unknown whether it was done" in error.message
    assert not error.retryable
    assert (await call(house, servers, "mcp__odd__echo", text="back")).text == "back"
    assert (await call(house, servers, "mcp__other__echo", text="never away")).text == "never away"


async def test_a_real_server_killed_in_the_middle_of_a_call(house: House) -> None:
    servers = await house.ready(every=npm("server-everything"))
    steps: list[str] = []
    slow = "mcp__every__trigger-long-running-operation"
    context = house.context(output=steps.append)
    running = asyncio.create_task(
        call(house, servers, slow, context, duration=PATIENCE * 2, steps=PATIENCE * 20)
    )
    await eventually(lambda: steps)
    (server,) = (one for one in below_us("server-everything") if "supervisor.py" not in one.words)
    os.kill(server.pid, signal.SIGKILL)
    with pytest.raises(CoworkError, match="it was killed by signal 9"):
        await running
    assert (await call(house, servers, "mcp__every__echo", message="hi")).text == "Echo: hi"


async def test_one_that_keeps_dying_is_left_alone_for_a_while(house: House) -> None:
    house.configure(odd=odd("dead"))
    servers = house.servers(pauses=(0.0, 600.0))
    connection = servers.connection("odd")
    for _ in range(2):
        with pytest.raises(CoworkError, match="I will not start today"):
            await connection.client()
        assert connection.state == "failed"
    with pytest.raises(CoworkError, match=r"Retrying in \d+ s"):
        await connection.client()
    house.configure(odd=odd())
    await servers.restart("odd")
    assert servers.connection("odd").state == "ready"


async def test_the_last_words_of_one_that_ends_are_waited_for(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    overhear = sdk._read_stderr

    async def later(*what: Any) -> None:
        await asyncio.sleep(0.3)
        await overhear(*what)

    monkeypatch.setattr(sdk, "_read_stderr", later)
    monkeypatch.setattr(sdk, "LAST_LINES", PATIENCE)
    house.configure(odd=odd("dead"))
    with pytest.raises(CoworkError, match="exit code 1: I will not start today"):
        await house.servers().connection("odd").client()


async def test_one_that_hangs_at_its_start_keeps_nobody_waiting_twice(house: House) -> None:
    house.configure(slow=odd("silent"), quick=odd())
    servers = house.servers(first_look=PATIENCE * 10, start=PATIENCE * 10)
    registry = default_tools().with_more(servers.tools, servers.prepare)
    first = asyncio.ensure_future(registry.prepare(AgentRole.ACTOR))
    await eventually(lambda: "mcp__quick__echo" in registry)
    assert not first.done()
    first.cancel()
    second = asyncio.ensure_future(registry.prepare(AgentRole.ACTOR))
    await eventually(second.done)
    assert servers.connection("slow").state == "starting"


async def test_one_that_never_gets_ready_is_given_up_and_ended(house: House) -> None:
    house.configure(slow=odd("silent"))
    servers = house.servers(start=1.0)
    with pytest.raises(CoworkError, match="it did not answer within 1 seconds"):
        await servers.connection("slow").client()
    assert not below_us("odd_server.py")


async def test_one_that_greets_without_end_is_no_server(house: House) -> None:
    house.configure(loud=odd("garbage"))
    servers = house.servers()
    with pytest.raises(CoworkError, match="its output is not valid MCP"):
        await servers.connection("loud").client()
    assert "Welcome to my server!" in servers.connection("loud").tail.text()
    assert len(servers.connection("loud").tail.text()) < 50_000


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        ("garble", "its output is not valid MCP"),
        ("nonsense", "its answer is not valid MCP"),
        ("flood", "it sent more than 5,000 messages"),
        ("burst", "it sent a message of more than 16 MiB"),
    ],
)
async def test_nonsense_and_floods_end_the_call_and_hurt_nobody_else(
    house: House, tool: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sdk, "FLOOD_SECONDS", PATIENCE)  # a slow machine floods slowly
    servers = await house.ready(odd=odd(timeout=PATIENCE), other=odd())
    failing = asyncio.create_task(failure(house, servers, f"mcp__odd__{tool}"))
    while not failing.done():
        said = await call(house, servers, "mcp__other__echo", text="still here")
        assert said.text == "still here"
        await asyncio.sleep(0.01)
    assert why in (await failing).message
    assert (await call(house, servers, "mcp__odd__echo", text="back")).text == "back"


async def test_a_call_without_an_answer_ends_and_the_server_is_told(
    house: House, tmp_path: Path
) -> None:
    note = tmp_path / "cancelled"
    entry = odd(timeout=0.5, env={"CANCEL_NOTE": str(note)})
    servers = await house.ready(odd=entry)
    error = await failure(house, servers, "mcp__odd__hang", text=str(tmp_path / "called"))
    assert "there was no answer within 0.5 seconds" in error.message
    await eventually(note.exists)
    assert servers.connection("odd").state == "ready", "one slow call is no reason to end it"


async def test_a_cancel_reaches_the_server(house: House, tmp_path: Path) -> None:
    note, called = tmp_path / "cancelled", tmp_path / "called"
    servers = await house.ready(odd=odd(env={"CANCEL_NOTE": str(note)}))
    running = asyncio.create_task(call(house, servers, "mcp__odd__hang", text=str(called)))
    await eventually(called.exists)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await eventually(note.exists)
    assert (await call(house, servers, "mcp__odd__echo", text="fine")).text == "fine"


async def test_a_question_is_taken_back_with_its_call(house: House) -> None:
    servers = await house.ready(odd=odd())
    asked, withdrawn = asyncio.Event(), asyncio.Event()

    async def think(_question: Question) -> str:
        asked.set()
        try:
            await asyncio.sleep(PATIENCE * 2)
        except asyncio.CancelledError:
            withdrawn.set()
            raise
        return ""

    running = asyncio.create_task(call(house, servers, "mcp__odd__ask", house.context(ask=think)))
    async with asyncio.timeout(PATIENCE):
        await asked.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await withdrawn.wait()


async def test_a_question_that_the_server_takes_back_is_gone(house: House, tmp_path: Path) -> None:
    servers = await house.ready(odd=odd())
    thinking, withdrawn = tmp_path / "thinking", asyncio.Event()

    async def think(_question: Question) -> str:
        thinking.touch()
        try:
            await asyncio.sleep(PATIENCE * 2)
        finally:
            withdrawn.set()
        return ""

    context = house.context(ask=think)
    running = asyncio.create_task(
        call(house, servers, "mcp__odd__drop", context, text=str(thinking))
    )
    async with asyncio.timeout(PATIENCE):
        await withdrawn.wait()
    assert not running.done(), "the call goes on without it"
    running.cancel()
    await asyncio.wait([running])


async def test_much_text_is_cut(house: House) -> None:
    servers = await house.ready(odd=odd())
    result = await call(house, servers, "mcp__odd__big")
    assert 1_000_000 <= len(result.text) < 1_001_000
    assert result.text.endswith("[The rest was cut: the result is too large.]")


async def test_nothing_of_a_server_is_left_when_it_is_stopped(house: House) -> None:
    servers = await house.ready(odd=odd())
    left = int((await call(house, servers, "mcp__odd__leave")).text)
    assert is_alive(left)
    await servers.close()
    await eventually(lambda: not is_alive(left))


async def test_nothing_of_a_server_is_left_when_we_are_killed(house: House) -> None:
    """Also not what it has started in a session of its own."""
    script = f"""
import asyncio
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.parts.mcp.connection import McpConnection
from cowork_jupyter.parts.mcp.environment import McpEnvironment
from cowork_jupyter.parts.mcp.config import read_server
from cowork_jupyter.tools.base import ToolContext
async def main():
    around = McpEnvironment({str(house.workspace)!r}, None)
    server = McpConnection(read_server("odd", {odd()!r}, "user"), around, lambda: None)
    answer = await server.call("leave", {{}}, ToolContext(None, AgentRole.ACTOR))
    print(answer.content[0].text, flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=HERE.parent.parent) as us:  # noqa: ASYNC220
        assert us.stdout
        left = int(await asyncio.to_thread(us.stdout.readline))
        assert is_alive(left)
        us.kill()
    await eventually(lambda: not is_alive(left))


async def test_a_server_whose_settings_changed_is_another_one(house: House) -> None:
    servers = await house.ready(odd=odd())
    before = servers.connection("odd")
    house.configure(odd=odd(env={"ECHO_SAYS": "Something else."}))
    await servers.prepare(AgentRole.ACTOR)
    after = servers.connection("odd")
    assert after is not before
    assert before.state == "idle"
    await after.client()
    assert "Something else." in servers.tools()["mcp__odd__echo"].description


async def test_a_program_or_a_variable_that_is_not_there_is_named(house: House) -> None:
    house.configure(
        program={"command": "no-such-program"},
        variable=odd(env={"KEY": "${NOT_THERE}"}),
        folder=odd(cwd="/not/there"),
    )
    servers = house.servers()

    async def why(connection: McpConnection) -> str:
        with pytest.raises(CoworkError) as failed:
            await connection.client()
        return failed.value.message

    assert "the program 'no-such-program' is not installed" in await why(
        servers.connection("program")
    )
    assert "environment variable NOT_THERE" in await why(servers.connection("variable"))
    assert "its folder /not/there does not exist" in await why(servers.connection("folder"))


async def test_without_the_package_it_says_how_to_get_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide_package(monkeypatch)
    house.configure(odd=odd())
    servers = house.servers()
    await servers.prepare(AgentRole.ACTOR)
    with pytest.raises(CoworkError, match=r"pip install 'cowork-jupyter\[mcp\]'"):
        await servers.connection("odd").client()
    assert (await call(house, servers, "list_directory", path=".")).summary, "all else works"
