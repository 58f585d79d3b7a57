"""The guide in a notebook with a real kernel: cells appear, run, and hold what came out."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from cowork_jupyter.agents.log import RunLog
from cowork_jupyter.domain.contexts import Job, JobStatus
from cowork_jupyter.domain.messages import ImagePart, MessageType, ReviewData, ToolCallData
from cowork_jupyter.domain.replies import Question
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.parts.guide.model import NAME, GuideModel
from cowork_jupyter.tools.notebook.edit_tools import WRITE
from tests.unit.agents.agreeable import Agreeable

from .notebook_kernel import NOTEBOOK, PATIENCE, Place
from .notebook_kernel import place as place


class WritesAnyway:
    """A user whose notebook is open in another program, and who wants the file written."""

    async def ask(self, question: Question, _log: RunLog, **_: object) -> str | None:
        assert question.accepts(WRITE), question.question
        return WRITE

    def open_question(self, *_: object) -> Question | None:
        return None


@pytest.mark.slow
async def test_a_plan_becomes_cells_with_output_and_a_chart(
    place: Place, jp_root_dir: Path
) -> None:
    rows = "".join(f"2024-{n % 12 + 1:02d}-01,{n % 7}.5\n" for n in range(50))
    (jp_root_dir / "prices.csv").write_text(f"day,price\n{rows}")
    (extension,) = place.app.extension_manager.extension_apps["cowork_jupyter"]
    service = extension.service
    service.factory.llm.model = GuideModel()
    service.factory.tools.gate.approver = Agreeable()
    service.factory.tools.user = WritesAnyway()
    context = service.conversations.create(notebook=NOTEBOOK, model=NAME)

    async def plan_and_execute() -> Job:
        sent = service.send_message(
            context.id, "Profile prices.csv and plot price over time", AgentRole.PLANNER
        )
        await service.jobs.wait(sent.job_id)
        revision = service.journal.store.plan(context.id)
        assert "run_cell" in revision.plan.steps[0].tools_needed
        job = await service.execute_plan(context.id, revision.revision)
        ended: Job = await service.jobs.wait(job.id)
        return ended

    async with asyncio.timeout(PATIENCE):
        job = await extension.thread.run(plan_and_execute())
    assert job.status is JobStatus.COMPLETED, job.error
    said = [
        one.text
        for one in service.journal.store.messages(context.id).items
        if one.message_type is MessageType.TASK_RESULT
    ]
    assert "50 rows, 2 columns" in said[0]
    assert "highest 2024-" in said[1]
    cells = json.loads((jp_root_dir / NOTEBOOK).read_text())["cells"]
    sources = ["".join(cell["source"]) for cell in cells]
    reading = 'prices = pd.read_csv("prices.csv", parse_dates=["day"])'
    assert sum(reading in source for source in sources) == 1, "the second step uses the table"
    assert sources[-2].startswith("monthly = prices.groupby(")
    assert sources[-1].startswith("ax = monthly.plot.line(")
    assert sum("import pandas" in source for source in sources) == 1
    # What cells show is written by whoever has the notebook open; the agent has seen the chart.
    came = [
        part
        for one in service.journal.store.messages(context.id).items
        if one.message_type is MessageType.TOOL_RESULT
        for part in one.content
    ]
    assert any(isinstance(part, ImagePart) or "svg" in part.text for part in came)


async def test_the_reviewer_reviews_by_rules_and_the_record_shows_what_it_read(
    place: Place, jp_root_dir: Path
) -> None:
    (extension,) = place.app.extension_manager.extension_apps["cowork_jupyter"]
    service = extension.service
    service.factory.llm.model = GuideModel()
    (jp_root_dir / "clean.py").write_text("password = 'tr0ub4dor&3'\n")
    context = service.conversations.create(notebook=NOTEBOOK, model=NAME)

    async def review() -> Job:
        sent = service.send_message(context.id, "Review clean.py", AgentRole.REVIEWER)
        job: Job = await service.jobs.wait(sent.job_id)
        return job

    async with asyncio.timeout(PATIENCE):
        job = await extension.thread.run(review())
    assert job.status is JobStatus.COMPLETED, job.error
    messages = service.journal.store.messages(context.id).items
    calls = [one.data.tool for one in messages if isinstance(one.data, ToolCallData)]
    assert calls == ["list_directory", "read_file"]
    (found,) = [one.data for one in messages if isinstance(one.data, ReviewData)]
    assert [one.severity for one in found.findings] == ["critical"]
    assert "tr0ub4dor" not in found.text
    assert found.verdict == "request_changes"
