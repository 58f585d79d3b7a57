"""Events over the WebSocket: every one, once, in order, whatever the client does."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError
from tornado.websocket import WebSocketClientConnection

from tests.scripted import Rule, ScriptedServer, stall, text

from .api import PATIENCE, Api

pytestmark = pytest.mark.usefixtures("connected")


async def read_until_the_end(socket: WebSocketClientConnection) -> list[dict[str, Any]]:
    seen: list[dict[str, Any]] = []
    async with asyncio.timeout(PATIENCE):
        while not seen or seen[-1]["type"] != "job-completed":
            frame = await socket.read_message()
            assert frame is not None, "the socket was closed"
            seen.append(json.loads(frame))
    return seen


async def test_a_socket_gives_what_was_and_what_comes(
    api: Api, jp_ws_fetch: Any, scripted: ScriptedServer
) -> None:
    scripted.add(text("one two three"), text("four five"))
    context = await api.new_context()
    accepted = await api.post(f"context/{context}/messages", {"content": "a"}, status=202)
    await api.ended(accepted["job_id"])
    socket = await jp_ws_fetch("cowork", "context", context, "events", "ws")
    first = await read_until_the_end(socket)
    await api.post(f"context/{context}/messages", {"content": "b"}, status=202)
    second = await read_until_the_end(socket)
    numbers = [event["seq"] for event in first + second]
    assert numbers == sorted(set(numbers))  # pieces that became one leave their places empty
    told = [event["data"]["text"] for event in first + second if event["type"] == "text-delta"]
    assert "".join(told) == "one two threefour five"
    assert set(first[0]) == {
        *("seq", "type", "context_id", "job_id", "task_id", "created_at", "data"),
    }
    socket.close()


def without_text(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Pieces of text become one when their message is stored; all others stay as they are."""
    return [event for event in events if event["type"] != "text-delta"]


@pytest.mark.parametrize("times", [20, pytest.param(100, marks=pytest.mark.slow)])
async def test_a_client_that_drops_many_times_sees_every_event_once_and_in_order(
    api: Api, jp_ws_fetch: Any, scripted: ScriptedServer, times: int
) -> None:
    words = " ".join(f"w{number}" for number in range(200))
    scripted.add(Rule(text(words, delay=0.001)))
    context = await api.new_context()
    seen: list[dict[str, Any]] = []
    jobs = drops = 0
    async with asyncio.timeout(PATIENCE):
        # How many words are one event is up to the machine, so there is a job until it is enough.
        while drops < times or seen[-1]["type"] != "job-completed":
            if not seen or seen[-1]["type"] == "job-completed":
                await api.post(f"context/{context}/messages", {"content": "a"}, status=202)
                jobs += 1
            after = str(seen[-1]["seq"]) if seen else "0"
            socket = await jp_ws_fetch(
                "cowork", "context", context, "events", "ws", params={"after": after}
            )
            for _ in range(1 + drops % 3):
                frame = await socket.read_message()
                seen.append(json.loads(frame))
                if seen[-1]["type"] == "job-completed":
                    break
            socket.close()
            drops += 1
    stored = (await api.get(f"context/{context}/events?after=0&timeout=0"))["events"]
    assert without_text(seen) == without_text(stored)
    shown = "".join(event["data"]["text"] for event in seen if event["type"] == "text-delta")
    assert shown == words * jobs


async def test_a_client_that_does_not_read_holds_up_nobody(
    api: Api, jp_ws_fetch: Any, scripted: ScriptedServer
) -> None:
    words = " ".join("x" * 2000 for _ in range(1500))
    scripted.add(text(words))
    context = await api.new_context()
    sleepy = await jp_ws_fetch("cowork", "context", context, "events", "ws")
    awake = await jp_ws_fetch("cowork", "context", context, "events", "ws")
    accepted = await api.post(f"context/{context}/messages", {"content": "a"}, status=202)
    seen = await read_until_the_end(awake)
    assert (await api.get(f"jobs/{accepted['job_id']}"))["status"] == "completed"
    late = await read_until_the_end(sleepy)
    assert [event["seq"] for event in late] == [event["seq"] for event in seen]
    sleepy.close()
    awake.close()


async def test_a_stranger_gets_no_socket(api: Api, jp_ws_fetch: Any) -> None:
    context = await api.new_context()
    with pytest.raises(HTTPClientError) as refusal:
        await jp_ws_fetch(
            "cowork", "context", context, "events", "ws", headers={"Authorization": "token no"}
        )
    assert refusal.value.code == 403


async def test_a_page_from_elsewhere_gets_no_socket(
    api: Api, jp_ws_fetch: Any, jp_serverapp: Any
) -> None:
    from tornado.httpclient import HTTPRequest
    from tornado.websocket import websocket_connect

    context = await api.new_context()
    url = f"ws://localhost:{jp_serverapp.port}{jp_serverapp.base_url}cowork/context/{context}"
    login = {"Cookie": "username=nobody", "Origin": "http://evil.example"}
    with pytest.raises(HTTPClientError) as refusal:
        await websocket_connect(HTTPRequest(f"{url}/events/ws", headers=login))
    assert refusal.value.code == 403


async def test_a_request_that_wants_no_socket_gets_an_error_like_everywhere(api: Api) -> None:
    context = await api.new_context()
    address = f"context/{context}/events/ws"
    await api.refused("GET", address, status=400, code="bad_request")
    api._headers.pop("Authorization")
    await api.refused("GET", address, status=403, code="unauthenticated")


async def test_the_socket_is_described_with_everything_else(api: Api) -> None:
    document = await api.get("openapi.json")
    described = document["paths"]["/context/{id}/events/ws"]["get"]["responses"]
    content = described["101"]["content"]["application/json"]
    assert content["schema"]["$ref"].rpartition("/")[2] in document["components"]["schemas"]


async def test_an_unknown_context_closes_the_socket_with_a_reason(
    api: Api, jp_ws_fetch: Any
) -> None:
    socket = await jp_ws_fetch("cowork", "context", "nope", "events", "ws")
    assert await socket.read_message() is None
    assert socket.close_code == 4404
    assert "nope" in socket.close_reason
    socket.close()


async def test_when_the_server_stops_the_job_is_interrupted_and_the_socket_says_why(
    api: Api, jp_ws_fetch: Any, jp_serverapp: Any, scripted: ScriptedServer
) -> None:
    scripted.add(stall())
    context = await api.new_context()
    await api.post(f"context/{context}/messages", {"content": "a"}, status=202)
    socket = await jp_ws_fetch("cowork", "context", context, "events", "ws")
    extension = jp_serverapp.extension_manager.extension_apps["cowork_jupyter"].copy().pop()
    database = extension.service.settings.database
    await extension.stop_extension()
    frames = []
    async with asyncio.timeout(PATIENCE):
        while (frame := await socket.read_message()) is not None:
            frames.append(json.loads(frame))
    assert socket.close_code == 1001
    assert "shutting down" in socket.close_reason
    socket.close()

    from cowork_jupyter.store import Store

    with Store(database) as store:
        (job,) = store.jobs(context)
    assert job.status == "interrupted"


@pytest.mark.parametrize("asked", ["after=-1", "after=abc", "after=0&after=1", "since=1"])
async def test_what_a_socket_cannot_start_from_is_refused_before_it_opens(
    api: Api, jp_ws_fetch: Any, asked: str
) -> None:
    context = await api.new_context()
    params = [tuple(each.split("=")) for each in asked.split("&")]
    with pytest.raises(HTTPClientError) as refusal:
        await jp_ws_fetch("cowork", "context", context, "events", "ws", params=params)
    assert refusal.value.code == 422
