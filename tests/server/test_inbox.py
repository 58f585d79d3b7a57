"""What waits for the user, over all conversations: a list, and a socket that says when to look."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError

from cowork_jupyter.server.handler import KERNEL_TOKEN_HEADER
from tests.scripted import ScriptedServer, call, text

from .api import PATIENCE, Api

pytestmark = pytest.mark.usefixtures("connected")

QUESTION = json.dumps(
    {"type": "question", "question": "Which year?", "options": [{"label": "2025", "value": "2025"}]}
)


async def asked(api: Api, **fields: Any) -> str:
    """A conversation in which a question waits."""
    context = await api.new_context(**fields)
    await api.post(f"context/{context}/messages", {"content": "Sum up sales"}, status=202)
    await api.first_question(context)
    return context


async def test_the_inbox_holds_what_waits_in_all_conversations_oldest_first(
    api: Api, scripted: ScriptedServer
) -> None:
    assert await api.get("inbox") == {"items": [], "next": None}
    scripted.add(text(QUESTION), call("execute_command", command="pip install pyarrow"))
    first = await asked(api, title="Sales", notebook="a.ipynb", role="planner")
    second = await api.new_context(title="Parquet")
    await api.post(f"context/{second}/messages", {"content": "Install it"}, status=202)
    request = await api.first_request(second)

    question, permission = (await api.get("inbox"))["items"]
    assert (question["kind"], question["context_id"]) == ("question", first)
    assert (question["title"], question["notebook"]) == ("Sales", "a.ipynb")
    assert question["question"] == "Which year?"
    assert question["options"][0]["value"] == "2025"
    assert (permission["kind"], permission["title"]) == ("permission", "Parquet")
    assert {name: permission[name] for name in request} == request


async def test_what_is_answered_waits_no_more(api: Api, scripted: ScriptedServer) -> None:
    scripted.add(text(QUESTION), text("Well."))
    await asked(api)
    (item,) = (await api.get("inbox"))["items"]
    await api.post(f"questions/{item['id']}/answer", {"value": "2025"})
    assert (await api.get("inbox"))["items"] == []


async def test_the_socket_says_where_something_happened_but_not_what(
    api: Api, jp_ws_fetch: Any, scripted: ScriptedServer
) -> None:
    scripted.add(text(QUESTION))
    socket = await jp_ws_fetch("cowork", "inbox", "ws")
    context = await asked(api)
    kinds: set[str] = set()
    numbers: list[int] = []
    async with asyncio.timeout(PATIENCE):
        while "question-asked" not in kinds:
            frame = json.loads(await socket.read_message())
            assert set(frame) == {"seq", "happened"}
            assert set(frame["happened"]) == {context}
            numbers.append(frame["seq"])
            kinds.update(frame["happened"][context])
    assert "job-started" in kinds
    assert "text-delta" not in kinds
    assert numbers == sorted(set(numbers))
    socket.close()


async def test_the_socket_is_for_users_only(api: Api, jp_serverapp: Any, jp_ws_fetch: Any) -> None:
    extension = next(iter(jp_serverapp.extension_manager.extension_apps["cowork_jupyter"]))
    extension.kernel_tokens.kernel_of = lambda _token: type("K", (), {"owner": "x", "id": "k"})()
    with pytest.raises(HTTPClientError, match="403"):
        await jp_ws_fetch("cowork", "inbox", "ws", headers={KERNEL_TOKEN_HEADER: "token"})
