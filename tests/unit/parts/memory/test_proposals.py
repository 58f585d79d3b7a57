"""What a run that was kept teaches, by a real service with the guide: the same request twice."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.errors import Conflict, NotFound
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.parts.memory.memory import MEMORY_FILE, WorkspaceMemory
from cowork_jupyter.parts.memory.proposals import proposals
from cowork_jupyter.service.service import CoworkService

from ...record.twice import (
    ANSWERS,
    CLEANED,
    WISH,
    answered,
    carry_out,
    guide_in,
    settings_in,
    turns,
)

pytestmark = [pytest.mark.asyncio, pytest.mark.process]


@pytest.fixture(autouse=True)
def our_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripts of the guide need pandas."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


@pytest_asyncio.fixture
async def service(tmp_path: Path) -> AsyncIterator[CoworkService]:
    made = guide_in(settings_in(tmp_path))
    yield made
    await made.close()


async def test_the_second_time_nothing_is_asked(service: CoworkService) -> None:
    there = {*service.settings.workspace.rglob("*.*")}
    job, asked, context_id = await carry_out(service)
    assert job.status is JobStatus.COMPLETED, job.error
    assert asked == list(ANSWERS)
    before = turns(service, context_id)
    assert not (service.settings.workspace / MEMORY_FILE).exists(), "nothing is written unasked"
    (proposal,) = service.of(proposals).waiting()
    service.of(proposals).keep(job.id, proposal.fingerprint)
    file = service.settings.workspace / MEMORY_FILE
    text = file.read_text()
    assert "- `shop/orders.csv`: columns `day`, `item`, `amount`" in text
    assert "- `shop/orders.csv`: duplicates dropped, rows without `item` dropped" in text
    assert f"- For “{WISH}”: `shop/orders.csv`" in text
    assert "`%d.%m.%Y`" in text
    assert "Zwiebel" not in text
    for made in {*service.settings.workspace.rglob("*.*")} - there - {file, file.parent}:
        made.unlink()
    again, asked, context_id = await carry_out(service)
    assert asked == []
    assert again.status is JobStatus.COMPLETED, again.error
    assert turns(service, context_id) == before - len(ANSWERS)
    revision = service.plans.find(context_id)
    assert revision
    assert [one.action for one in revision.plan.steps] == [f"Clean `shop/orders.csv`: {CLEANED}"]
    assumed = revision.plan.assumptions[0].text
    assert assumed.startswith("You mean `shop/orders.csv`, as you said before.")
    used = service.journal.store.guidance_used(context_id)
    assert [(one.kind, one.name) for one in used] == [("memory", MEMORY_FILE)]
    assert service.of(proposals).waiting() == [], "what is known already is not offered again"


async def test_a_run_that_was_rolled_back_teaches_nothing_until_that_is_undone(
    service: CoworkService,
) -> None:
    job, _, context_id = await carry_out(service)
    first = service.journal.store.checkpoints(context_id)[0]
    back = await service.checkpoints.undo.rollback(first.id)
    assert service.of(proposals).waiting() == []
    assert service.of(proposals).of(job.id) is None
    with pytest.raises(NotFound, match="nothing new"):
        service.of(proposals).keep(job.id, service.guidance.of(WorkspaceMemory).read().fingerprint)
    assert back.checkpoint_id
    await service.checkpoints.undo.rollback(back.checkpoint_id)
    assert [one.job_id for one in service.of(proposals).waiting()] == [job.id]


async def test_a_run_that_teaches_nothing_is_not_offered(service: CoworkService) -> None:
    context = service.conversations.create()
    job_id = service.send_message(context.id, "hello", AgentRole.ACTOR).job_id
    assert job_id
    assert await answered(service, context.id, job_id) == []
    assert service.jobs.get(job_id).status is JobStatus.COMPLETED
    assert service.of(proposals).of(job_id) is None
    assert service.of(proposals).waiting() == []


async def test_what_was_dropped_is_not_offered_again(service: CoworkService) -> None:
    job, _, _ = await carry_out(service)
    service.of(proposals).drop(job.id)
    assert service.of(proposals).waiting() == []
    assert not (service.settings.workspace / MEMORY_FILE).exists()


async def test_a_change_made_elsewhere_is_not_lost(service: CoworkService) -> None:
    job, _, _ = await carry_out(service)
    (proposal,) = service.of(proposals).waiting()
    file = service.settings.workspace / MEMORY_FILE
    file.parent.mkdir()
    file.write_text("# Mine\n")
    with pytest.raises(Conflict, match="has changed meanwhile"):
        service.of(proposals).keep(job.id, proposal.fingerprint)
    (anew,) = service.of(proposals).waiting()
    with pytest.raises(Conflict, match="do not trust"):
        service.of(proposals).keep(job.id, anew.fingerprint)
    assert file.read_text() == "# Mine\n"
    service.of(proposals).keep(job.id, anew.fingerprint, anew.text)
    assert file.read_text().startswith("# Mine\n")
    assert service.guidance.of(WorkspaceMemory).read().trusted


async def test_another_workspace_with_the_same_record_is_offered_nothing(tmp_path: Path) -> None:
    first = guide_in(settings_in(tmp_path))
    await carry_out(first)
    await first.close()
    elsewhere = settings_in(tmp_path / "elsewhere")
    shared = Settings(workspace=elsewhere.workspace, data_dir=tmp_path / "data")
    second = guide_in(shared)
    assert second.of(proposals).waiting() == []
    await second.close()
    again = guide_in(settings_in(tmp_path))
    assert len(again.of(proposals).waiting()) == 1, "it outlives the process"
    await again.close()


async def test_switched_off_it_neither_offers_nor_follows(tmp_path: Path) -> None:
    service = guide_in(settings_in(tmp_path, memory="off"))
    service.guidance.of(WorkspaceMemory).write(
        f"## Answers\n- For “{WISH}”: `shop/orders.csv`", _EMPTY
    )
    _, asked, context_id = await carry_out(service)
    assert asked == list(ANSWERS)
    assert service.of(proposals).waiting() == []
    assert service.journal.store.guidance_used(context_id) == []
    await service.close()


_EMPTY = "e3b0c44298fc1c149afbf4c8996fb924"
"""The fingerprint of no memory."""
