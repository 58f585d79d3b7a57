"""Deleting can be undone for some minutes; then nothing is left."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cowork_jupyter.domain.errors import NotFound
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.service.retention import DeletedConversations
from cowork_jupyter.service.service import CoworkService
from cowork_jupyter.service.wiring import build_service

pytestmark = pytest.mark.asyncio


def service_at(folder: Path) -> CoworkService:
    (folder / "work").mkdir(exist_ok=True)
    return build_service(Settings(workspace=folder / "work", data_dir=folder / "data"))


def rows(service: CoworkService) -> int:
    return len(service.journal.store._rows("SELECT 1 FROM deleted_rows"))


async def test_it_waits_across_a_restart(tmp_path: Path) -> None:
    first = service_at(tmp_path)
    made = first.conversations.create(title="Sales")
    await first.conversations.delete(made.id)
    await first.close()
    second = service_at(tmp_path)
    assert [one.title for one, _ in second.conversations.deleted.contexts()] == ["Sales"]
    assert second.conversations.deleted.restore(made.id) == second.conversations.get(made.id)
    await second.close()


async def test_it_goes_for_good_when_its_time_is_up(tmp_path: Path) -> None:
    service = service_at(tmp_path)
    journal, store = service.journal, service.checkpoints.lazy_store
    forgotten: list[str] = []

    class Noting:
        async def forget_context(self, context_id: str) -> None:
            await store.forget_context(context_id)
            forgotten.append(context_id)

    soon = DeletedConversations(journal, Noting(), undo_seconds=0.2)  # type: ignore[arg-type]
    made = [service.conversations.create(title=title).id for title in "ab"]
    for context_id in made:
        soon.add(context_id)
    assert [one.title for one, _ in soon.contexts()] == ["b", "a"]
    async with asyncio.timeout(60):
        while forgotten != made:
            await asyncio.sleep(0.02)
    assert (rows(service), soon.contexts()) == (0, [])
    with pytest.raises(NotFound, match="can no longer be restored"):
        soon.restore(made[0])
    await soon.close()
    await service.close()


async def test_what_was_due_while_nothing_ran_goes_at_the_next_start(tmp_path: Path) -> None:
    first = service_at(tmp_path)
    await first.conversations.delete(first.conversations.create().id)
    with first.journal.store._database.transaction() as connection:
        connection.execute("UPDATE deleted_rows SET deleted_at='2020-01-01T00:00:00.000Z'")
    await first.close()
    second = service_at(tmp_path)
    assert second.conversations.page().items == []  # opens the record
    async with asyncio.timeout(60):
        while rows(second):
            await asyncio.sleep(0.02)
    await second.close()
