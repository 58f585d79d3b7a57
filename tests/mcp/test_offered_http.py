"""Agents of others at a real Jupyter server: what they see, what asks, what can be taken back."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import httpx
import psutil
import pytest

from tests.server.live import LiveServer

from .conftest import PATIENCE
from .offered import LOGIN, Panel, over_http, said
from .offered import on_disk as on_disk
from .offered import panel as panel
from .offered import server as server

pytestmark = pytest.mark.asyncio

ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])
CHANGE = {"path": "a.txt", "old_text": "one", "new_text": "two"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    },
}


@ERAS
async def test_a_planner_sees_what_reads_and_cannot_write(
    server: LiveServer, panel: Panel, on_disk: Callable[[], str], mode: str
) -> None:
    name = f"reader-{mode}"
    async with over_http(server, name=name, mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"read_file", "grep", "read_notebook", "list_variables"} <= set(tools)
        assert not {"update_file", "create_file", "execute_command"} & set(tools)
        assert tools["run_code"].input_schema["properties"]["where"]["const"] == "scratch"
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools.values())
        assert tools["read_file"].input_schema["required"] == ["path"]
        assert "one" in said(await client.call_tool("read_file", {"path": "a.txt"}))
        refused = await client.call_tool("update_file", CHANGE)
    assert refused.is_error
    assert "planner may not use update_file" in said(refused)
    assert on_disk() == "one\n"
    results = await panel.events(name, "tool-result")
    assert [one["ok"] for one in results] == [True, False]


@ERAS
async def test_a_change_waits_for_the_user_and_can_be_taken_back(
    server: LiveServer, panel: Panel, on_disk: Callable[[], str], mode: str
) -> None:
    name, heard = f"writer-{mode}", asyncio.Queue[str]()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.put_nowait(message or "")

    async with over_http(server, "actor", name=name, mode=mode) as client:
        call = asyncio.create_task(client.call_tool("update_file", CHANGE, progress_callback=hear))
        asked = await panel.asked(name)
        async with asyncio.timeout(PATIENCE):  # a slow machine tells first that it is running
            while await heard.get() != "Waiting for the user: update_file a.txt":
                pass
        assert not call.done()
        assert on_disk() == "one\n"
        # Meanwhile it can go on reading.
        assert "one" in said(await client.call_tool("read_file", {"path": "a.txt"}))
        assert (asked["tool"], asked["shown"]["kind"]) == ("update_file", "diff")
        await panel.post(f"permissions/{asked['id']}", {"decision": "allow", "scope": "once"})
        assert not (await call).is_error
    assert on_disk() == "two\n"

    context = await panel.conversation(name)
    (job,) = (await panel.get(f"context/{context}/jobs"))["items"]
    async with asyncio.timeout(PATIENCE):
        while job["status"] != "completed":
            job = await panel.get(f"jobs/{job['id']}")
    checkpoints = (await panel.get(f"context/{context}/checkpoints"))["items"]
    (kept,) = [one for one in checkpoints if one["tool"] == "update_file"]
    back = await panel.post(f"checkpoints/{kept['id']}/rollback")
    assert back["restored"] == ["a.txt"]
    assert on_disk() == "one\n"


async def test_what_the_user_denies_is_an_error_with_their_words(
    server: LiveServer, panel: Panel, on_disk: Callable[[], str]
) -> None:
    async with over_http(server, "actor", name="denied") as client:
        call = asyncio.create_task(client.call_tool("update_file", CHANGE))
        asked = await panel.asked("denied")
        answer = {"decision": "deny", "scope": "once", "feedback": "Not this file."}
        await panel.post(f"permissions/{asked['id']}", answer)
        result = await call
    assert result.is_error
    assert "The user did not allow it. They said: Not this file." in said(result)
    assert on_disk() == "one\n"


@ERAS
async def test_who_cancels_a_call_takes_its_question_back(
    server: LiveServer, panel: Panel, on_disk: Callable[[], str], mode: str
) -> None:
    name = f"hasty-{mode}"
    async with over_http(server, "actor", name=name, mode=mode) as client:
        call = asyncio.create_task(client.call_tool("update_file", CHANGE))
        await panel.asked(name)
        call.cancel()
        async with asyncio.timeout(PATIENCE):
            while not (results := await panel.events(name, "tool-result")):
                await asyncio.sleep(0.05)
        assert results[0]["error"]["code"] == "cancelled"
        context = await panel.conversation(name)
        assert (await panel.get(f"context/{context}/permissions"))["items"] == []
        # The same client can go on.
        assert "one" in said(await client.call_tool("read_file", {"path": "a.txt"}))
    assert on_disk() == "one\n"


async def test_the_user_can_stop_what_a_guest_does(
    server: LiveServer, panel: Panel, on_disk: Callable[[], str]
) -> None:
    async with over_http(server, "actor", name="stopped") as client:
        call = asyncio.create_task(client.call_tool("update_file", CHANGE))
        asked = await panel.asked("stopped")
        await panel.post(f"jobs/{asked['job_id']}/cancel")
        result = await call
    assert result.is_error
    assert "The user stopped" in said(result)
    assert on_disk() == "one\n"


async def test_what_is_not_there_is_said(server: LiveServer) -> None:
    async with over_http(server, name="lost") as client:
        with pytest.raises(Exception, match="Did you mean read_file"):
            await client.call_tool("raed_file", {"path": "a.txt"})
        result = await client.call_tool("read_file", {"file": "a.txt"})
        assert result.is_error
        assert "path: is missing" in said(result)
    async with httpx.AsyncClient(headers=LOGIN, timeout=PATIENCE) as http:
        answer = await http.post(f"{server.api}mcp?role=emperor", json=HELLO)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "unknown_role")


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_nobody_comes_in_without_login_or_from_elsewhere(
    server: LiveServer, method: str
) -> None:
    accept = {"Accept": "application/json, text/event-stream"}
    strangers = [
        {},
        {"Authorization": "token wrong"},
        {**LOGIN, "Origin": "http://evil.example"},
        {**LOGIN, "Host": "evil.example"},
    ]
    async with httpx.AsyncClient(timeout=PATIENCE) as http:
        for headers in strangers:
            answer = await http.request(
                method, f"{server.api}mcp", headers={**accept, **headers}, json=HELLO
            )
            assert answer.status_code in {403, 404}, headers
            assert "mcp-session-id" not in answer.headers


async def test_no_second_port_is_opened(server: LiveServer) -> None:
    async with over_http(server, name="counter") as client:
        await client.list_tools()
        process = psutil.Process(server.process_id)
        family = [process, *process.children(recursive=True)]
        ports = {port for member in family for port in listening(member)}
    assert ports == {httpx.URL(server.url).port}


def listening(process: psutil.Process) -> list[int]:
    """The ports at which a process listens; none if it has ended meanwhile."""
    with contextlib.suppress(psutil.NoSuchProcess):
        found = process.net_connections("inet")
        return [one.laddr.port for one in found if one.status == psutil.CONN_LISTEN]
    return []
