"""The API's own tool calls: sent and answered in its form, and given up where they do not work."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.settings import ProtocolChoice, Settings
from cowork_jupyter.policy.rules import Effect, Scope
from tests.scripted import Scripted, ScriptedServer, call, text

from .conftest import Bench
from .helpers import bench_with
from .test_code_replies import BLOCK, kernel_of

pytestmark = pytest.mark.asyncio

CAPABLE = "gpt-5-mini"
READ = {"name": "read_file", "arguments": {"path": "a.py"}}
LOOK = {"name": "list_directory", "arguments": {"path": "."}}
TAGGED = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.py"}}\n</tool_call>'


@pytest.fixture
def capable(settings: Settings) -> Settings:
    return replace(settings, model=CAPABLE)


def bodies(scripted: ScriptedServer) -> list[dict[str, Any]]:
    return [one.body for one in scripted.requests]


def codes(bench: Bench) -> list[str]:
    return [one.data.model_dump()["code"] for one in bench.events(EventType.NOTICE)]


async def test_calls_and_results_go_in_the_apis_own_form(
    capable: Settings, scripted: ScriptedServer
) -> None:
    scripted.add(Scripted(text="Both.", tool_calls=[READ, LOOK]), text("42"))
    async with bench_with(capable) as bench:
        assert (await bench.tell("What is it?")).status is JobStatus.COMPLETED
        assert [one["ok"] for one in bench.results()] == [True, True]
        assert codes(bench) == []
    first, second = bodies(scripted)
    assert {"read_file", "list_directory"} <= {one["function"]["name"] for one in first["tools"]}
    assert "- read_file(" not in first["messages"][0]["content"], "the request has them already"
    said, *results = second["messages"][-3:]
    assert (said["role"], said["content"]) == ("assistant", "Both.")
    assert [one["function"]["name"] for one in said["tool_calls"]] == [
        "read_file",
        "list_directory",
    ]
    assert [one["role"] for one in results] == ["tool", "tool"]
    ids = [one["id"] for one in said["tool_calls"]]
    assert [one["tool_call_id"] for one in results] == ids
    assert len(set(ids)) == 2
    assert "answer = 42" in results[0]["content"]


async def test_what_the_server_lists_makes_calls_native(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.listed = {"supported_parameters": ["tools", "temperature"]}
    scripted.add(text("Hello."))
    await bench.tell("Hello")
    assert "tools" in bodies(scripted)[0]


@pytest.mark.parametrize("choice", ["auto", "native"])
async def test_a_server_that_refuses_tools_gets_them_in_the_prompt_and_that_is_remembered(
    capable: Settings, scripted: ScriptedServer, choice: ProtocolChoice
) -> None:
    scripted.rejects = {"tools"}
    scripted.add(call("read_file", path="a.py"), text("42"), text("Hello."))
    async with bench_with(capable, tool_protocol=choice) as bench:
        assert (await bench.tell("What is it?")).status is JobStatus.COMPLETED
        assert codes(bench) == ["no_native_calls"]
    refused, first, second = bodies(scripted)
    assert "tools" in refused
    assert "tools" not in first
    assert "- read_file(" in first["messages"][0]["content"]
    assert second["messages"][-1]["role"] == "user", "the same conversation, as plain text"
    async with bench_with(capable, tool_protocol=choice) as bench:
        await bench.tell("Hello")
    asked = bodies(scripted)[3:]
    assert ["tools" in one for one in asked] == ([False] if choice == "auto" else [True, False])


@pytest.mark.parametrize("written", [call("read_file", path="a.py").text, TAGGED])
async def test_a_model_that_writes_its_calls_as_text_is_asked_for_that(
    capable: Settings, scripted: ScriptedServer, written: str
) -> None:
    scripted.add(text(written), text("42"), text("Hello."))
    async with bench_with(capable) as bench:
        assert (await bench.tell("What is it?")).status is JobStatus.COMPLETED
        assert bench.results()[0]["ok"], "the call counts all the same"
        assert codes(bench) == ["no_native_calls"]
    async with bench_with(capable) as bench:
        await bench.tell("Hello")
    assert ["tools" in one for one in bodies(scripted)] == [True, False, False]
    assert all(one["role"] != "tool" for one in bodies(scripted)[1]["messages"])


async def test_a_model_that_writes_code_is_asked_for_code(
    capable: Settings, scripted: ScriptedServer
) -> None:
    scripted.add(text(BLOCK), text("It is 42."))
    async with bench_with(capable) as bench:
        kernel = kernel_of(bench)
        bench.service.rules.add(Effect.ALLOW, "run_code", Scope.GLOBAL)
        await bench.tell("What is six times seven?")
        assert kernel.ran == ["print(6 * 7)"]
        assert codes(bench) == ["no_native_calls"]
    assert "tools" not in bodies(scripted)[1]
    assert {"role": "assistant", "content": BLOCK} in bodies(scripted)[1]["messages"]


async def test_a_conversation_survives_a_change_of_protocol(
    capable: Settings, scripted: ScriptedServer
) -> None:
    scripted.add(Scripted(tool_calls=[READ]), text("42"))
    async with bench_with(capable) as bench:
        await bench.tell("What is it?")
        scripted.add(call("list_directory", path="."), text("One file."), text("Both are known."))
        changes: dict[ProtocolChoice, str] = {"json": "And here?", "native": "And now?"}
        for protocol, question in changes.items():
            factory = bench.service.factory
            factory.settings = replace(factory.settings, tool_protocol=protocol)
            assert (await bench.tell(question)).status is JobStatus.COMPLETED
    plain, native = bodies(scripted)[2], bodies(scripted)[-1]
    assert '{"tool": "read_file"' in str(plain["messages"])
    assert all("tool_calls" not in one for one in plain["messages"])
    called = [one for one in native["messages"] if "tool_calls" in one]
    assert [one["tool_calls"][0]["function"]["name"] for one in called] == [
        "read_file",
        "list_directory",
    ]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_reasoning_goes_back_where_it_came_from_while_the_request_is_worked_on(
    capable: Settings, scripted: ScriptedServer, field: str
) -> None:
    thinking = Scripted(reasoning="I should look.", reasoning_field=field, tool_calls=[READ])
    scripted.add(thinking, text("42"), replace(thinking, reasoning="Again."), text("Still 42."))
    async with bench_with(capable) as bench:
        await bench.tell("What is it?")
        await bench.tell("Really?")
    _, second, third, fourth = bodies(scripted)
    assert [one.get(field) for one in second["messages"] if "tool_calls" in one] == [
        "I should look."
    ]
    assert "I should look." not in str(third["messages"])
    thoughts = [one.get(field) for one in fourth["messages"] if "tool_calls" in one]
    assert thoughts == [None, "Again."]


async def test_keys_are_hidden_in_native_conversations_too(
    capable: Settings, scripted: ScriptedServer
) -> None:
    secret = "sk-very-secret-12345678"
    (capable.workspace / "a.py").write_text(f"key = '{secret}'\n")
    scripted.add(Scripted(tool_calls=[READ]), text("I see."))
    async with bench_with(capable, api_key=secret) as bench:
        bench.service.factory.llm.model = bench.service.current_model
        await bench.tell("What is it?")
    assert bodies(scripted)[1]["messages"][-1]["role"] == "tool"
    assert secret not in str(bodies(scripted))
