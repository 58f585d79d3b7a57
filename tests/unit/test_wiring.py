"""A service is built from its parts without touching anything, and ends all of them."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from cowork_jupyter.agents.jobs import Jobs
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.wiring import build_service


@pytest.mark.asyncio
async def test_health_and_roles_open_and_write_nothing(tmp_path: Path) -> None:
    service = build_service(Settings(workspace=tmp_path, data_dir=tmp_path / "data"))
    assert (await service.health()).sandbox
    assert service.roles()
    await service.close()
    assert not (tmp_path / "data").exists()


@pytest.mark.asyncio
async def test_a_part_that_fails_to_end_leaves_no_other_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_jobs: Jobs) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(Jobs, "close", fail)
    service = build_service(Settings(workspace=tmp_path, data_dir=tmp_path / "data"))
    context = service.conversations.create()
    with pytest.raises(OSError, match="the disk is gone"):
        await service.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        service.conversations.get(context.id)


def test_building_imports_no_client_and_no_protocol() -> None:
    code = (
        "import sys; from pathlib import Path;"
        "from cowork_jupyter.domain.settings import Settings;"
        "from cowork_jupyter.wiring import build_service;"
        "build_service(Settings(Path(), Path()));"
        "assert not {'openai', 'mcp', 'acp', 'httpx', 'distributed'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
