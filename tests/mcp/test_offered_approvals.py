"""Approvals of guests' calls: asked in their own client and in our panel, the first answer counts.

And calls that outlive a client's patience: tasks.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.session import ElicitationFnT
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult, EmptyResult, Implementation

from cowork_jupyter.parts.mcp.sdk import (
    CancelTask,
    GetTask,
    TaskHandle,
    TaskParams,
    Tasks,
    TaskState,
)
from tests.server.live import LiveServer

from .conftest import PATIENCE
from .offered import LOGIN, Panel, command, said
from .offered import on_disk as on_disk
from .offered import panel as panel
from .offered import server as server

pytestmark = pytest.mark.asyncio

ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])
CHANGE = {"path": "a.txt", "old_text": "one", "new_text": "two"}


@asynccontextmanager
async def guest(
    server: LiveServer,
    name: str,
    answer: ElicitationFnT | None,
    mode: Any = "auto",
    *,
    tasks: bool = False,
    sent: asyncio.Queue[str | None] | None = None,
) -> AsyncIterator[Client]:
    """An agent whose client can ask its user, or knows tasks; `sent` gets its methods."""

    async def note(request: httpx2.Request) -> None:
        if sent is not None:
            sent.put_nowait(request.headers.get("mcp-method"))

    async with httpx2.AsyncClient(
        headers=LOGIN, timeout=PATIENCE, event_hooks={"request": [note]}
    ) as http:
        transport = streamable_http_client(f"{server.api}mcp?role=actor", http_client=http)
        who = Implementation(name=name, version="1")
        extensions = [Tasks()] if tasks else None
        async with Client(
            transport,
            client_info=who,
            mode=mode,
            elicitation_callback=answer,
            extensions=extensions,
        ) as client:
            yield client


def deciding(decision: str, heard: list[str], **more: str) -> ElicitationFnT:
    async def answer(context: Any, params: ElicitRequestParams) -> ElicitResult:
        heard.append(params.message)
        return ElicitResult(action="accept", content={"decision": decision, **more})

    return answer


async def closing(context: Any, params: ElicitRequestParams) -> ElicitResult:
    """A user who closes the form."""
    return ElicitResult(action="cancel")


async def never(context: Any, params: ElicitRequestParams) -> ElicitResult:
    """A user who has gone to lunch."""
    await asyncio.Event().wait()
    raise AssertionError


@ERAS
async def test_the_guests_own_user_allows_a_call_once_and_it_is_on_record(
    server: LiveServer, panel: Panel, on_disk: Callable[[], str], mode: str
) -> None:
    name, heard = f"asked-{mode}", list[str]()
    async with guest(server, name, deciding("allow", heard), mode) as client:
        assert not (await client.call_tool("update_file", CHANGE)).is_error
        assert on_disk() == "two\n"
        # Once: the next call asks again.
        back = {"path": "a.txt", "old_text": "two", "new_text": "one"}
        assert not (await client.call_tool("update_file", back)).is_error
    assert len(heard) == 2
    assert "update_file a.txt" in heard[0]
    assert "+two" in heard[0]
    (first, _) = await panel.events(name, "permission-resolved")
    assert (first["decision"], first["scope"], first["by"]) == ("allow", "once", name)


@ERAS
async def test_what_the_guests_user_refuses_is_not_done_and_their_words_are_told(
    server: LiveServer, on_disk: Callable[[], str], mode: str
) -> None:
    answer = deciding("deny", [], reason="Not now.")
    async with guest(server, f"refused-{mode}", answer, mode) as client:
        result = await client.call_tool("update_file", CHANGE)
    assert result.is_error
    assert "They said: Not now." in said(result)
    assert on_disk() == "one\n"


@pytest.mark.parametrize("content", [{}, {"decision": "yes"}, {"decision": True}, None])
async def test_whatever_is_not_a_clear_yes_is_none(
    server: LiveServer, on_disk: Callable[[], str], content: Any
) -> None:
    async def answer(context: Any, params: ElicitRequestParams) -> ElicitResult:
        return ElicitResult(action="accept", content=content)

    async with guest(server, "unclear", answer) as client:
        assert (await client.call_tool("update_file", CHANGE)).is_error
    assert on_disk() == "one\n"


@ERAS
@pytest.mark.parametrize("user", ["never", "closing"])
async def test_the_panel_can_answer_first_or_when_the_form_was_closed(
    server: LiveServer, panel: Panel, on_disk: Callable[[], str], mode: str, user: str
) -> None:
    name = f"panel-{mode}-{user}"
    answer: ElicitationFnT = closing if user == "closing" else never
    async with guest(server, name, answer, mode) as client:
        call = asyncio.create_task(client.call_tool("update_file", CHANGE))
        asked = await panel.asked(name)
        await panel.post(f"permissions/{asked['id']}", {"decision": "allow", "scope": "once"})
        if user == "closing" or mode == "legacy":
            assert not (await call).is_error
        else:  # it has been told to wait for its user, and is done here all the same
            async with asyncio.timeout(PATIENCE):
                while on_disk() == "one\n":
                    await asyncio.sleep(0.05)
            call.cancel()
    assert on_disk() == "two\n"


async def test_a_long_call_gives_a_handle_and_its_result_later(
    server: LiveServer, panel: Panel, on_disk: Callable[[], str]
) -> None:
    async with guest(server, "patient", None, tasks=True) as client:
        handle = await client.session.call_tool("update_file", CHANGE, allow_claimed=True)
        assert isinstance(handle, TaskHandle)  # nobody has answered within five seconds
        which = TaskParams(task_id=handle.task_id)
        state = await client.session.send_request(GetTask(params=which), TaskState)
        assert (state.status, state.result) == ("working", None)
        assert state.status_message == "Waiting for the user: update_file a.txt"
    # The client is gone. The call is not.
    asked = await panel.asked("patient")
    await panel.post(f"permissions/{asked['id']}", {"decision": "allow", "scope": "once"})
    async with guest(server, "patient", None, tasks=True) as client, asyncio.timeout(PATIENCE):
        while state.status == "working":
            state = await client.session.send_request(GetTask(params=which), TaskState)
    assert state.status == "completed"
    assert not CallToolResult.model_validate(state.result).is_error
    assert on_disk() == "two\n"


@pytest.mark.slow
async def test_the_sdks_own_client_waits_for_a_handle_by_itself(
    server: LiveServer, panel: Panel, on_disk: Callable[[], str]
) -> None:
    sent = asyncio.Queue[str | None]()
    async with guest(server, "by-itself", None, tasks=True, sent=sent) as client:
        call = asyncio.create_task(client.call_tool("update_file", CHANGE))
        asked = await panel.asked("by-itself")
        async with asyncio.timeout(PATIENCE):
            while await sent.get() != "tasks/get":
                pass
        await panel.post(f"permissions/{asked['id']}", {"decision": "allow", "scope": "once"})
        assert not (await call).is_error
    assert on_disk() == "two\n"


async def test_a_handle_can_be_cancelled_and_belongs_to_its_door(
    server: LiveServer, panel: Panel, on_disk: Callable[[], str]
) -> None:
    async with guest(server, "cancels", None, tasks=True) as client:
        handle = await client.session.call_tool("update_file", CHANGE, allow_claimed=True)
        assert isinstance(handle, TaskHandle)
        which = TaskParams(task_id=handle.task_id)
        other = TaskParams(task_id="guessed")
        with pytest.raises(MCPError):
            await client.session.send_request(GetTask(params=other), TaskState)
        await client.session.send_request(CancelTask(params=which), EmptyResult)
        async with asyncio.timeout(PATIENCE):
            while True:
                state = await client.session.send_request(GetTask(params=which), TaskState)
                if state.status == "cancelled":
                    break
    context = await panel.conversation("cancels")
    assert (await panel.get(f"context/{context}/permissions"))["items"] == []
    assert on_disk() == "one\n"


@pytest.mark.slow
async def test_a_process_without_a_panel_asks_its_clients_user(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    file = tmp_path / "workspace" / "a.txt"
    file.write_text("one\n")
    heard: list[str] = []
    users: dict[str, ElicitationFnT] = {"one\n": closing, "two\n": deciding("allow", heard)}
    for after, answer in users.items():
        transport = stdio_client(command(tmp_path, "--role", "actor"))
        async with Client(transport, elicitation_callback=answer) as client:
            result = await client.call_tool("update_file", CHANGE)
        assert result.is_error == (answer is closing)
        assert file.read_text() == after
    assert len(heard) == 1


async def test_tools_come_in_a_fixed_order(server: LiveServer) -> None:
    async with guest(server, "lists", None) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
    assert names == sorted(names)
