"""Running tools: every call gets exactly one result, whatever the tool does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from cowork_jupyter.agents.run.call_log import MAX_SHOWN_OUTPUT
from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.roles import Permission
from cowork_jupyter.tools.base import Tool, ToolContext, ToolParameters, ToolResult, tool
from tests.scripted import ScriptedServer, call, calls, text

from .conftest import Bench
from .helpers import add_tools, check_ended_well, ended

pytestmark = pytest.mark.asyncio


class Number(ToolParameters):
    number: int = 0


def looking(name: str, run: Callable[[Number, ToolContext], Awaitable[ToolResult]]) -> Tool:
    """A tool that only looks."""
    return Tool(name, "test", "For tests.", frozenset(), Number, run, idempotent=True)


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("by zero"), RecursionError(), KeyError("x"), OSError(5, "io")]
)
async def test_a_tool_that_breaks_gives_a_result_and_the_job_goes_on(
    bench: Bench, scripted: ScriptedServer, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async def breaks(parameters: Number, context: ToolContext) -> ToolResult:
        raise error

    add_tools(bench, looking("breaks", breaks))
    scripted.add(call("breaks"), text("I see."))
    await bench.tell("go")
    check_ended_well(bench, JobStatus.COMPLETED)
    (result,) = bench.results()
    assert (result["ok"], result["error"]["code"]) == (False, "internal")
    assert "breaks failed unexpectedly" in scripted.requests[1].body["messages"][-1]["content"]
    assert type(error).__name__ in caplog.text


async def test_calls_that_only_look_run_together_and_others_in_their_turn(
    bench: Bench, scripted: ScriptedServer
) -> None:
    seen: list[str] = []

    async def look(parameters: Number, context: ToolContext) -> ToolResult:
        seen.append(f"began {parameters.number}")
        await asyncio.sleep(0.05)
        seen.append(f"ended {parameters.number}")
        return ToolResult("", "looked")

    async def change(parameters: Number, context: ToolContext) -> ToolResult:
        seen.append(f"changed {parameters.number}")
        return ToolResult("", "changed")

    changing = replace(looking("change", change), idempotent=False)
    add_tools(bench, looking("look", look), changing)
    names = ("look", "look", "change", "change", "look")
    asked = [(name, {"number": number}) for number, name in enumerate(names)]
    scripted.add(calls(*asked), text("ok"))
    await bench.tell("go")
    assert seen[:2] == ["began 0", "began 1"]
    assert sorted(seen[2:4]) == ["ended 0", "ended 1"]
    assert seen[4:] == ["changed 2", "changed 3", "began 4", "ended 4"]


async def test_one_broken_call_does_not_spoil_its_neighbours(
    bench: Bench, scripted: ScriptedServer
) -> None:
    async def sometimes(parameters: Number, context: ToolContext) -> ToolResult:
        return ToolResult(str(10 // parameters.number), "divided")

    add_tools(bench, looking("sometimes", sometimes))
    scripted.add(calls(*[("sometimes", {"number": n}) for n in (5, 0, 2)]), text("ok"))
    await bench.tell("go")
    check_ended_well(bench, JobStatus.COMPLETED)
    by_call = {result["call_id"]: result["ok"] for result in bench.results()}
    in_order = [
        by_call[one.data.model_dump()["call_id"]] for one in bench.messages(MessageType.TOOL_CALL)
    ]
    assert in_order == [True, False, True]


async def test_calls_that_only_look_run_side_by_side(
    bench: Bench, scripted: ScriptedServer
) -> None:
    together = asyncio.Barrier(4)

    async def meets(parameters: Number, context: ToolContext) -> ToolResult:
        await together.wait()  # for ever, unless all four run at once
        return ToolResult("met", "met")

    add_tools(bench, looking("meets", meets))
    scripted.add(calls(*[("meets", {"number": n}) for n in range(4)]), text("ok"))
    await ended(bench, bench.start("go"))
    check_ended_well(bench, JobStatus.COMPLETED)
    assert all(result["ok"] for result in bench.results())


async def test_calls_that_change_something_run_one_by_one_in_order(
    bench: Bench, scripted: ScriptedServer
) -> None:
    running: list[int] = []
    most = 0

    @tool(category="test", permissions=[Permission.WRITE_FILES])
    async def changes(parameters: Number, context: ToolContext) -> ToolResult:
        """Change something."""
        nonlocal most
        running.append(parameters.number)
        most = max(most, len(running))
        await asyncio.sleep(0.01)
        running.remove(parameters.number)
        return ToolResult(str(parameters.number), "changed")

    add_tools(bench, changes)
    several = [("changes", {"number": n}) for n in range(3)]
    scripted.add(calls(*several, ("read_file", {"path": "a.py"})), text("ok"))
    await bench.tell("go")
    assert most == 1
    texts = [message.text for message in bench.messages(MessageType.TOOL_RESULT)]
    assert texts[:3] == ["0", "1", "2"]


async def test_all_calls_are_stored_before_the_first_one_runs(
    bench: Bench, scripted: ScriptedServer
) -> None:
    seen: list[int] = []

    async def counts(parameters: Number, context: ToolContext) -> ToolResult:
        seen.append(len(bench.messages(MessageType.TOOL_CALL)))
        return ToolResult("counted", "counted")

    add_tools(bench, looking("counts", counts))
    scripted.add(calls(("counts", {"number": 1}), ("counts", {"number": 2})), text("ok"))
    await bench.tell("go")
    assert seen == [2, 2]


@pytest.mark.process
async def test_output_of_a_long_command_is_shown_while_it_runs(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(call("execute_command", command="echo early; sleep 66"))
    job_id = bench.start("go")
    notice = await bench.until(EventType.NOTICE)
    assert notice.data.model_dump()["code"] == "tool-output"
    assert (
        notice.data.model_dump()["call_id"]
        == bench.events(EventType.TOOL_CALL)[0].data.model_dump()["call_id"]
    )
    assert notice.data.model_dump()["text"] == "early\n"
    assert bench.results() == []
    await bench.service.jobs.cancel(job_id)


@pytest.mark.process
async def test_what_is_shown_of_much_output_is_bounded_and_the_result_is_whole(
    bench: Bench, scripted: ScriptedServer
) -> None:
    number = 30_000
    scripted.add(call("execute_command", command=f"seq {number}"), text("ok"))
    await bench.tell("go")
    shown = "".join(event.data.model_dump()["text"] for event in bench.events(EventType.NOTICE))
    whole = "".join(f"{n}\n" for n in range(1, number + 1))
    (result,) = bench.messages(MessageType.TOOL_RESULT)
    assert result.text.startswith(whole)
    assert len(whole) > 2 * MAX_SHOWN_OUTPUT
    assert shown == whole[:MAX_SHOWN_OUTPUT]


async def test_one_huge_piece_of_output_is_bounded_too(
    bench: Bench, scripted: ScriptedServer
) -> None:
    async def floods(parameters: Number, context: ToolContext) -> ToolResult:
        context.output("x" * 10 * MAX_SHOWN_OUTPUT)
        context.output("more")
        return ToolResult("done", "done")

    add_tools(bench, looking("floods", floods))
    scripted.add(call("floods"), text("ok"))
    await bench.tell("go")
    (notice,) = bench.events(EventType.NOTICE)
    assert len(notice.data.model_dump()["text"]) == MAX_SHOWN_OUTPUT


async def test_each_call_has_room_of_its_own_for_output(
    bench: Bench, scripted: ScriptedServer
) -> None:
    async def floods(parameters: Number, context: ToolContext) -> ToolResult:
        context.output(str(parameters.number) * MAX_SHOWN_OUTPUT)
        return ToolResult("done", "done")

    add_tools(bench, looking("floods", floods))
    scripted.add(calls(("floods", {"number": 1}), ("floods", {"number": 2})), text("ok"))
    await bench.tell("go")
    lengths = [len(event.data.model_dump()["text"]) for event in bench.events(EventType.NOTICE)]
    assert lengths == [MAX_SHOWN_OUTPUT] * 2


async def test_a_result_is_stored_whole_and_sent_shortened(
    bench: Bench, scripted: ScriptedServer
) -> None:
    content = "\n".join(f"line {number} of a long file" for number in range(20_000))

    async def tells(parameters: Number, context: ToolContext) -> ToolResult:
        return ToolResult(content, "told")

    add_tools(bench, looking("tells", tells))
    scripted.add(call("tells"), text("Long."))
    await bench.tell("go")
    (stored,) = bench.messages(MessageType.TOOL_RESULT)
    assert stored.text == content
    sent = scripted.requests[1].body["messages"][-1]["content"]
    assert len(sent) < len(content) / 4
    assert "cut here" in sent


async def test_a_mix_of_good_and_unknown_tools_is_no_strike(
    bench: Bench, scripted: ScriptedServer
) -> None:
    files = [("read_file", {"path": "a.py", "start_line": n}) for n in range(1, 5)]
    scripted.add(*[calls(one, ("teleport", {})) for one in files], text("done"))
    assert (await bench.tell("go")).status is JobStatus.COMPLETED
