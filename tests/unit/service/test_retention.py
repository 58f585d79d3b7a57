"""Old conversations go by themselves, and so does the room they took."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from cowork_jupyter.domain.contexts import Context, Job, JobStatus
from cowork_jupyter.domain.messages import Message, MessageType, TextPart
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.service.service import CoworkService
from cowork_jupyter.service.wiring import build_service
from cowork_jupyter.store import Store, UserRequest

pytestmark = pytest.mark.asyncio

LONG_AGO = "2020-01-01T00:00:00.000Z"


def settings_at(folder: Path, days: int) -> Settings:
    return Settings(workspace=folder, data_dir=folder / "data", retention_days=days)


def fill(settings: Settings) -> Store:
    """Conversations of long ago; one was used just now, in one the store that is given works."""
    store = Store(settings.database)
    with store.transaction() as tx:
        for title in ("old", "pinned", "waits", "asks", "new"):
            context = Context(title=title, pinned=title == "pinned", updated_at=LONG_AGO)
            tx.save_context(context)
            if title == "waits":
                tx.save_job(Job(context_id=context.id, status=JobStatus.WAITING))
            if title == "asks":
                tx.save_request(UserRequest(id="q", context_id=context.id))
            if title == "new":
                said = TextPart(text="word " * 10)
                tx.append_message(Message(context_id=context.id, role="user", content=[said]))
    return store


def titles(service: CoworkService) -> set[str]:
    return {one.title for one in service.conversations.page().items}


async def test_what_nobody_used_goes_and_what_may_be_needed_stays(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = settings_at(tmp_path, days=30)
    forgotten: list[str] = []

    async def forget(*ids: str) -> None:
        forgotten.extend(ids)

    with fill(settings), caplog.at_level(logging.INFO, logger="cowork_jupyter"):
        service = build_service(settings)
        object.__setattr__(service.checkpoints.lazy_store, "forget_context", forget)
        old = next(one.id for one in service.conversations.page().items if one.title == "old")
        async with asyncio.timeout(60):
            while not forgotten:
                await asyncio.sleep(0.01)
        assert forgotten == [old]
        assert titles(service) == {"pinned", "waits", "asks", "new"}
        await service.close()
    assert "Removed 1 conversation not used for 30 days." in caplog.text
    assert "old" not in caplog.text


async def test_all_stay_unless_it_is_asked_for(tmp_path: Path) -> None:
    settings = settings_at(tmp_path, days=0)
    with fill(settings):
        service = build_service(settings)
        assert len(titles(service)) == 5
        await asyncio.sleep(0)
        assert len(titles(service)) == 5
        await service.close()


async def test_free_room_goes_back_to_the_disk(tmp_path: Path) -> None:
    settings = settings_at(tmp_path, days=0)
    with Store(settings.database) as store:
        context = store.save_context(Context())
        with store.transaction() as tx:
            for _ in range(20):
                output = Message(
                    context_id=context.id,
                    role="tool",
                    message_type=MessageType.TOOL_RESULT,
                    content=[TextPart(text="word " * 40_000)],
                )
                tx.append_message(output)
        store.delete_context(context.id)
        assert store.free_bytes() > 3_900_000
    before = settings.database.stat().st_size
    service = build_service(settings)
    async with asyncio.timeout(60):
        while service.journal.store.free_bytes():
            await asyncio.sleep(0.01)
    await service.close()
    assert settings.database.stat().st_size < before / 4
