"""`find_tools`: two hundred foreign tools, and still a short prompt."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.errors import InvalidInput
from cowork_jupyter.domain.roles import AgentRole, Permission
from cowork_jupyter.domain.settings import Settings, ToolProtocol
from cowork_jupyter.llm.tokens import estimate_tokens
from cowork_jupyter.tools.base import Tool, ToolContext, ToolParameters, ToolResult
from cowork_jupyter.tools.registry import ToolRegistry, default_tools, find_tools_in
from cowork_jupyter.workspace import Workspace
from tests.scripted import Scripted, ScriptedServer, call, text
from tests.unit.agents.conftest import Bench, make_bench

pytestmark = pytest.mark.asyncio

CALENDAR = "mcp__office__book_meeting_room"
PURGE = "mcp__office__purge_meeting_room_calendars"


class Record(ToolParameters):
    record: str


def foreign(name: str, description: str, *permissions: Permission) -> Tool:
    async def run(parameters: Record, _context: ToolContext) -> ToolResult:
        return ToolResult(f"{name} got {parameters.record}", "done")

    return Tool(name, name.split("__")[1], description, frozenset(permissions), Record, run)


def two_hundred() -> list[Tool]:
    """Most of them much alike, one for booking rooms, one that only an actor may use."""
    alike = [
        foreign(
            f"mcp__shop{n % 4}__update_order_{n}", f"Change the order number {n} of a customer."
        )
        for n in range(196)
    ]
    booking = foreign(CALENDAR, "Reserve a room for a meeting.")
    purge = foreign(PURGE, "Empty the calendar of a meeting room.", Permission.DELETE_FILES)
    others = [
        foreign("mcp__garden__water", "Open the valve of a flower bed."),
        foreign("mcp__garden__mow", "Start the mower on a lawn."),
    ]
    return [*alike, *others, booking, purge]


async def bench_with_tools(
    scripted: ScriptedServer, folder: Path, protocol: ToolProtocol = "json"
) -> AsyncIterator[Bench]:
    (folder / "workspace").mkdir()
    settings = Settings(
        workspace=folder / "workspace",
        data_dir=folder / "data",
        base_url=scripted.base_url,
        model="scripted",
        tool_protocol=protocol,
    )
    async for made in make_bench(settings):
        made.service.factory.tools.registry = ToolRegistry(
            [*default_tools().values(), *two_hundred()]
        )
        yield made


@pytest_asyncio.fixture
async def bench(scripted: ScriptedServer, tmp_path: Path) -> AsyncIterator[Bench]:
    async for made in bench_with_tools(scripted, tmp_path):
        yield made


@pytest_asyncio.fixture
async def native_bench(scripted: ScriptedServer, tmp_path: Path) -> AsyncIterator[Bench]:
    async for made in bench_with_tools(scripted, tmp_path, "native"):
        yield made


def system_prompt(scripted: ScriptedServer, request: int = 0) -> str:
    content = scripted.requests[request].body["messages"][0]["content"]
    assert isinstance(content, str)
    return content


def described(scripted: ScriptedServer) -> list[str]:
    lines = system_prompt(scripted).splitlines()
    return [line[2:].partition("(")[0] for line in lines if line.startswith("- mcp__")]


def offered(scripted: ScriptedServer, request: int) -> set[str]:
    tools = [tool["function"]["name"] for tool in scripted.requests[request].body["tools"]]
    assert len(tools) == len(set(tools))
    return set(tools)


async def test_a_tool_that_does_not_fit_is_found_and_used(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(
        call("find_tools", query="book a meeting room"),
        call(CALENDAR, record="Monday at nine"),
        text("Booked."),
    )
    job = await bench.tell("Tidy up the orders, then get us together on Monday.")
    assert job.status is JobStatus.COMPLETED
    assert CALENDAR not in described(scripted)
    found = scripted.requests[1].body["messages"][-1]["content"]
    assert f"- {CALENDAR}(record): Reserve a room for a meeting." in found
    assert bench.results()[0]["facts"]["tools"][0] == CALENDAR
    assert bench.results()[0]["summary"].startswith("found ")
    used = scripted.requests[2].body["messages"][-1]["content"]
    assert f"{CALENDAR} got Monday at nine" in used


@pytest.mark.parametrize(
    ("role", "tools", "most"), [(AgentRole.PLANNER, 199, 1_800), (AgentRole.ACTOR, 200, 2_800)]
)
async def test_the_prompt_stays_short_and_says_how_many_more_there_are(
    bench: Bench, scripted: ScriptedServer, role: AgentRole, tools: int, most: int
) -> None:
    scripted.add(text("Hello."))
    await bench.tell("Hello", role)
    prompt = system_prompt(scripted)
    assert most - 60 < estimate_tokens(prompt) <= most
    more = tools - len(described(scripted))
    assert f"You have {more} more tools. Find them with find_tools." in prompt
    assert "- find_tools(query): " in prompt
    assert all(f"- {tool.name}(" in prompt for tool in default_tools().permitted(role))


async def test_what_the_user_asks_for_is_described_at_once(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(text("Which one?"), text("Which one?"))
    await bench.tell("Book a room for the meeting")
    assert CALENDAR in described(scripted)
    scripted.requests.clear()
    await bench.tell("Change order 177")
    assert "mcp__shop1__update_order_177" in described(scripted)


async def test_it_is_not_offered_while_everything_fits(
    bench: Bench, scripted: ScriptedServer
) -> None:
    bench.service.factory.tools.registry = default_tools()
    scripted.add(call("find_tools", query="anything"), text("Right."))
    await bench.tell("go")
    assert "find_tools" not in system_prompt(scripted)
    assert bench.results()[0]["error"]["code"] == "unknown_tool"


@pytest.mark.parametrize("role", AgentRole)
async def test_every_role_may_look_but_finds_only_what_it_may_use(
    bench: Bench, scripted: ScriptedServer, role: AgentRole
) -> None:
    scripted.add(
        call("find_tools", query="empty the calendar of a meeting room"),
        call(PURGE, record="all"),
        text("Done."),
    )
    await bench.tell("go", role)
    may = role.permits([Permission.DELETE_FILES])
    looked, purged = bench.results()
    assert looked["ok"]
    assert (PURGE in looked["facts"]["tools"]) == may
    assert (PURGE in scripted.requests[1].body["messages"][-1]["content"]) == may
    assert purged["ok"] == may
    assert may or purged["error"]["code"] == "not_permitted"


async def test_a_native_model_may_call_what_it_has_found(
    native_bench: Bench, scripted: ScriptedServer
) -> None:
    find = {"name": "find_tools", "arguments": {"query": "book a meeting room"}}
    book = {"name": CALENDAR, "arguments": {"record": "Monday"}}
    look, again = Scripted(tool_calls=[find]), Scripted(tool_calls=[find])
    scripted.add(look, again, Scripted(tool_calls=[book]), text("Booked."))
    await native_bench.tell("Tidy up the orders")
    before, after = offered(scripted, 0), offered(scripted, 1)
    assert "find_tools" in before
    assert CALENDAR not in before
    assert len(before) < 100
    assert before < after
    assert CALENDAR in after
    assert after == offered(scripted, 2)
    assert all(result["ok"] for result in native_bench.results())


async def test_a_search_of_one_run_changes_nothing_for_the_next(
    native_bench: Bench, scripted: ScriptedServer
) -> None:
    find = {"name": "find_tools", "arguments": {"query": "book a meeting room"}}
    scripted.add(Scripted(tool_calls=[find]), text("Found it."), text("Hello."))
    await native_bench.tell("Tidy up the orders")
    await native_bench.tell("Tidy up the orders")
    assert offered(scripted, 2) == offered(scripted, 0)


# The tool alone


def nothing(_query: str, _tools: Sequence[Tool]) -> Mapping[str, str]:
    return {}


async def find(search: Any, folder: Path, **parameters: Any) -> ToolResult:
    registry = default_tools()
    tools = ToolRegistry([find_tools_in(registry, search)])
    return await tools.call(
        "find_tools", parameters, ToolContext(Workspace(folder), AgentRole.PLANNER)
    )


async def test_finding_nothing_says_so_and_what_to_do(tmp_path: Path) -> None:
    result = await find(nothing, tmp_path, query="weather")
    assert result.text == "None of your tools matches 'weather'. Try other words."
    assert result.summary == "found 0 tools for 'weather'"
    assert result.data == {"tools": []}


async def test_the_search_is_given_only_what_the_role_permits(tmp_path: Path) -> None:
    def search(query: str, tools: Sequence[Tool]) -> Mapping[str, str]:
        return {tool.name: f"{query}: {tool.name}" for tool in tools}

    result = await find(search, tmp_path, query="all")
    permitted = [tool.name for tool in default_tools().permitted(AgentRole.PLANNER)]
    assert result.data == {"tools": permitted}
    assert result.text.splitlines() == [f"all: {name}" for name in permitted]


@pytest.mark.parametrize("query", ["", None, 3])
async def test_a_search_needs_words(tmp_path: Path, query: Any) -> None:
    with pytest.raises(InvalidInput, match="query"):
        await find(nothing, tmp_path, query=query)


async def test_it_needs_no_permission_and_only_looks() -> None:
    tool = find_tools_in(default_tools(), nothing)
    assert tool.name == "find_tools"
    assert tool.permissions == frozenset()
    assert tool.idempotent
