"""The one socket of a page: many conversations, activity, and who gets which of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from jupyter_server.auth import Authorizer
from tornado.httpclient import HTTPClientError

from cowork_jupyter.hosts.server import sockets
from cowork_jupyter.hosts.server.handler import KERNEL_TOKEN_HEADER
from tests.scripted import Rule, ScriptedServer, text

from .api import PATIENCE, Api
from .test_events import without_text

pytestmark = pytest.mark.usefixtures("connected")

Frame = dict[str, Any]


class FakePage:
    """Says what a page says, and keeps what it hears."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket

    async def subscribe(self, number: int, context_id: str, after: int = 0) -> None:
        await self.say(type="subscribe", subscription=number, context_id=context_id, after=after)

    async def say(self, **frame: Any) -> None:
        await self._socket.write_message(json.dumps(frame))

    async def hear(self) -> Frame:
        async with asyncio.timeout(PATIENCE):
            message = await self._socket.read_message()
        assert message is not None, "the socket was closed"
        frame: Frame = json.loads(message)
        return frame

    async def hear_until(self, is_last: Callable[[Frame], bool]) -> list[Frame]:
        heard = [await self.hear()]
        while not is_last(heard[-1]):
            heard.append(await self.hear())
        return heard

    async def closed(self) -> tuple[int | None, str | None]:
        async with asyncio.timeout(PATIENCE):
            while await self._socket.read_message() is not None:
                pass
        return self._socket.close_code, self._socket.close_reason


@pytest.fixture
def open_page(jp_ws_fetch: Any) -> Callable[[], Any]:
    @asynccontextmanager
    async def opened() -> AsyncIterator[FakePage]:
        socket = await jp_ws_fetch("cowork", "ws")
        page = FakePage(socket)
        assert await page.hear() == {"type": "hello"}
        yield page
        socket.close()

    return opened


@pytest.fixture
def extension(jp_serverapp: Any) -> Any:
    return next(iter(jp_serverapp.extension_manager.extension_apps["cowork_jupyter"]))


async def said(api: Api, context: str, words: str = "a") -> str:
    """Something was said in a conversation, and answered."""
    sent = await api.post(f"context/{context}/messages", {"content": words}, status=202)
    await api.ended(sent["job_id"])
    return str(sent["job_id"])


def seqs(frames: list[Frame], number: int) -> list[int]:
    """The places of the events that came under this number."""
    return [
        one["event"]["seq"]
        for one in frames
        if one["type"] == "event" and one["subscription"] == number
    ]


def shown(events: Iterable[Frame]) -> str:
    """All the text of some events."""
    return "".join(one["data"]["text"] for one in events if one["type"] == "text-delta")


def ends(*numbers: int, times: int = 1) -> Callable[[Frame], bool]:
    """Whether by now a job was seen to end under each of these numbers."""
    missing = dict.fromkeys(numbers, times)

    def is_last(frame: Frame) -> bool:
        if frame["type"] == "event" and frame["event"]["type"] == "job-completed":
            missing[frame["subscription"]] -= 1
        return not any(missing.values())

    return is_last


async def test_many_conversations_come_over_one_socket_each_in_order(
    api: Api, scripted: ScriptedServer, open_page: Any
) -> None:
    scripted.add(Rule(text("one two three")))
    contexts = [await api.new_context() for _ in range(10)]
    for context in contexts[:5]:
        await said(api, context)
    async with open_page() as page:
        for number, context in enumerate(contexts):
            await page.subscribe(number, context)
        await asyncio.gather(*(said(api, context) for context in contexts[5:]))
        heard = await page.hear_until(ends(*range(10)))
    for number, context in enumerate(contexts):
        places = seqs(heard, number)
        assert places == sorted(set(places))
        first, *mine = (one for one in heard if one.get("subscription") == number)
        assert first["type"] == "subscribed"
        assert shown(one["event"] for one in mine) == "one two three"
        assert {one["event"]["context_id"] for one in mine} == {context}


