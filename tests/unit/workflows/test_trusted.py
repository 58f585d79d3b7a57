"""Templates that come with a folder, in a whole service: trust makes them workflows."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.errors import NotFound
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.service.service import CoworkService
from cowork_jupyter.service.wiring import build_service

from .plans import template

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def service(tmp_path: Path) -> AsyncIterator[CoworkService]:
    folder = tmp_path / "workspace/.cowork/workflows"
    folder.mkdir(parents=True)
    saved = template().saved.model_dump(mode="json")
    (folder / "brought.json").write_text(json.dumps(saved))
    service = build_service(
        Settings(workspace=tmp_path / "workspace", data_dir=tmp_path / "data", model="none")
    )
    yield service
    await service.close()


async def test_until_it_is_trusted_it_cannot_be_run(service: CoworkService) -> None:
    assert [offer.name for offer in service.trust.waiting()] == ["brought"]
    assert "brought" not in service.workflows.current()
    with pytest.raises(NotFound):
        service.run_workflow("brought", {"path": "a.csv", "year": "2026"})


async def test_once_trusted_it_is_a_workflow_like_others(service: CoworkService) -> None:
    service.trust.accept(service.trust.fingerprint())
    values = {"path": "a.csv", "year": "2026"}
    message = service.run_workflow("brought", values, owner="ada")
    assert message.job_id
    job = await service.jobs.wait(message.job_id)
    assert job.status is JobStatus.COMPLETED
    assert service.conversations.owner(message.context_id) == "ada"
    revision = service.plans.find(message.context_id)
    assert revision
    assert revision.plan.goal == "Clean a.csv for 2026"


async def test_what_is_wrong_with_templates_is_told_in_health_once_they_were_asked_for(
    service: CoworkService,
) -> None:
    assert service.workflows.templates.user
    service.workflows.templates.user.mkdir(parents=True)
    (service.workflows.templates.user / "broken.json").write_text("{")
    assert service.workflows.current().problems
    told = [one.message for one in (await service.health()).problems]
    assert any("Skipped the template 'broken'" in one for one in told)
