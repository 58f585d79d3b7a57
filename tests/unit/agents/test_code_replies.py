"""Blocks of Python as replies, from the model to the kernel and back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.llm.tokens import estimate_tokens
from cowork_jupyter.policy.rules import Effect, Scope
from cowork_jupyter.tools.kernel.state import CellFailure, CodeResult, CodeRun, NoKernels
from cowork_jupyter.tools.registry import tools_with_kernels, tools_without_kernels
from cowork_jupyter.workspace import Workspace
from tests.scripted import ScriptedServer, plan, text

from .conftest import Bench
from .helpers import bench_with

pytestmark = pytest.mark.asyncio
BLOCK = "```python\nprint(6 * 7)\n```"


class Kernel(NoKernels):
    """Prints the same whatever it runs."""

    home = "this kernel"

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.prints = "42\n"

    async def run(self, workspace: Workspace, run: CodeRun) -> CodeResult:
        self.ran.append(run.code.source)
        return CodeResult(
            run.path, ({"output_type": "stream", "name": "stdout", "text": self.prints},)
        )


def kernel_of(bench: Bench) -> Kernel:
    kernel = Kernel()
    bench.service.factory.tools.registry = tools_with_kernels()
    bench.service.factory.tools.kernels = kernel
    return kernel


@pytest_asyncio.fixture
async def asked_for_code(settings: Settings) -> AsyncIterator[Bench]:
    async with bench_with(settings, tool_protocol="code") as bench:
        yield bench


def sent(scripted: ScriptedServer, turn: int) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = scripted.requests[turn].body["messages"]
    return messages


async def test_a_block_runs_and_its_output_goes_back(
    bench: Bench, scripted: ScriptedServer
) -> None:
    kernel = kernel_of(bench)
    scripted.add(text(BLOCK), text("It is 42."))
    assert (await bench.tell("What is six times seven?")).status is JobStatus.COMPLETED
    assert kernel.ran == ["print(6 * 7)"]
    (called,) = bench.messages(MessageType.TOOL_CALL)
    assert called.data.model_dump()["tool"] == "run_code"
    assert "42" in sent(scripted, 1)[-1]["content"]
    words = [one.text for one in bench.messages(MessageType.TEXT) if one.role == "assistant"]
    assert words == ["It is 42."]


async def test_code_with_a_syntax_error_is_not_run(bench: Bench, scripted: ScriptedServer) -> None:
    kernel = kernel_of(bench)
    scripted.add(text("```python\nprint((1\n```"), text(BLOCK), text("42"))
    assert (await bench.tell("go")).status is JobStatus.COMPLETED
    assert kernel.ran == ["print(6 * 7)"]
    assert "line 1: print((1" in sent(scripted, 1)[-1]["content"]


@pytest.mark.parametrize("role", [AgentRole.PLANNER, AgentRole.DESIGNER])
async def test_a_role_that_may_not_run_code_only_shows_it(
    bench: Bench, scripted: ScriptedServer, role: AgentRole
) -> None:
    kernel = kernel_of(bench)
    bench.service.factory.tools.registry = tools_with_kernels(confined=False)
    scripted.add(text(BLOCK))
    await bench.tell("go", role)
    assert kernel.ran == []
    assert bench.messages()[-1].text == BLOCK


async def test_a_small_model_is_told_of_earlier_jobs_and_does_not_see_them_as_turns_to_imitate(
    asked_for_code: Bench, scripted: ScriptedServer
) -> None:
    bench = asked_for_code
    kernel_of(bench)
    scripted.add(text(BLOCK), text("It is 42."), text("Planned."), text("Done."))
    await bench.tell("compute it")
    await bench.tell("plan it", AgentRole.PLANNER)
    await bench.tell("go on")
    planning, acting = sent(scripted, 2), sent(scripted, 3)
    for messages in (planning, acting):
        assert [one["role"] for one in messages] == ["system", "user"]
        assert "They asked: compute it\n- You answered: It is 42." in messages[1]["content"]
        assert "6 * 7" not in messages[1]["content"]
    assert "They asked: plan it\n- You answered: Planned." in acting[1]["content"]


async def test_a_small_model_is_told_how_the_steps_of_a_plan_ended(
    asked_for_code: Bench, scripted: ScriptedServer
) -> None:
    bench = asked_for_code
    kernel_of(bench)
    scripted.add(plan("Compute it", {"action": "Multiply"}), text("Multiplied: 42."), text("Yes."))
    await bench.tell("plan it", AgentRole.PLANNER)
    job = await bench.service.execute_plan(bench.context.id, 1)
    await bench.service.jobs.wait(job.id)
    await bench.tell("is it 42?")
    said = sent(scripted, 2)[1]["content"]
    assert "- They asked: plan it\n" in said
    assert "- A step ended: Multiplied: 42.\n" in said


async def test_of_many_earlier_jobs_a_small_model_is_told_of_the_last(
    asked_for_code: Bench, scripted: ScriptedServer
) -> None:
    kernel_of(asked_for_code)
    for number in range(5):
        scripted.add(text(f"Answer {number} {'x' * 1000}"))
        await asked_for_code.tell(f"Question {number}")
    said = sent(scripted, 4)[1]["content"]
    assert [f"asked: Question {number}" in said for number in range(4)] == [False, True, True, True]
    assert said.index("Question 1") < said.index("Question 3")
    assert len(said) < 2_000


@pytest.mark.parametrize(
    ("request_text", "shows_form"),
    [("How many cities? End with @cities[value].", True), ("How many cities are there?", False)],
)
async def test_the_example_prints_a_form_only_for_those_who_ask_for_one(
    asked_for_code: Bench, scripted: ScriptedServer, request_text: str, shows_form: bool
) -> None:
    kernel_of(asked_for_code)
    scripted.add(text(BLOCK), text("@cities[42]"))
    await asked_for_code.tell(request_text)
    assert ("@cities[" in sent(scripted, 0)[0]["content"]) is shows_form


async def test_where_no_code_can_run_a_block_is_text(
    bench: Bench, scripted: ScriptedServer
) -> None:
    bench.service.factory.tools.registry = tools_without_kernels(confined=False)
    scripted.add(text(BLOCK))
    await bench.tell("go")
    assert bench.messages()[-1].text == BLOCK


async def test_a_rule_that_denies_running_code_counts(
    bench: Bench, scripted: ScriptedServer
) -> None:
    kernel = kernel_of(bench)
    bench.service.rules.add(Effect.DENY, "run_code", Scope.SESSION, bench.context.id)
    scripted.add(text(BLOCK))
    await bench.tell("go")
    assert kernel.ran == []


async def test_the_thin_prompt_asks_for_a_block_and_the_history_shows_blocks(
    asked_for_code: Bench, scripted: ScriptedServer
) -> None:
    kernel = kernel_of(asked_for_code)
    scripted.add(text(f"Sure!\n{BLOCK}\nThis prints 42."), text("It is 42."))
    await asked_for_code.tell("What is six times seven?")
    assert kernel.ran == ["print(6 * 7)"]
    system = sent(scripted, 0)[0]["content"]
    assert "ONE fenced Python block" in system
    assert "mermaid" not in system.lower()
    assert estimate_tokens(system) <= 900
    assert BLOCK in sent(scripted, 1)[-2]["content"]
    assert '"tool"' not in sent(scripted, 1)[-2]["content"]
    assert not asked_for_code.events(EventType.NOTICE), "its shorter prompt is no missing one"


@pytest.mark.parametrize("role", AgentRole)
async def test_the_thin_prompt_is_short_and_the_same_for_every_request(
    asked_for_code: Bench, scripted: ScriptedServer, role: AgentRole
) -> None:
    kernel_of(asked_for_code)
    for request in ("Find a symbol and delete a file.", "Which notebooks are there?"):
        scripted.add(text("Well."))
        await asked_for_code.tell(request, role)
    first, second = (request.body["messages"][0]["content"] for request in scripted.requests)
    assert first == second
    assert estimate_tokens(first) <= 900


async def test_what_code_prints_is_the_answer_if_it_has_the_form_asked_for(
    asked_for_code: Bench, scripted: ScriptedServer
) -> None:
    kernel = kernel_of(asked_for_code)
    kernel.prints = "The product is\n@product[42]\n"
    scripted.add(text(BLOCK))
    await asked_for_code.tell("What is six times seven? End with @product[value].")
    assert len(scripted.requests) == 1
    assert asked_for_code.messages()[-1].text == "The product is\n@product[42]"
    kernel.prints = "@product[value]\n"
    scripted.add(text(BLOCK), text("@product[42]"))
    await asked_for_code.tell("What is six times seven? End with @product[value].")
    assert len(scripted.requests) == 3, "the form without its value is no answer"
    assert "ending with @product[…]" in sent(scripted, 2)[-1]["content"]


async def test_below_a_failure_the_corrected_block_is_asked_for(
    asked_for_code: Bench, scripted: ScriptedServer
) -> None:
    kernel_of(asked_for_code).run = failing  # type: ignore[method-assign]
    scripted.add(text(BLOCK), text("I give up."))
    await asked_for_code.tell("go")
    last = sent(scripted, 1)[-1]["content"]
    assert last.endswith("Reply with the whole block corrected.")
    assert "Begin with `import pandas as pd`." in last
    assert "not retryable" not in last
    likeliest, other = (request.body["temperature"] for request in scripted.requests)
    assert likeliest == 0 < other, "the likeliest code would be the same again"


async def failing(workspace: Workspace, run: CodeRun) -> CodeResult:
    return CodeResult(run.path, failure=CellFailure("NameError", "name 'pd' is not defined"))


@pytest.mark.process
async def test_a_block_that_ran_in_scratch_is_a_block_in_the_history_too(
    asked_for_code: Bench, scripted: ScriptedServer
) -> None:
    asked_for_code.service.factory.tools.registry = tools_with_kernels()
    asked_for_code.service.factory.tools.kernels = NoKernels()
    scripted.add(text(BLOCK), text("It is 42."))
    await asked_for_code.tell("What is six times seven?")
    (called,) = asked_for_code.messages(MessageType.TOOL_CALL)
    assert called.data.model_dump()["parameters"]["where"] == "scratch"
    assert BLOCK in sent(scripted, 1)[-2]["content"]
    assert '"tool"' not in sent(scripted, 1)[-2]["content"]


@pytest.mark.parametrize("role", [AgentRole.PLANNER, AgentRole.ACTOR])
async def test_without_code_to_run_the_same_setting_means_json(
    asked_for_code: Bench, scripted: ScriptedServer, role: AgentRole
) -> None:
    kernel_of(asked_for_code)
    if role is AgentRole.ACTOR:
        asked_for_code.service.factory.tools.registry = tools_without_kernels(confined=False)
    scripted.add(text("Well."))
    await asked_for_code.tell("go", role)
    system = sent(scripted, 0)[0]["content"]
    assert "reply with only a JSON object" in system
    assert "fenced Python" not in system