@pytest.mark.parametrize("times", [20, pytest.param(100, marks=pytest.mark.slow)])
async def test_a_page_that_comes_back_many_times_misses_and_repeats_nothing(
    api: Api, scripted: ScriptedServer, open_page: Any, times: int
) -> None:
    words = " ".join(f"w{number}" for number in range(100))
    scripted.add(Rule(text(words, delay=0.001)))
    contexts = [await api.new_context() for _ in range(2)]
    seen: list[list[Frame]] = [[], []]
    jobs = 0

    def have_ended() -> bool:
        types = [[event["type"] for event in events] for events in seen]
        return all(found.count("job-completed") == jobs for found in types)

    for drop in range(times):
        if have_ended():
            jobs += 1
            for context in contexts:
                await api.post(f"context/{context}/messages", {"content": "a"}, status=202)
        async with open_page() as page:
            for number, context in enumerate(contexts):
                after = seen[number][-1]["seq"] if seen[number] else 0
                await page.subscribe(number, context, after)
            for _ in range(1 + drop % 3):
                frame = (await page.hear_until(lambda one: one["type"] == "event"))[-1]
                seen[frame["subscription"]].append(frame["event"])
                if have_ended():
                    break
    for context, events in zip(contexts, seen, strict=True):
        stored = (await api.get(f"context/{context}/events?after=0&timeout=0"))["events"]
        assert without_text(events) == without_text(stored)[: len(without_text(events))]
        assert (words * jobs).startswith(shown(events))
        assert len(shown(events)) >= len(words) * (jobs - 1)


async def test_a_place_can_be_left_and_taken_again_under_another_number(
    api: Api, scripted: ScriptedServer, open_page: Any
) -> None:
    scripted.add(Rule(text("one")))
    context = await api.new_context()
    await said(api, context)
    async with open_page() as page:
        await page.subscribe(1, context)
        first = await page.hear_until(ends(1))
        await page.say(type="unsubscribe", subscription=1)
        await page.subscribe(2, context, after=seqs(first, 1)[-2])
        await said(api, context)
        second = await page.hear_until(ends(2, times=2))
    assert seqs(second, 1) == []
    assert seqs(second, 2)[0] == seqs(first, 1)[-1]


async def test_what_is_refused_is_refused_for_that_conversation_only(
    api: Api, scripted: ScriptedServer, open_page: Any
) -> None:
    scripted.add(text("one"))
    context = await api.new_context()
    async with open_page() as page:
        await page.subscribe(1, "nope")
        await page.subscribe(2, context)
        refused = (await page.hear_until(lambda one: one["type"] == "refused"))[-1]
        assert (refused["subscription"], refused["code"]) == (1, "not_found")
        assert "nope" in refused["message"]
        await said(api, context)
        assert seqs(await page.hear_until(ends(2)), 2)


