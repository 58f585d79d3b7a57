"""Slash commands ask the service for the right things."""

from __future__ import annotations

from types import SimpleNamespace as Bag
from typing import Any

import pytest

from cowork_jupyter.parts.acp.commands import _before_last_run
from cowork_jupyter.store import CheckpointRecord

pytestmark = pytest.mark.asyncio


async def test_without_a_name_the_last_run_that_changed_something_is_taken_back() -> None:
    points: list[tuple[str, str, list[str]]] = [
        ("cp1", "changed", []),
        ("cp2", "changed", ["a.txt"]),
        ("cp3", "looked", []),
    ]

    async def checkpoints(_context: str) -> list[CheckpointRecord]:
        return [
            CheckpointRecord(id=name, context_id="ctx", job_id=job, data={"files": files})
            for name, job, files in points
        ]

    service: Any = Bag(
        checkpoints=Bag(listing=checkpoints),
        jobs=Bag(of=lambda _: [Bag(id="changed"), Bag(id="looked")]),
    )
    assert await _before_last_run(service, "ctx") == "cp1"
