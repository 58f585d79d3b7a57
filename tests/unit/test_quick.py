"""What makes tests quick changes nothing that they see."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cowork_jupyter.store import Store
from cowork_jupyter.store.database import Database
from cowork_jupyter.store.migrations import migrate
from tests.quick import each


def schema(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()


def test_a_copied_record_is_as_one_that_was_made(tmp_path: Path) -> None:
    Store(tmp_path / "copied").close()
    made = Database(tmp_path / "made")
    with made.alone() as connection:
        migrate(connection, tmp_path / "made")
    made.close()
    assert schema(tmp_path / "copied") == schema(tmp_path / "made")
    modes = {(tmp_path / name).stat().st_mode & 0o777 for name in ("copied", "made")}
    assert modes == {0o600}


def test_of_a_long_list_each_nth_case_is_quick_and_none_is_lost() -> None:
    cases = each(3, "abcde")
    assert [cases[0], cases[3]] == ["a", "d"]
    slow = [case for case in cases if case not in ("a", "d")]
    assert slow == [pytest.param(letter, marks=pytest.mark.slow) for letter in "bce"]
