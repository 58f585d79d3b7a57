"""Whoever waits for a call hears of it: in order, again and again, and never at its cost."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from cowork_jupyter.agents.ask.pending_requests import PendingRequests
from cowork_jupyter.agents.ask.user import PermissionRequest, Ruling
from cowork_jupyter.agents.log import RunLog
from cowork_jupyter.parts.mcp_server import guest_approver as module
from cowork_jupyter.parts.mcp_server.guest_approver import GuestApprover, reporting_progress
from cowork_jupyter.parts.mcp_server.tool_host import GuestCaller

pytestmark = pytest.mark.asyncio


class Guest:
    """Hears what is told."""

    def __init__(self) -> None:
        self.heard = asyncio.Queue[str]()

    async def tell(self, text: str) -> None:
        await self.heard.put(text)

    def all(self) -> list[str]:
        return [self.heard.get_nowait() for _ in range(self.heard.qsize())]


async def test_all_is_told_in_order_before_the_call_is_over() -> None:
    guest = Guest()
    async with reporting_progress("run_cell", guest.tell) as say:
        for text in ("one\n", "two", "  ", "three"):
            say(text)
    assert guest.all() == ["one", "two", "three"]


async def test_a_quick_call_that_says_nothing_is_not_talked_about() -> None:
    guest = Guest()
    async with reporting_progress("read_file", guest.tell):
        pass
    assert guest.all() == []


async def test_silence_is_filled_with_the_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REPEAT_SECONDS", 0.001)
    guest = Guest()
    async with asyncio.timeout(60), reporting_progress("execute_command", guest.tell) as say:
        assert await guest.heard.get() == "execute_command is running"
        assert await guest.heard.get() == "execute_command is running"
        say("compiling")
        while await guest.heard.get() != "compiling":
            pass
        assert await guest.heard.get() == "compiling"


async def test_a_guest_that_has_gone_does_not_hurt_the_call() -> None:
    async def tell(_: str) -> None:
        raise ConnectionResetError

    async with asyncio.timeout(60), reporting_progress("execute_command", tell) as say:
        for number in range(300):
            say(str(number))


async def test_a_guest_that_does_not_listen_holds_nothing_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_DRAIN_SECONDS", 0.01)
    async with (
        asyncio.timeout(60),
        reporting_progress("execute_command", lambda _: asyncio.sleep(600)) as say,
    ):
        for number in range(300):
            say(str(number))


@pytest.mark.parametrize(("decision", "then"), [("allow", ["a is running"]), ("deny", [])])
async def test_it_hears_that_the_user_is_asked(decision: Any, then: list[str]) -> None:
    said: list[str] = []

    class User:
        async def decide(self, request: PermissionRequest, log: RunLog) -> Ruling:
            assert said == ["Waiting for the user: a b.txt"]
            return Ruling(decision=decision)

    request = PermissionRequest.model_construct(tool="a", resource="b.txt")
    caller = GuestCaller("guest", lambda _: asyncio.sleep(0))
    approver = GuestApprover(User(), cast("PendingRequests", None), caller, said.append)
    ruling = await approver.decide(request, cast("RunLog", None))
    assert ruling.decision == decision
    assert said[1:] == then
