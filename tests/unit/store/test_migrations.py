from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cowork_jupyter.domain.contexts import Context
from cowork_jupyter.store import Store, StoreError, migrations
from cowork_jupyter.store.migrations import BASELINE, MIGRATIONS, newest_version

from .old_versions import load, make


def add_moods(connection: sqlite3.Connection) -> None:
    """What a next version could need."""
    connection.execute("ALTER TABLE contexts ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'")


def fail(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE half_done (id)")
    raise ZeroDivisionError


def facts(path: Path) -> tuple[int, list[str]]:
    """The version, and the moods of all conversations."""
    with closing(sqlite3.connect(path)) as database:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        return version, [mood for (mood,) in database.execute("SELECT mood FROM contexts")]


def test_a_new_migration_reaches_new_files_and_all_older_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, current, old = (tmp_path / name for name in ("new", "current", "old"))
    load("0.1.0", old)
    with Store(current) as store:
        store.save_context(Context())
    monkeypatch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, add_moods))
    for path in (new, current, old):
        for _ in range(2):
            Store(path).close()
    version = newest_version()
    assert facts(new) == (version, [])
    assert facts(current) == (version, ["calm"])
    assert facts(old) == (version, ["calm", "calm"])


def test_a_new_file_has_the_newest_version_and_no_copy(path: Path) -> None:
    with Store(path) as store:
        assert store._rows("PRAGMA user_version")[0][0] == newest_version() >= BASELINE
    assert not list(path.parent.glob("*.bak*"))


def test_a_failing_migration_leaves_the_file_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(path) as store:
        context = store.save_context(Context())
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, fail))
        with pytest.raises(ZeroDivisionError):
            Store(path)
    with Store(path) as store:
        assert store.context(context.id) == context
        assert store._rows("SELECT * FROM sqlite_master WHERE name='half_done'") == []


def test_a_file_of_a_newer_version_says_to_upgrade_and_is_left_alone(path: Path) -> None:
    make(path, "PRAGMA user_version=99")
    with pytest.raises(StoreError, match="Upgrade") as caught:
        Store(path)
    assert caught.value.code == "store_newer"
    known = newest_version()
    assert caught.value.details == {"path": str(path), "version": 99, "known": known}
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)


def test_a_file_that_no_release_wrote_says_which_one_upgrades_it_and_is_left_alone(
    path: Path,
) -> None:
    make(path, "CREATE TABLE questions (id)", "PRAGMA user_version=5")
    content = path.read_bytes()
    with pytest.raises(StoreError, match=r"0\.1\.0, which upgrades it") as caught:
        Store(path)
    assert caught.value.code == "store_older"
    assert caught.value.details == {"path": str(path), "version": 5, "oldest": 8}
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT name FROM sqlite_master").fetchall() == [("questions",)]
    assert len(path.read_bytes()) == len(content)
    assert not list(path.parent.glob("*.bak*"))


def test_an_older_program_refuses_a_newer_record_and_names_both_versions(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, add_moods))
        Store(path).close()
    content = path.read_bytes()
    with pytest.raises(StoreError) as refused:
        Store(path)
    known = newest_version()
    assert f"version {known + 1} of its format, this program knows {known}" in str(refused.value)
    assert "pip install -U cowork-jupyter" in str(refused.value)
    assert "Cowork.db_path" in str(refused.value)
    assert path.read_bytes() == content
    assert not list(path.parent.glob("*.bak*"))
