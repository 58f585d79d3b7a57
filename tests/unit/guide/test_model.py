"""The guide in the place of a model: the loop, the roles and the plans are the real ones."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from cowork_jupyter.domain.contexts import JobStatus, StepStatus
from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.guide import NAME
from cowork_jupyter.guide.model import GuideModel
from cowork_jupyter.llm.chunks import Finished, ModelRequest, TextChunk
from cowork_jupyter.service.wiring import build_service
from tests.unit.agents.agreeable import Agreeable
from tests.unit.agents.conftest import Bench


@pytest_asyncio.fixture
async def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bench]:
    # Scripts run with the first Python that is found: here the one with pandas.
    folders = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    monkeypatch.setenv("PATH", os.pathsep.join(folders))
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    rows = "".join(f"2024-{n % 12 + 1:02d}-01,{n % 7}.5,{'NS'[n % 2]}\n" for n in range(50))
    (workspace / "sales.csv").write_text(f"day,price,region\n{rows}")
    settings = Settings(workspace=workspace, data_dir=tmp_path / "data", model=NAME)
    service = build_service(settings)
    service.factory.llm.model = GuideModel()
    service.factory.tools.gate.approver = Agreeable()
    yield Bench(service, service.conversations.create(), workspace)
    await service.close()


@pytest.mark.process
@pytest.mark.asyncio
async def test_a_plan_is_made_approved_and_carried_out(bench: Bench) -> None:
    job = await bench.tell("Profile sales.csv and plot price over time", AgentRole.PLANNER)
    assert job.status is JobStatus.COMPLETED, job.error
    revision = bench.service.journal.store.plan(bench.context.id)
    assert revision
    assert "sales.csv" in revision.files_read
    job = await bench.service.execute_plan(bench.context.id, revision.revision)
    job = await bench.service.jobs.wait(job.id)
    assert job.status is JobStatus.COMPLETED, job.error
    done = bench.service.journal.store.plan(bench.context.id)
    assert done
    assert {step.status for step in done.plan.steps} == {StepStatus.COMPLETED}
    said = [one.text for one in bench.messages(MessageType.TASK_RESULT)]
    assert "50 rows, 3 columns" in said[0]
    drawn = re.search(r"chart saved to (\S+)", said[1])
    assert drawn
    assert (bench.workspace / drawn[1]).stat().st_size > 0


@pytest.mark.process
@pytest.mark.asyncio
async def test_other_words_for_models_change_nothing_that_the_guide_does(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    nonsense = "Qwrt zxcv."
    monkeypatch.setattr("cowork_jupyter.agents.agent.render_prompt", lambda _parts: nonsense)
    monkeypatch.setattr(
        "cowork_jupyter.agents.plan.coordinator.assignment_text", lambda *_: nonsense
    )
    monkeypatch.setattr("cowork_jupyter.llm.conversation._text", lambda *_: nonsense)
    monkeypatch.setattr(CoworkError, "for_model", nonsense)
    (bench.workspace / "other.csv").write_text("x,y\n1,2\n")
    job_id = bench.start("Make a profile of a table", AgentRole.PLANNER)
    await bench.answer("sales.csv")
    assert (await bench.service.jobs.wait(job_id)).status is JobStatus.COMPLETED
    revision = bench.service.plans.find(bench.context.id)
    assert revision
    job = await bench.service.execute_plan(bench.context.id, revision.revision)
    assert (await bench.service.jobs.wait(job.id)).status is JobStatus.COMPLETED
    (done,) = bench.messages(MessageType.TASK_RESULT)
    assert done.data.model_dump()["status"] == "completed"
    assert "50 rows, 3 columns" in done.text


@pytest.mark.asyncio
async def test_a_step_that_the_guide_cannot_do_has_failed(bench: Bench) -> None:
    plan = {"type": "plan", "goal": "Money", "steps": [{"id": "1", "action": "Call the bank"}]}
    bench.service.plans.edit(bench.context.id, plan, 0)
    job = await bench.service.execute_plan(bench.context.id, 1)
    asked = await bench.until(EventType.QUESTION_ASKED)
    assert "I do not know how to do that step" in asked.data.model_dump()["context"]
    bench.service.inquiries.answer(asked.data.model_dump()["id"], "stop")
    assert (await bench.service.jobs.wait(job.id)).status is JobStatus.FAILED


@pytest.mark.process
@pytest.mark.asyncio
async def test_without_a_plan_the_actor_does_it_all(bench: Bench) -> None:
    job = await bench.tell("profile sales.csv")
    assert job.status is JobStatus.COMPLETED, job.error
    assert "50 rows, 3 columns" in bench.messages(MessageType.TEXT)[-1].text


@pytest.mark.asyncio
async def test_the_reply_comes_in_pieces_that_make_up_the_whole() -> None:
    request = ModelRequest([{"role": "user", "content": "sing"}])
    chunks = [chunk async for chunk in GuideModel().stream(request)]
    texts = [chunk.text for chunk in chunks if isinstance(chunk, TextChunk)]
    assert len(texts) > 10
    assert "built-in guide" in "".join(texts)
    assert Finished("stop") in chunks