async def test_who_may_see_only_their_own_conversations_is_refused_the_others(
    api: Api, open_page: Any, extension: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cowork_jupyter.api.calls import Caller

    mine = await api.new_context()
    monkeypatch.setattr(Caller, "sees_only", property(lambda _: "somebody else"))
    async with open_page() as page:
        await page.subscribe(1, mine)
        refused = (await page.hear_until(lambda one: one["type"] == "refused"))[-1]
    assert refused["code"] == "not_found"


async def test_a_page_can_follow_only_so_many(
    api: Api, scripted: ScriptedServer, open_page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "MAX_SUBSCRIPTIONS", 2)
    scripted.add(text("one"))
    contexts = [await api.new_context() for _ in range(3)]
    async with open_page() as page:
        for number, context in enumerate(contexts):
            await page.subscribe(number, context)
        refused = (await page.hear_until(lambda one: one["type"] == "refused"))[-1]
        assert (refused["subscription"], refused["code"]) == (2, "too_many")
        await page.say(type="unsubscribe", subscription=0)
        await page.subscribe(3, contexts[2])
        await said(api, contexts[2])
        assert seqs(await page.hear_until(ends(3)), 3)


async def test_a_message_that_is_too_large_or_makes_no_sense_ends_the_connection(
    open_page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_page() as page:
        await page.say(type="subscribe", subscription=1, context_id="c", after=-1)
        assert (await page.closed())[0] == 1003
    monkeypatch.setattr(sockets, "MAX_MESSAGE_BYTES", 1000)
    async with open_page() as page:
        await page.say(type="answer", question=1, part="x" * 2000, last=True)
        assert (await page.closed())[0] == 1009


async def test_a_page_that_does_not_read_holds_up_nobody(
    api: Api, scripted: ScriptedServer, open_page: Any
) -> None:
    scripted.add(Rule(text(" ".join("x" * 2000 for _ in range(1500)))))
    loud, quiet = await api.new_context(), await api.new_context()
    async with open_page() as sleepy, open_page() as awake:
        for page in (sleepy, awake):
            await page.subscribe(1, loud)
            await page.subscribe(2, quiet)
        job = await said(api, loud)
        seen = await awake.hear_until(ends(1))
        await said(api, quiet)
        assert seqs(await awake.hear_until(ends(2)), 2)
        assert (await api.get(f"jobs/{job}"))["status"] == "completed"
        late = await sleepy.hear_until(ends(1, 2))
    assert seqs(late, 1) == seqs(seen, 1)


async def test_it_says_where_something_happened_but_not_what(
    api: Api, scripted: ScriptedServer, open_page: Any
) -> None:
    scripted.add(text("one two three"))
    async with open_page() as page:
        context = await api.new_context()
        await said(api, context)
        kinds: set[str] = set()
        while "job-completed" not in kinds:
            frame = await page.hear()
            assert set(frame) == {"type", "happened"}
            assert set(frame["happened"]) == {context}
            kinds.update(frame["happened"][context])
    assert "job-started" in kinds
    assert "text-delta" not in kinds


async def test_when_the_server_stops_the_page_is_told_so(
    api: Api, open_page: Any, extension: Any
) -> None:
    context = await api.new_context()
    async with open_page() as page:
        await page.subscribe(1, context)
        await api.post(f"context/{context}/role", {"role": "planner"})
        await page.hear_until(lambda one: one["type"] == "event")
        await extension.stop_extension()
        assert await page.closed() == (1001, "The server is shutting down.")


async def test_neither_a_stranger_nor_a_kernel_gets_a_socket(
    api: Api, jp_ws_fetch: Any, extension: Any
) -> None:
    with pytest.raises(HTTPClientError, match="403"):
        await jp_ws_fetch("cowork", "ws", headers={"Authorization": "token no"})
    extension.kernel_tokens.kernel_of = lambda _token: type("K", (), {"owner": "x", "id": "k"})()
    with pytest.raises(HTTPClientError, match="403"):
        await jp_ws_fetch("cowork", "ws", headers={KERNEL_TOKEN_HEADER: "token"})
    await api.refused("GET", "ws", status=400, code="bad_request")


async def test_who_may_only_read_hears_everything_but_is_not_believed_about_notebooks(
    api: Api,
    scripted: ScriptedServer,
    open_page: Any,
    jp_serverapp: Any,
    extension: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class OnlyReading(Authorizer):
        def is_authorized(self, _handler: Any, _user: Any, action: str, _resource: str) -> bool:
            return action == "read"

    scripted.add(text("one"))
    context = await api.new_context()
    await said(api, context)
    monkeypatch.setitem(
        jp_serverapp.web_app.settings, "authorizer", OnlyReading(parent=jp_serverapp)
    )
    async with open_page() as page:
        documents = [{"path": "n.ipynb", "current": True}]
        await page.say(type="documents", documents=documents, focused=True)
        await page.subscribe(1, context)
        assert seqs(await page.hear_until(ends(1)), 1)
        assert extension.tabs.showing(f"{jp_serverapp.root_dir}/n.ipynb", "") == []
        assert extension.tabs._tabs == []
