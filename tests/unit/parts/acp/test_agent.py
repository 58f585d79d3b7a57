"""The agent's end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest

from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.parts.acp.agent import CoworkAgent
from cowork_jupyter.service.service import CoworkService
from cowork_jupyter.service.wiring import build_service

pytestmark = pytest.mark.asyncio


async def test_a_session_that_is_opened_while_all_are_closed_is_closed_too(tmp_path: Path) -> None:
    def make_service(workspace: Path) -> CoworkService:
        return build_service(Settings(workspace=workspace, data_dir=tmp_path / "data"))

    agent = CoworkAgent(make_service, tmp_path)
    client: Any = AsyncMock()
    agent.on_connect(client)
    for name in ("first", "second", "late"):
        (tmp_path / name).mkdir()
    await agent.new_session(str(tmp_path / "first"))
    await agent.new_session(str(tmp_path / "second"))
    closing = asyncio.create_task(agent.close())
    await asyncio.sleep(0)
    assert not closing.done()
    late = await agent.new_session(str(tmp_path / "late"))
    await closing
    with pytest.raises(Exception, match="There is no session"):
        await agent.cancel(late.session_id)
