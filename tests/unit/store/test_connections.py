"""Reading beside writing."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from cowork_jupyter.domain.contexts import Context
from cowork_jupyter.store import Store


def test_reading_does_not_wait_for_who_writes(store: Store) -> None:
    context = store.save_context(Context(title="before"))
    began, end = threading.Event(), threading.Event()

    def write() -> None:
        with store.transaction() as tx:
            tx.save_context(context.model_copy(update={"title": "after"}))
            began.set()
            end.wait(30)

    writer = threading.Thread(target=write)
    writer.start()
    assert began.wait(30)
    assert store.context(context.id).title == "before"
    end.set()
    writer.join()
    assert store.context(context.id).title == "after"


def test_who_writes_reads_what_is_changed_so_far(store: Store) -> None:
    with store.transaction() as tx:
        tx.save_context(Context(id="c", title="new"))
        assert store.context("c").title == "new"


def test_a_connection_for_reading_cannot_write(store: Store) -> None:
    with pytest.raises(Exception, match="readonly"):
        store._rows("DELETE FROM contexts")


@pytest.mark.asyncio
async def test_the_loop_goes_on_while_another_process_writes(path: Path) -> None:
    with Store(path) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        free = asyncio.ensure_future(store.wait_for_write_lock())
        turns, deadline = 0, time.monotonic() + 0.3
        while time.monotonic() < deadline:
            await asyncio.sleep(0.001)
            turns += 1
        assert not free.done()
        assert turns > 10
        other.execute("ROLLBACK")
        other.close()
        async with asyncio.timeout(30):
            await free
        store.save_context(Context())
