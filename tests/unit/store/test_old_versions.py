"""Records that older programs wrote, as they wrote them (see `old_versions.py`)."""

from __future__ import annotations

import logging
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from cowork_jupyter.store import Store, StoreError, migrations
from cowork_jupyter.store.migrations import MIGRATIONS

from .old_versions import COMMITS, KEPT, load


@pytest.fixture(params=COMMITS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def old(path: Path, version: str) -> Path:
    path.parent.mkdir()
    load(version, path)
    return path


def format_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


@pytest.fixture
def step_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even the newest of them is older than this."""
    monkeypatch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, lambda _connection: None))


@pytest.mark.usefixtures("step_more")
def test_it_opens_and_says_that_it_was_upgraded(
    old: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = format_of(old)
    with caplog.at_level(logging.INFO, "cowork_jupyter"), Store(old) as store:
        assert {one.title for one in store.contexts().items} == {"Old talk", "Asked"}
        assert store._rows("PRAGMA integrity_check")[0][0] == "ok"
    told = f"Upgraded the record at {old} from version {before} to {len(MIGRATIONS) + 1}."
    assert told in caplog.messages


@pytest.mark.usefixtures("step_more")
def test_a_copy_stays_beside_it_that_only_its_owner_can_read(old: Path) -> None:
    before = format_of(old)
    Store(old).close()
    (copy,) = old.parent.glob("*.bak")
    assert copy.name == f"{old.name}.v{before}.bak"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with closing(sqlite3.connect(copy)) as connection:
        wanted = "\n".join(connection.iterdump())
    assert format_of(copy) == before
    kept = (KEPT / "0.1.0.sql").read_text(), (KEPT / "0.2.0.sql").read_text()
    assert any(wanted in one for one in kept)


@pytest.mark.usefixtures("step_more")
def test_a_large_record_is_upgraded_without_a_copy(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "MAX_COPIED_BYTES", 1)
    with Store(old) as store:
        assert store.contexts().items
    assert not list(old.parent.glob("*.bak*"))


@pytest.mark.usefixtures("step_more")
def test_a_copy_that_cannot_be_made_does_not_hold_it_up(
    old: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_room(_path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(migrations, "create_private", no_room)
    with Store(old) as store:
        assert store.contexts().items
    assert "without a copy" in caplog.text


def test_a_new_record_has_no_copy(path: Path) -> None:
    Store(path).close()
    assert not list(path.parent.glob("*.bak*"))


def test_an_older_program_refuses_a_newer_record_and_names_both_versions(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store(path).close()
    content = path.read_bytes()
    monkeypatch.setattr(migrations, "MIGRATIONS", MIGRATIONS[:-1])
    with pytest.raises(StoreError) as refused:
        Store(path)
    known = len(MIGRATIONS) - 1
    assert f"version {known + 1} of its format, this program knows {known}" in str(refused.value)
    assert "pip install -U cowork-jupyter" in str(refused.value)
    assert "Cowork.db_path" in str(refused.value)
    assert path.read_bytes() == content
    assert not list(path.parent.glob("*.bak*"))
