from __future__ import annotations

import os
import sqlite3
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.contexts import Context
from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.store import Store, StoreError, database
from cowork_jupyter.store.database import explain, filesystem_of, on_network

from .appending import append_event, notice

MOUNTS = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:40 / /home rw,relatime shared:2 - nfs4 server:/home rw,vers=4.2
31 30 0:41 / /home/me/local\\040disk rw shared:3 - ext4 /dev/vdb rw
bad line
"""


def pragma(store: Store, name: str) -> Any:
    with store._database.alone() as connection:
        return connection.execute(f"PRAGMA {name}").fetchone()[0]


def works(store: Store) -> bool:
    context = store.save_context(Context())
    append_event(store, context.id, notice())
    return len(store.events(context.id)) == 1


def test_a_local_disk_gets_the_write_ahead_log(store: Store) -> None:
    assert pragma(store, "journal_mode") == "wal"
    assert pragma(store, "synchronous") == 1
    assert pragma(store, "busy_timeout") == 10_000
    assert pragma(store, "foreign_keys") == 1


def test_only_the_owner_can_read_the_record(path: Path) -> None:
    before = os.umask(0)
    try:
        with Store(path) as store:
            assert works(store)
            files = [each for each in path.parent.iterdir() if each.is_file()]
            assert {each.name for each in files} >= {"cowork.sqlite", "cowork.sqlite-wal"}
            assert {stat.S_IMODE(each.stat().st_mode) for each in files} == {0o600}
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


class WithoutSharedMemory(sqlite3.Connection):
    """Says no to WAL as SQLite does on NFS."""

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        if sql == "PRAGMA journal_mode=WAL":
            return super().execute("SELECT 'delete'")
        return super().execute(sql, *values)


class WithBrokenSharedMemory(sqlite3.Connection):
    """Says yes to WAL, and fails on the first read."""

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        if sql == "PRAGMA journal_mode=WAL":
            self.asked = True
            return super().execute("SELECT 'wal'")
        if sql.startswith("SELECT count(*) FROM sqlite_master") and hasattr(self, "asked"):
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMMAP
            raise error
        return super().execute(sql, *values)


@pytest.mark.parametrize("kind", [WithoutSharedMemory, WithBrokenSharedMemory])
def test_where_wal_does_not_work_every_commit_is_synced(
    path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[sqlite3.Connection]
) -> None:
    connect: Callable[..., sqlite3.Connection] = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **kw: connect(*args, factory=kind, **kw))
    with Store(path) as store:
        assert pragma(store, "journal_mode") == "delete"
        assert pragma(store, "synchronous") == 2
        assert works(store)
        with Store(path) as second:
            assert works(second)


def test_a_wal_file_moved_to_a_network_disk_still_opens(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(path) as store:
        context = store.save_context(Context())
    monkeypatch.setattr(database, "on_network", lambda _path: True)
    with Store(path) as store:
        assert pragma(store, "journal_mode") == "delete"
        assert store.context(context.id) == context


@pytest.mark.parametrize(
    ("where", "kind"),
    [
        ("/etc/cowork", "ext4"),
        ("/home/me/.local/share", "nfs4"),
        ("/home/me/local disk/x", "ext4"),
        ("/homely", "ext4"),
    ],
)
def test_the_filesystem_of_a_path_is_that_of_its_nearest_mount(where: str, kind: str) -> None:
    assert filesystem_of(Path(where), MOUNTS) == kind


def test_without_a_list_of_mounts_a_disk_counts_as_local(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_MOUNTS", tmp_path / "none")
    assert not on_network(tmp_path)


def test_a_file_that_is_no_database_is_named_with_a_way_out(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"this is not a database, and longer than a header would be" * 20)
    with pytest.raises(StoreError, match="Move the file away") as caught:
        Store(path)
    assert caught.value.code == "store_damaged"
    assert str(path) in caught.value.message
    assert path.read_bytes().startswith(b"this is not")


def test_a_damaged_page_is_explained_when_it_is_met(path: Path) -> None:
    with Store(path) as store:
        context = store.save_context(Context())
        for _ in range(500):
            append_event(store, context.id, notice("x" * 200))
    raw = bytearray(path.read_bytes())
    sound = len(raw) * 2 // 3  # the tables' definitions, and the events that came first
    raw[sound:] = b"\xff" * (len(raw) - sound)
    path.write_bytes(raw)
    with Store(path) as store, pytest.raises(StoreError) as caught:
        store.events(context.id)
    assert caught.value.code == "store_damaged"


def test_a_place_that_cannot_be_written_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"Cowork\.db_path") as caught:
        Store(tmp_path / "file" / "cowork.sqlite")
    assert caught.value.code == "store_unwritable"
    with pytest.raises(StoreError, match=r"Cowork\.db_path"):
        Store(tmp_path)


def test_a_full_disk_is_explained_and_harms_nothing(store: Store, context: Context) -> None:
    append_event(store, context.id, notice("before"))
    pragma(store, f"max_page_count={pragma(store, 'page_count') + 1}")
    with pytest.raises(StoreError, match="disk is full") as caught:
        append_event(store, context.id, notice("x" * 100_000))
    assert caught.value.retryable
    pragma(store, "max_page_count=1000000")
    assert append_event(store, context.id, notice("after")).seq == 2


def test_a_lock_that_stays_is_explained(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.02)
    with Store(path) as one, Store(path) as two, one.transaction():
        with pytest.raises(StoreError, match="locked") as caught:
            two.save_context(Context())
        assert caught.value.retryable
        assert caught.value.code == "store_busy"


def test_os_and_unknown_errors_are_explained_too(path: Path) -> None:
    assert explain(OSError(28, "No space left on device"), path).code == "store_full"
    assert explain(OSError(13, "Permission denied"), path).code == "store_unwritable"
    disk = sqlite3.OperationalError("disk I/O error")
    disk.sqlite_errorname = "SQLITE_IOERR_WRITE"
    assert "quota" in explain(disk, path).message
    other = explain(sqlite3.OperationalError("odd"), path)
    assert other.message == f"The record at {path} cannot be used: odd."
    assert isinstance(other, CoworkError)


def test_many_threads_may_open_a_new_file_at_once(path: Path) -> None:
    problems: list[BaseException] = []

    def open_and_use() -> None:
        try:
            with Store(path) as store:
                assert works(store)
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=open_and_use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


def test_closing_twice_does_no_harm_and_a_closed_store_says_so(path: Path) -> None:
    store = Store(path)
    store.close()
    store.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        store.contexts()


def test_two_stores_in_one_process_share_a_file(path: Path) -> None:
    with Store(path) as one, Store(path) as two:
        context = one.save_context(Context())
        assert append_event(two, context.id, notice()).seq == 1
        assert append_event(one, context.id, notice()).seq == 2
        assert len(two.events(context.id)) == 2
