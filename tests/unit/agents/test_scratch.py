"""Code in scratch as agents use it: who may, what asks, and where code goes that does not say."""

from __future__ import annotations

import os
from typing import Any

import pytest

from cowork_jupyter.agents.ask.user import PermissionRequest
from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.policy.rules import Effect, Scope
from cowork_jupyter.record.deviations import only_reads
from cowork_jupyter.record.step_traces import LoggedToolUse
from cowork_jupyter.tools.kernel.state import CodeResult, CodeRun, NoKernels
from cowork_jupyter.tools.registry import tools_with_kernels
from cowork_jupyter.workspace import Workspace
from tests.scripted import ScriptedServer, call, text

from .agreeable import Agreeable
from .conftest import Bench
from .helpers import bench_with

pytestmark = pytest.mark.asyncio
SCRATCH = {"code": "6 * 7", "where": "scratch"}


class Kernel(NoKernels):
    """That of a notebook; whatever it runs, it says so."""

    async def run(self, workspace: Workspace, run: CodeRun) -> CodeResult:
        return CodeResult(
            run.path, ({"output_type": "stream", "name": "stdout", "text": "kernel\n"},)
        )


def with_kernel(bench: Bench) -> None:
    bench.service.factory.tools.registry = tools_with_kernels()
    bench.service.factory.tools.kernels = Kernel()


def decision(bench: Bench, role: AgentRole, **parameters: Any) -> str:
    return bench.service.check_call(role, "run_code", parameters, bench.context.id).decision


@pytest.mark.parametrize("role", AgentRole)
async def test_scratch_asks_nobody_whatever_the_role(bench: Bench, role: AgentRole) -> None:
    with_kernel(bench)
    assert decision(bench, role, **SCRATCH) == "allow"
    commands = "import os; os.system('rm -r .'); print(open('.env').read())"
    assert decision(bench, role, code=commands, where="scratch") == "allow"


@pytest.mark.parametrize("role", AgentRole)
async def test_the_kernel_of_a_notebook_is_what_it_was(bench: Bench, role: AgentRole) -> None:
    with_kernel(bench)
    expected = "ask" if role is AgentRole.ACTOR else "deny"
    if role is not AgentRole.TESTER:  # whose code the tool itself refuses there
        assert decision(bench, role, code="1", where="notebook") == expected
    assert decision(bench, AgentRole.ACTOR, code="1") == "ask"


@pytest.mark.parametrize("rule", ["run_code", "read_file"])
async def test_a_rule_that_denies_it_counts(bench: Bench, rule: str) -> None:
    bench.service.rules.add(Effect.DENY, rule, Scope.SESSION, bench.context.id)
    assert decision(bench, AgentRole.PLANNER, **SCRATCH) == "deny"


async def test_a_rule_that_asks_counts(bench: Bench) -> None:
    bench.service.rules.add(Effect.ASK, "run_code", Scope.SESSION, bench.context.id)
    assert decision(bench, AgentRole.ACTOR, **SCRATCH) == "ask"


@pytest.mark.parametrize("kernels", [True, False])
async def test_where_nothing_confines_scratch_is_not_offered(
    settings: Settings, kernels: bool
) -> None:
    async with bench_with(settings, sandbox="none") as bench:
        registry = bench.service.factory.tools.registry
        if kernels:
            registry = tools_with_kernels(confined=False)
        offered = {tool.name for tool in registry.permitted(AgentRole.PLANNER)}
        assert "run_code" not in offered
        actors = {tool.name: tool for tool in registry.permitted(AgentRole.ACTOR)}
        assert ("run_code" in actors) is kernels
        if kernels:
            schema = actors["run_code"].parameters.model_json_schema()
            assert "scratch" not in str(schema["properties"]["where"])


class NobodyIsAsked(Agreeable):
    """Fails whoever asks."""

    async def decide(self, request: PermissionRequest, *_: Any) -> Any:
        raise AssertionError(f"asked about {request.tool}")


@pytest.mark.process
@pytest.mark.parametrize("role", [AgentRole.PLANNER, AgentRole.ACTOR, AgentRole.TESTER])
async def test_an_agent_computes_in_scratch_without_a_checkpoint(
    bench: Bench, scripted: ScriptedServer, role: AgentRole
) -> None:
    bench.service.factory.tools.gate.approver = NobodyIsAsked()
    scripted.add(call("run_code", code="from a import answer\nanswer"), text("It is 42."))
    assert (await bench.tell("What is the answer?", role)).status is JobStatus.COMPLETED
    (outcome,) = bench.results()
    assert outcome["ok"]
    assert outcome["summary"] == "ran code in scratch"
    assert "42" in scripted.requests[1].body["messages"][-1]["content"]
    assert bench.service.journal.store.checkpoints(bench.context.id) == []


@pytest.mark.process
@pytest.mark.parametrize(
    ("role", "parameters", "where"),
    [
        (AgentRole.ACTOR, {"path": "n.ipynb"}, "kernel"),
        (AgentRole.ACTOR, {}, "scratch"),  # there is no notebook
        (AgentRole.PLANNER, {}, "scratch"),
        (AgentRole.ACTOR, {"where": "scratch"}, "scratch"),
    ],
)
async def test_where_code_runs_that_does_not_say(
    bench: Bench,
    scripted: ScriptedServer,
    role: AgentRole,
    parameters: dict[str, Any],
    where: str,
) -> None:
    with_kernel(bench)
    scripted.add(call("run_code", code="6 * 7", **parameters), text("Done."))
    await bench.tell("go", role)
    said = scripted.requests[1].body["messages"][-1]["content"]
    assert ("kernel\n" in said) == (where == "kernel")
    (called,) = bench.messages(MessageType.TOOL_CALL)
    stored = called.data.model_dump()["parameters"]
    assert (stored.get("where") == "scratch") == (where == "scratch")
    use = LoggedToolUse("run_code", called, [called.id])
    assert only_reads(use, tools_with_kernels()) == (where == "scratch")


@pytest.mark.process
async def test_variables_stay_from_message_to_message_and_end_with_the_conversation(
    bench: Bench, scripted: ScriptedServer
) -> None:
    for code in ("x = 41", "import os\nprint('pid', os.getpid(), x + 1)"):
        scripted.add(call("run_code", code=code), text("Done."))
        await bench.tell("go", AgentRole.PLANNER)
    said = scripted.requests[3].body["messages"][-1]["content"]
    words = said[said.index("pid ") :].split()
    assert words[2] == "42"
    assert os.path.exists(f"/proc/{words[1]}")  # noqa: ASYNC240, PTH110
    await bench.service.conversations.delete(bench.context.id)
    assert not os.path.exists(f"/proc/{words[1]}")  # noqa: ASYNC240, PTH110
