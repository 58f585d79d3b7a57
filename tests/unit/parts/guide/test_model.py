"""The guide in the place of a model: the loop, the roles and the plans are the real ones."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from cowork_jupyter.domain.contexts import JobStatus, StepStatus
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.llm.chunks import Finished, ModelRequest, TextChunk
from cowork_jupyter.parts.guide.model import NAME, GuideModel
from cowork_jupyter.service.connections import Connections, CurrentModel
from cowork_jupyter.service.wiring import build_service
from tests.unit.agents.agreeable import Agreeable
from tests.unit.agents.conftest import Bench

from .desk import write_notebook


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
async def test_plan_is_approved_and_executed(bench: Bench) -> None:
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


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.asyncio
async def test_a_question_is_computed_in_the_sandbox(bench: Bench) -> None:
    await bench.tell("what is the average price by region in sales.csv?", AgentRole.PLANNER)
    assert "| N | 3.50 |" in bench.messages(MessageType.TEXT)[-1].text


@pytest.mark.process
@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("name", "parameters", "kind", "expected"),
    [
        ("profile_dataset", {"path": "sales.csv"}, MessageType.TEXT, "| rows | 50 |"),
        ("explain_notebook", {"notebook": "a.ipynb"}, MessageType.TEXT, "`a.ipynb` has 2 cells"),
        ("clean_notebook", {"notebook": "a.ipynb"}, MessageType.PLAN, "Put the cells of `a.ipynb`"),
        ("review_changes", {"paths": ["a.ipynb"]}, MessageType.REVIEW, "a.ipynb"),
    ],
)
async def test_shipped_workflows_run_with_the_guide(
    bench: Bench, name: str, parameters: dict[str, Any], kind: MessageType, expected: str
) -> None:
    write_notebook(bench.workspace / "a.ipynb", "print(x)", "x = 1")
    message = bench.service.run_workflow(name, parameters, bench.context.id)
    assert message.job_id
    job = await bench.service.jobs.wait(message.job_id)
    assert job.status is JobStatus.COMPLETED, job.error
    (made,) = [one for one in bench.messages(kind) if one.role == "assistant"]
    assert expected in made.model_dump_json()


@pytest.mark.asyncio
async def test_reply_is_streamed_in_pieces() -> None:
    request = ModelRequest([{"role": "user", "content": "sing"}])
    chunks = [chunk async for chunk in GuideModel().stream(request)]
    texts = [chunk.text for chunk in chunks if isinstance(chunk, TextChunk)]
    assert len(texts) > 10
    assert "built-in guide" in "".join(texts)
    assert Finished("stop") in chunks


@pytest.mark.asyncio
async def test_guide_answers_while_no_model_is_connected(
    tmp_path: Path,
) -> None:
    connections = Connections(Settings(tmp_path, tmp_path / "data"))
    current_model = CurrentModel(connections)
    assert current_model.name == NAME
    request = ModelRequest([{"role": "user", "content": "Hello"}])
    said = [chunk async for chunk in current_model.stream(request)]
    assert any(isinstance(chunk, TextChunk) for chunk in said)
    connections.choose(connections.propose("http://127.0.0.1:11434/v1", "qwen"))
    assert current_model.name == "qwen"
    connections.forget()
    assert current_model.name == NAME
    await current_model.aclose()
