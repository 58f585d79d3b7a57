"""A plan carried out for real, by a scripted model, and then held against its log."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from cowork_jupyter.agents.ask.user import Ruling
from cowork_jupyter.domain.contexts import JobStatus, StepStatus
from cowork_jupyter.domain.errors import NotFound
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.record import ExportFormat
from cowork_jupyter.service.service import CoworkService
from cowork_jupyter.service.wiring import build_service
from tests.scripted import Scripted, ScriptedServer, call, plan, result, text
from tests.scripted.server import last_words

pytestmark = pytest.mark.asyncio

PLAN = plan(
    "Tidy up",
    {"id": "fix", "action": "Fix a.py", "tools_needed": ["write_files"], "files": ["a.py"]},
    {"id": "chart", "action": "Chart it", "depends_on": ["fix"], "estimated_time": "4 s"},
    {"id": "tell", "action": "Tell it", "depends_on": ["chart"]},
)
EDIT = call("update_file", path="a.py", old_text="42", new_text="43")


def model() -> Any:
    """Reads and plans; fixes with a file and a command too many; cannot chart."""
    planning = iter([call("read_file", path="a.py"), PLAN])
    fixing: Iterator[Scripted] = iter(
        [
            EDIT,
            call("create_file", path="b.py", content="b = 1\n"),
            call("execute_command", command="python -c 'print(\"sk-abcdefgh12345678\")'"),
            text("Fixed."),
        ]
    )

    def reply(body: dict[str, Any]) -> Scripted:
        said = str(body["messages"])
        if "PLANNER role" in last_words(body, "system"):
            return next(planning)
        if "The step: Fix a.py" in said:
            return next(fixing)
        return result("failed", "no column") if "The step: Chart it" in said else text("Told.")

    return reply


@pytest_asyncio.fixture
async def service(tmp_path: Path) -> AsyncIterator[CoworkService]:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "a.py").write_text("answer = 42\n")
    with ScriptedServer(model()) as scripted:
        settings = Settings(
            workspace=workspace,
            data_dir=tmp_path / "data",
            base_url=scripted.base_url,
            model="scripted",
        )
        service = build_service(settings)
        yield service
        await service.close()


async def carry_out(service: CoworkService) -> str:
    """Plan, approve, allow the command, skip the chart; gives the context."""
    context = service.conversations.create(title="Tidy")
    asked = service.send_message(context.id, "Tidy up, please.", AgentRole.PLANNER)
    assert asked.job_id
    await service.jobs.wait(asked.job_id)
    job = await service.execute_plan(context.id, 1)
    async with asyncio.timeout(60):
        while not (requests := service.requests.pending(context.id, "permission")):
            await asyncio.sleep(0.01)
        service.requests.resolve_all([requests[0].id], Ruling(decision="allow"))
        while not (questions := service.requests.pending(context.id, "question")):
            await asyncio.sleep(0.01)
        service.requests.answer(questions[0].id, "skip")
        assert (await service.jobs.wait(job.id)).status is JobStatus.COMPLETED
    return context.id


@pytest.mark.process
async def test_an_audit_tells_what_happened(service: CoworkService) -> None:
    context_id = await carry_out(service)
    found = await service.audit(context_id)
    fix, chart, tell = found.steps
    assert (found.goal, found.revision) == ("Tidy up", 1)
    kinds = [one.kind.value for one in fix.deviations]
    assert kinds == ["extra_tool", "extra_tool", "extra_file"]
    assert fix.deviations[0].what.startswith("also used create_file: created b.py")
    assert fix.deviations[1].what.startswith("also used execute_command: ran `python")
    assert fix.deviations[1].what.endswith("(allowed by you)")
    assert fix.deviations[2].what == "also changed b.py"
    assert fix.actual.files == ["a.py", "b.py"]
    assert [one.kind.value for one in chart.deviations] == ["failed", "skipped"]
    assert (chart.status, chart.planned.time) == (StepStatus.SKIPPED, "4 s")
    assert tell.deviations == []
    assert [one.actual.order for one in found.steps] == [1, 2, 3]
    assert all(one.actual.started_at and one.actual.ended_at for one in found.steps)
    (outside,) = found.outside
    assert (outside.role, outside.files_read) == (AgentRole.PLANNER, ["a.py"])
    assert (found.totals.steps, found.totals.completed) == (3, 2)


@pytest.mark.process
async def test_an_audit_agrees_with_the_log_and_links_to_it(service: CoworkService) -> None:
    context_id = await carry_out(service)
    found = await service.audit(context_id)
    messages = {one.id: one for one in service.conversations.messages(context_id, limit=1000).items}
    calls = [one for one in messages.values() if one.message_type is MessageType.TOOL_CALL]
    assert found.totals.tool_calls == len(calls) == 4
    shown = {
        deviation.kind.value: [messages[one].message_type.value for one in deviation.message_ids]
        for step in found.steps
        for deviation in step.deviations
    }
    assert shown == {
        "extra_tool": ["tool_call", "tool_result"],
        "extra_file": ["tool_call", "tool_result"],
        "failed": ["task_result"],
        "skipped": ["task_result", "question"],
    }


@pytest.mark.process
async def test_a_new_proposal_does_not_hide_what_was_carried_out(service: CoworkService) -> None:
    context_id = await carry_out(service)
    before = await service.audit(context_id)
    newest = service.plans.find(context_id)
    assert newest
    service.plans.edit(context_id, newest.plan.model_dump(mode="json"), 1)
    assert await service.audit(context_id) == before


@pytest.mark.process
async def test_exports_hold_it_all_but_no_secrets_and_no_homes(service: CoworkService) -> None:
    context_id = await carry_out(service)
    for kind in ExportFormat:
        body = (await service.export(context_id, kind)).body.decode()
        assert "abcdefgh12345678" not in body
        assert "Tidy up, please." in body
    report = (await service.export(context_id, ExportFormat.MARKDOWN)).body.decode()
    assert str(service.settings.workspace) not in report
    assert "-answer = 42\n+answer = 43" in report
    assert "**You:** Skip this step" in report


@pytest.mark.parametrize("kind", [None, *ExportFormat])
async def test_an_unknown_conversation_is_not_found(
    service: CoworkService, kind: ExportFormat | None
) -> None:
    with pytest.raises(NotFound):
        await (service.export("ctx_nobody", kind) if kind else service.audit("ctx_nobody"))


async def test_a_conversation_without_a_plan_has_an_audit_without_steps(
    service: CoworkService,
) -> None:
    found = await service.audit(service.conversations.create().id)
    assert (found.steps, found.outside, found.totals.tool_calls) == ([], [], 0)
