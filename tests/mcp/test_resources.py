"""Resources for agents: what is offered, what asks, what the server was really asked, and news."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.agents.ask.user import Ruling
from cowork_jupyter.agents.log import RunLog
from cowork_jupyter.api.calls import Call, Caller
from cowork_jupyter.api.routes import table
from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.errors import CoworkError, Forbidden, NotFound
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import ImagePart, MessageType, TextData
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.hosts.kernel.own_link import KernelHost, dispatch
from cowork_jupyter.parts.mcp.foreign import McpForeignServers, ResourceWatch, servers_in
from cowork_jupyter.parts.mcp_server.guests import guests_of
from cowork_jupyter.parts.mentions.completion import Completion
from cowork_jupyter.policy.rules import Effect, Scope
from cowork_jupyter.service.service import CoworkService
from tests.scripted import ScriptedServer, call, text
from tests.unit.agents.conftest import Bench

from .conftest import PATIENCE, House, eventually, library, odd
from .conftest import call as call_tool
from .test_agent import ONCE, configure, request, run
from .test_agent import bench as bench
from .test_agent import settings as settings

pytestmark = pytest.mark.asyncio

ALWAYS = Ruling(decision="allow", scope="workspace")
NOTE: dict[str, Any] = {"server": "library", "uri": "library://note"}


def watch_in(service: CoworkService) -> ResourceWatch:
    foreign = service.factory.foreign
    assert isinstance(foreign, McpForeignServers)
    return foreign._watch


@pytest.fixture
def log(tmp_path: Path) -> Path:
    made = tmp_path / "asked.txt"
    made.touch()
    return made


def asked_for(log: Path) -> list[str]:
    """All that the server was asked for."""
    return log.read_text().splitlines()


def allow(bench: Bench, *rules: str, effect: Effect = Effect.ALLOW) -> None:
    for rule in rules:
        bench.service.rules.add(effect, rule, Scope.SESSION, bench.context.id)


async def test_listed_and_read(house: House, log: Path) -> None:
    servers = await house.ready(library=library(log), odd=odd())
    listed = await call_tool(house, servers, "list_resources")
    assert "- library://note · read_note · text/plain · What the librarian wrote." in listed.text
    assert "- library://books/{shelf}/{title} · read_book · template" in listed.text
    assert "odd" not in listed.text
    assert (await call_tool(house, servers, "list_resources", server="library")).text == listed.text
    assert not asked_for(log)

    note = await call_tool(house, servers, "read_resource", **NOTE)
    assert note.text == "[resource library://note]\nNothing yet."
    stamp = await call_tool(
        house, servers, "read_resource", server="library", uri="library://stamp"
    )
    assert isinstance(stamp.images[0], ImagePart)
    archive = await call_tool(
        house, servers, "read_resource", server="library", uri="library://archive"
    )
    assert "[1,000 bytes of application/zip, not kept]" in archive.text
    assert not archive.images
    book: dict[str, Any] = {"server": "library", "uri": "library://books/poems/Odes"}
    assert (
        "Odes, from the shelf poems."
        in (await call_tool(house, servers, "read_resource", **book)).text
    )
    with pytest.raises(NotFound, match=r"'odd' has resources. Choose one of: library"):
        await call_tool(house, servers, "read_resource", server="odd", uri="a:b")
    with pytest.raises(CoworkError, match="Reading a resource of the MCP server 'library' failed"):
        await call_tool(house, servers, "read_resource", server="library", uri="library://none")


async def test_offered_only_where_a_server_has_resources(house: House, log: Path) -> None:
    servers = await house.ready(odd=odd())
    assert not {"list_resources", "read_resource"} & set(servers.tools())
    await servers.close()
    servers = await house.ready(odd=odd(), library=library(log))
    assert {"list_resources", "read_resource"} <= set(servers.tools())
    await servers.close()
    later = house.servers()
    assert "read_resource" in later.tools(), "known from last time, with nothing running"
    assert later.connection("library").state == "idle"


async def test_a_long_list_says_how_many_more(
    house: House, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cowork_jupyter.parts.mcp.resources.MAX_SHOWN", 2)
    servers = await house.ready(library=library(log))
    listed = (await call_tool(house, servers, "list_resources", server="library")).text
    assert listed.count("library://") == 3
    assert listed.endswith("[1 more, not shown]")


async def test_reading_asks_and_an_answer_is_about_that_server(
    bench: Bench, scripted: ScriptedServer, log: Path
) -> None:
    configure(bench, library=library(log))
    scripted.add(call("read_resource", **NOTE), text("Done."))
    job_id = bench.start("read the note")
    asked = await request(bench)
    assert asked.data["resource"] == "library:library://note"
    assert (
        "A resource of the MCP server 'library' (a program on this machine)."
        in (asked.data["shown"]["text"])
    )
    assert asked.data["rules"][0].startswith("mcp__library__resources.read(=")
    assert not asked_for(log), "nothing is read before it is allowed"
    bench.service.requests.resolve_all([asked.id], ALWAYS)
    await bench.service.jobs.wait(job_id)
    assert asked_for(log) == ["read note"]
    (result,) = bench.results()
    assert result["ok"]
    sent = json.dumps(scripted.requests[-1].body)
    assert "<data-" in sent
    assert "Nothing yet." in sent

    other = await run(
        bench, scripted, "read_resource", server="library", uri="library://books/prose/Emma"
    )
    assert other["ok"], "allowed for all that this server has"
    assert asked_for(log) == ["read note", "read prose/Emma"]


async def test_the_list_needs_no_approval(
    bench: Bench, scripted: ScriptedServer, log: Path
) -> None:
    configure(bench, library=library(log))
    assert (await run(bench, scripted, "list_resources"))["ok"]
    assert (await run(bench, scripted, "list_resources", server="library"))["ok"]


@pytest.mark.parametrize(
    "rule", ["mcp__library", "mcp__library__resources.read", "read_resource", "mcp__*"]
)
async def test_a_rule_denies(bench: Bench, scripted: ScriptedServer, log: Path, rule: str) -> None:
    configure(bench, library=library(log))
    allow(bench, "mcp__library")
    allow(bench, rule, effect=Effect.DENY)
    result = await run(bench, scripted, "read_resource", **NOTE)
    assert result["error"]["code"] == "denied"
    assert f"deny {rule}" in result["error"]["message"]
    assert not asked_for(log)
    scripted.add(text("Nothing."))
    job = await bench.tell("What about @library:library://note ?")
    assert job.status is JobStatus.COMPLETED
    assert not asked_for(log), "not for a mention either"


@pytest.mark.parametrize("rule", ["mcp__library", "mcp__library__resources.list"])
async def test_what_rules_close_is_not_listed(
    bench: Bench, scripted: ScriptedServer, log: Path, rule: str
) -> None:
    configure(bench, library=library(log), second=library(log))
    allow(bench, rule, effect=Effect.DENY)
    named = await run(bench, scripted, "list_resources", server="library")
    assert named["error"]["code"] == "denied"
    await run(bench, scripted, "list_resources")
    listed = bench.messages(MessageType.TOOL_RESULT)[-1].text
    assert "second:" in listed
    assert "library:\n" not in listed
    assert "[1 more may not be listed here without asking]" in listed


@pytest.mark.parametrize("rule", ["mcp__library", "read_resource"])
async def test_a_rule_allows(bench: Bench, scripted: ScriptedServer, log: Path, rule: str) -> None:
    configure(bench, library=library(log))
    allow(bench, rule)
    assert (await run(bench, scripted, "read_resource", **NOTE))["ok"]
    assert asked_for(log) == ["read note"]
    allow(bench, "mcp__library__resources.read", effect=Effect.ASK)
    assert (await run(bench, scripted, "read_resource", ONCE, **NOTE))["approved"]


async def test_a_role_that_may_not_use_the_server_reads_nothing(
    bench: Bench, scripted: ScriptedServer, log: Path
) -> None:
    configure(bench, library=library(log))
    await servers_in(bench.service).connection("library").client()
    allow(bench, "mcp__library", "read_resource")
    permitted = bench.service.factory.tools.registry.permitted
    assert "read_resource" not in [one.name for one in permitted(AgentRole.PLANNER)]
    scripted.add(call("read_resource", **NOTE), text("I cannot."))
    await bench.tell("read it", AgentRole.PLANNER)
    assert [one["error"]["code"] for one in bench.results()] == ["not_permitted"]
    assert not asked_for(log)

    configure(bench, library=library(log, permissions=["read_files"]))
    await servers_in(bench.service).connection("library").client()
    assert "read_resource" in [one.name for one in permitted(AgentRole.PLANNER)]
    scripted.add(call("read_resource", **NOTE), text("Read."))
    await bench.tell("read it", AgentRole.PLANNER)
    assert asked_for(log) == ["read note"]


async def test_a_server_of_an_untrusted_folder_is_not_reached(
    bench: Bench, scripted: ScriptedServer, log: Path
) -> None:
    file = bench.workspace / ".cowork" / "settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"mcpServers": {"library": library(log)}}))
    allow(bench, "mcp__library")
    assert "read_resource" not in bench.service.factory.tools.registry
    result = await run(bench, scripted, "read_resource", **NOTE)
    assert result["error"]["code"] == "unknown_tool"
    assert not asked_for(log)


async def test_they_are_not_ours_to_offer_to_guests(bench: Bench, log: Path) -> None:
    configure(bench, library=library(log))
    await servers_in(bench.service).connection("library").client()
    offered = [one.name for one in guests_of(bench.service, AgentRole.ACTOR).tools()]
    assert "read_file" in offered
    assert not {"list_resources", "read_resource"} & set(offered)


# News


def notices(bench: Bench) -> list[str]:
    told = (event.data.model_dump() for event in bench.events(EventType.NOTICE))
    return [one["message"] for one in told if one["code"] == "resource_changed"]


async def write(bench: Bench, words: str) -> None:
    """Somebody else changes the note."""
    async with servers_in(bench.service).connection("library").asking("write") as client:
        await client.call_tool("write", {"text": words})


async def until_heard(bench: Bench, count: int = 1) -> None:
    """Change it until there are so many notices: when a server begins to tell nobody knows."""
    async with asyncio.timeout(PATIENCE):
        while len(notices(bench)) < count:
            await write(bench, "New.")


@pytest.mark.parametrize("mode", [[], ["old"]])
@pytest.mark.parametrize("how", ["read", "mentioned"])
async def test_a_change_of_what_was_read_is_told(
    bench: Bench, scripted: ScriptedServer, log: Path, mode: list[str], how: str
) -> None:
    configure(bench, library=library(log, *mode))
    allow(bench, "mcp__library__resources.read")
    words = "Read the note."
    if how == "read":
        scripted.add(call("read_resource", **NOTE))
    else:
        words = "@library:library://note is wrong."
    scripted.add(call("mcp__library__write", text="Mine."), text("Done."))
    job_id = bench.start(words)
    asked = await request(bench)
    assert "read note" in asked_for(log)
    watch = watch_in(bench.service)
    watch._pause = 3_600.0  # however slow this machine is
    await until_heard(bench)
    for _ in range(20):
        await write(bench, "Newer.")
    said = ["library://note of the MCP server 'library' has changed."]
    assert notices(bench) == said, "not again within a few seconds"
    bench.service.requests.resolve_all([asked.id], Ruling(decision="deny"))
    await bench.service.jobs.wait(job_id)
    last = scripted.requests[-1].body["messages"][-1]["content"]
    assert "Resources have changed since they were read." in json.dumps(last)
    assert "@library:library://note" in json.dumps(last)
    await eventually(lambda: not watch._jobs and not watch._ending)
    if mode:
        assert "subscribe library://note" in asked_for(log)
        assert asked_for(log)[-1] == "unsubscribe library://note"
    await write(bench, "Newest.")
    assert notices(bench) == said, "the job has ended"


async def test_what_changes_again_is_told_again(
    bench: Bench, scripted: ScriptedServer, log: Path
) -> None:
    configure(bench, library=library(log))
    allow(bench, "mcp__library__resources.read")
    watch = watch_in(bench.service)
    watch._pause = 0.0
    scripted.add(call("read_resource", **NOTE), call("mcp__library__write", text="Mine."))
    job_id = bench.start("Read the note.")
    await request(bench)
    await until_heard(bench, 2)
    await bench.service.jobs.cancel(job_id)
    await eventually(lambda: not watch._jobs and not watch._ending)


@pytest.mark.parametrize("mode", [[], ["old"]])
@pytest.mark.slow
async def test_after_a_restart_the_next_reading_follows_it_again(
    bench: Bench, scripted: ScriptedServer, log: Path, mode: list[str]
) -> None:
    configure(bench, library=library(log, *mode))
    allow(bench, "mcp__library__resources.read")
    ask = call("mcp__library__write", text="Mine.")
    scripted.add(call("read_resource", **NOTE), ask, call("read_resource", **NOTE), ask)
    job_id = bench.start("Read the note.")
    first = await request(bench)
    watch = watch_in(bench.service)
    assert watch._jobs[job_id].tasks
    await servers_in(bench.service).restart("library")
    await eventually(lambda: not watch._jobs[job_id].tasks)
    bench.service.requests.resolve_all([first.id], Ruling(decision="deny"))
    await eventually(lambda: asked_for(log).count("read note") == 2)
    await until_heard(bench)
    await bench.service.jobs.cancel(job_id)


async def test_a_server_that_does_not_tell_is_read_all_the_same(
    bench: Bench, scripted: ScriptedServer, log: Path
) -> None:
    configure(bench, library=library(log, "silent"))
    allow(bench, "mcp__library__resources.read")
    assert (await run(bench, scripted, "read_resource", **NOTE))["ok"]


# What users type


async def offered(bench: Bench, typed: str, role: AgentRole = AgentRole.ACTOR) -> dict[str, str]:
    log = RunLog(bench.service.journal, bench.context.id, "", role)
    reach = bench.service.factory.mention_scope(log, None)
    async with asyncio.timeout(PATIENCE):
        while True:
            found = await bench.service.of(Completion).offers(reach, typed, variables=False)
            if not found.more:
                return {one.text: one.title for one in found.items}


async def test_resources_and_templates_are_completed(bench: Bench, log: Path) -> None:
    configure(bench, library=library(log))
    assert not await offered(bench, "@library"), "no server is started for it"
    await servers_in(bench.service).connection("library").client()
    found = await offered(bench, "@library")
    assert found["@library:library://note"] == "read_note"
    assert found["@library:library://books/"] == "library://books/{shelf}/{title}"
    shelves = await offered(bench, "@library:library://books/p")
    assert set(shelves) == {"@library:library://books/poems/", "@library:library://books/prose/"}
    titles = await offered(bench, "@library:library://books/poems/o")
    assert set(titles) == {
        "@library:library://books/poems/Odes",
        "@library:library://books/poems/Ossian",
    }
    assert asked_for(log)[-1] == "complete title=o {'shelf': 'poems'}"
    assert not await offered(bench, "@library", AgentRole.PLANNER), "it may not read them"
    allow(bench, "read_resource", effect=Effect.DENY)
    assert not await offered(bench, "@library")


async def test_a_picture_that_is_mentioned_goes_along(
    bench: Bench, scripted: ScriptedServer, log: Path
) -> None:
    configure(bench, library=library(log))
    scripted.add(text("A stamp."))
    await bench.tell("What is @library:library://stamp ?")
    (asked, _answer) = bench.messages(MessageType.TEXT)
    assert isinstance(asked.data, TextData)
    assert asked.data.mentions[0].kind == "resource"
    assert "[image PNG, not shown to this model]" in json.dumps(scripted.requests[-1].body)


async def test_prompts_are_completed_with_what_they_take(bench: Bench, log: Path) -> None:
    configure(bench, library=library(log))
    await servers_in(bench.service).connection("library").client()
    assert await offered(bench, "/lib") == {"/library:review": "title [kind] · Review a book."}


async def test_a_prompt_is_sent_as_what_the_server_wrote(
    bench: Bench, scripted: ScriptedServer, log: Path
) -> None:
    configure(bench, library=library(log))
    (bench.workspace / "a.py").write_text("answer = 42\n")
    scripted.add(text("Done."))
    request = bench.service.parse_call("/library:review 'Der Prozess' kind=long")
    message = await bench.service.send_request(bench.context.id, request, AgentRole.ACTOR)
    assert message.job_id
    await bench.service.jobs.wait(message.job_id)
    assert asked_for(log) == ["prompt review Der Prozess long"]
    said = bench.messages(MessageType.TEXT)[0]
    assert said.role == "user"
    assert said.text.startswith(
        "[The prompt review of the MCP server library:]\n\n"
        "Write a long review of Der Prozess. See @a.py.\n[the assistant:]\nGladly."
    )
    assert [one.media_type for one in said.pictures] == ["image/png"]
    assert isinstance(said.data, TextData)
    assert said.data.prompt == "library:review"
    assert not said.data.mentions, "what a server writes points at nothing"
    assert "answer = 42" not in json.dumps(scripted.requests[-1].body)
    assert "Write a long review" in json.dumps(scripted.requests[-1].body)


async def test_the_same_for_whoever_sends_a_message_but_code(
    bench: Bench, scripted: ScriptedServer, log: Path
) -> None:
    """The route that panel, cards and magics use."""
    configure(bench, library=library(log))
    address, body = f"context/{bench.context.id}/messages", {"content": "/library:review Emma"}
    route, names = table.find("POST", address)
    code = Call(service=bench.service, caller=Caller("ann", "kernel-1"), host=KernelHost())
    with pytest.raises(Forbidden, match="Only you can send a prompt of an MCP server"):
        await route.endpoint(route.read(code, names, {}, json.dumps(body).encode()))
    assert not asked_for(log)

    scripted.add(text("Done."))
    sent = await dispatch(bench.service, "POST", address, body)
    await bench.service.jobs.wait(sent["job_id"])
    assert asked_for(log) == ["prompt review Emma short"]
    assert "Write a short review of Emma." in bench.messages(MessageType.TEXT)[0].text


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("/library:review", 'needs title. Write it as: /library:review title="…" [kind="…"]'),
        ("/library:reviews x", "no prompt /library:reviews. Did you mean /library:review?"),
    ],
)
async def test_a_prompt_that_cannot_be_sent(bench: Bench, log: Path, words: str, why: str) -> None:
    configure(bench, library=library(log))
    request = bench.service.parse_call(words)
    with pytest.raises(CoworkError, match=re.escape(why)):
        await bench.service.send_request(bench.context.id, request, AgentRole.ACTOR)
    assert not asked_for(log)
    assert not bench.messages()
