"""Calls of agents of others: each recorded in a job, side by side, and never more than ours."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
import pytest_asyncio

from cowork_jupyter.agents.ask.pending_requests import PendingRequests
from cowork_jupyter.agents.ask.user import PermissionRequest, Ruling
from cowork_jupyter.agents.log import RunLog
from cowork_jupyter.domain.contexts import Context, JobStatus
from cowork_jupyter.domain.errors import Conflict, CoworkError
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.llm.tokens import estimate_tokens
from cowork_jupyter.parts.mcp_server import guests as module
from cowork_jupyter.parts.mcp_server.guests import (
    MAX_RESULT_SIZE,
    GuestApprover,
    McpGuests,
    guests_of,
    reporting_progress,
)
from cowork_jupyter.parts.mcp_server.tool_host import GuestCaller
from cowork_jupyter.policy.rules import Effect, Scope
from cowork_jupyter.service.service import CoworkService
from cowork_jupyter.service.wiring import build_service
from cowork_jupyter.store import UserRequest
from cowork_jupyter.tools.base import ToolResult

pytestmark = pytest.mark.asyncio

CHANGE = {"path": "a.txt", "old_text": "one", "new_text": "two"}


async def nobody(_text: str) -> None:
    """Does not want to know."""


@pytest_asyncio.fixture
async def service(tmp_path: Path) -> AsyncIterator[CoworkService]:
    """A service whose user is asked."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "a.txt").write_text("one\n")
    made = build_service(Settings(workspace=workspace, data_dir=tmp_path / "data"))
    yield made
    await made.close()


def call(desk: McpGuests, tool: str, guest: str = "visitor", **given: Any) -> Any:
    return desk.call(GuestCaller(guest, nobody), tool, given)


def conversations(service: CoworkService) -> list[Context]:
    return [*service.conversations.page().items]


async def waiting(service: CoworkService) -> UserRequest:
    """The call that waits for the user, once it does."""
    async with asyncio.timeout(60):
        while not service.requests.waiting():
            await asyncio.sleep(0.01)
    ((found, _),) = service.requests.waiting()
    return found


async def statuses(service: CoworkService) -> list[JobStatus]:
    """Of all jobs, once they have ended."""
    (context,) = conversations(service)
    jobs = service.jobs.of(context.id)
    return [(await service.jobs.wait(job.id)).status for job in jobs]


async def test_calls_one_after_the_other_are_recorded_in_one_conversation(
    service: CoworkService,
) -> None:
    desk = guests_of(service, AgentRole.PLANNER, owner="ada")
    for _ in range(2):
        assert (await call(desk, "read_file", path="a.txt")).text.startswith("one")
    (context,) = conversations(service)
    assert (context.title, context.role) == ("MCP: visitor", AgentRole.PLANNER)
    assert service.conversations.owner(context.id) == "ada"
    assert set(await statuses(service)) == {JobStatus.COMPLETED}
    kinds = [one.message_type for one in service.conversations.messages(context.id).items]
    assert kinds.count(MessageType.TOOL_CALL) == kinds.count(MessageType.TOOL_RESULT) == 2


async def test_a_call_that_waits_holds_up_no_other(service: CoworkService) -> None:
    desk = guests_of(service, AgentRole.ACTOR)
    change = asyncio.create_task(call(desk, "update_file", **CHANGE))
    request = await waiting(service)
    assert (await call(desk, "read_file", path="a.txt")).text.startswith("one")
    service.requests.resolve_all([request.id], Ruling(decision="allow"))
    assert isinstance(await change, ToolResult)
    assert await statuses(service) == [JobStatus.COMPLETED]


async def test_stopping_the_job_stops_its_calls_and_the_next_one_begins_another(
    service: CoworkService,
) -> None:
    desk = guests_of(service, AgentRole.ACTOR)
    change = asyncio.create_task(call(desk, "update_file", **CHANGE))
    request = await waiting(service)
    await service.jobs.cancel(str(request.job_id))
    with pytest.raises(CoworkError, match="The user stopped"):
        await change
    assert service.requests.waiting() == []
    assert (await call(desk, "read_file", path="a.txt")).text.startswith("one")
    assert await statuses(service) == [JobStatus.CANCELLED, JobStatus.COMPLETED]


async def test_calls_of_a_guest_are_not_taken_up_by_our_own_agent(service: CoworkService) -> None:
    asking = asyncio.create_task(call(guests_of(service, AgentRole.ACTOR), "update_file", **CHANGE))
    job_id = (await waiting(service)).job_id
    assert job_id
    await service.jobs.cancel(job_id)
    with pytest.raises(CoworkError):
        await asking
    with pytest.raises(Conflict, match="another agent"):
        service.plans.resume(job_id)


async def test_who_gives_up_on_a_call_ends_it(service: CoworkService) -> None:
    desk = guests_of(service, AgentRole.ACTOR)
    change = asyncio.create_task(call(desk, "update_file", **CHANGE))
    await waiting(service)
    change.cancel()
    await asyncio.wait([change])
    assert await statuses(service) == [JobStatus.COMPLETED]
    assert service.requests.waiting() == []
    assert (service.settings.workspace / "a.txt").read_text() == "one\n"


async def test_the_role_is_the_most_whatever_the_user_allows(service: CoworkService) -> None:
    service.rules.add(Effect.ALLOW, "update_file", Scope.GLOBAL)
    desk = guests_of(service, AgentRole.PLANNER)
    with pytest.raises(CoworkError, match="planner may not use update_file"):
        await call(desk, "update_file", **CHANGE)
    assert (service.settings.workspace / "a.txt").read_text() == "one\n"


async def test_a_removed_conversation_is_begun_anew(service: CoworkService) -> None:
    desk = guests_of(service, AgentRole.PLANNER)
    await call(desk, "read_file", path="a.txt")
    (first,) = conversations(service)
    await service.conversations.delete(first.id)
    await call(desk, "read_file", path="a.txt")
    (second,) = conversations(service)
    assert second.id != first.id


async def test_only_what_is_ours_and_not_denied_is_offered(service: CoworkService) -> None:
    service.rules.add(Effect.DENY, "grep", Scope.GLOBAL)
    offered = {tool.name for tool in guests_of(service, AgentRole.TESTER).tools()}
    assert {"read_file", "execute_command"} <= offered
    assert not offered & {"grep", "update_file", "create_file"}


async def test_a_long_result_is_cut_and_says_so(service: CoworkService) -> None:
    lines = "".join(f"line {number} of many\n" for number in range(20_000))
    (service.settings.workspace / "a.txt").write_text(lines)
    desk = guests_of(service, AgentRole.PLANNER)
    result = await call(desk, "grep", pattern="many", path="a.txt")
    assert estimate_tokens(result.text) <= MAX_RESULT_SIZE


async def test_a_name_is_only_a_name(service: CoworkService) -> None:
    desk = guests_of(service, AgentRole.PLANNER)
    await call(desk, "read_file", guest="\x1b[2J" + "x" * 500, path="a.txt")
    (context,) = conversations(service)
    assert "\x1b" not in context.title
    assert len(context.title) < 80


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
