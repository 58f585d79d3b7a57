"""What a tab tells of cells that a person runs, and how long that counts."""

from __future__ import annotations

import pytest

from cowork_jupyter.domain.cell_commands import Execute, SwitchRole
from cowork_jupyter.hosts.server import tabs
from cowork_jupyter.hosts.server.tabs import MAX_CELLS, MAX_SECONDS, PersonRuns

EXECUTE = [Execute(None)]


def test_what_a_cell_asks_for_counts_once_each() -> None:
    runs = PersonRuns()
    runs.begin("a.ipynb", "c1", "%cowork role tester\n%cowork execute")
    for wanted in (EXECUTE, [SwitchRole(None, "tester")]):
        assert runs.take("a.ipynb", "c1", wanted)
        assert not runs.take("a.ipynb", "c1", wanted)


def test_a_cell_that_is_run_again_counts_again() -> None:
    runs = PersonRuns()
    for _ in range(2):
        runs.begin("a.ipynb", "c1", "%%act")
        assert runs.take("a.ipynb", "c1", EXECUTE)


def test_what_has_ended_does_not_count() -> None:
    runs = PersonRuns()
    for path, cell_id in (("a.ipynb", "c1"), ("a.ipynb", "c2"), ("b.ipynb", "c1")):
        runs.begin(path, cell_id, "%%act")
    runs.end("a.ipynb", "c1")
    assert not runs.take("a.ipynb", "c1", EXECUTE)
    assert runs.take("a.ipynb", "c2", EXECUTE)
    runs.begin("a.ipynb", "c2", "%%act")
    runs.end("a.ipynb", None)
    assert not runs.take("a.ipynb", "c2", EXECUTE)
    assert runs.take("b.ipynb", "c1", EXECUTE)


def test_nothing_counts_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell that is deleted while it waits its turn has no end."""
    clock = [0.0]
    monkeypatch.setattr(tabs, "monotonic", lambda: clock[0])
    runs = PersonRuns()
    runs.begin("a.ipynb", "c1", "%%act")
    clock[0] = MAX_SECONDS + 1
    assert not runs.take("a.ipynb", "c1", EXECUTE)


def test_only_the_newest_are_kept() -> None:
    runs = PersonRuns()
    for number in range(MAX_CELLS + 1):
        runs.begin("a.ipynb", f"c{number}", "%%act")
    assert not runs.take("a.ipynb", "c0", EXECUTE)
    assert runs.take("a.ipynb", "c1", EXECUTE)
