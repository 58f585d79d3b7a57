"""`jupyter cowork check`: a notebook and its expectations in a kernel of their own, for CI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .terminals import run, run_here

MAKE = "import pandas\norders = pandas.DataFrame({'id': [1, 2, 3]})"
ROWS = {"id": "exp_1", "of": "orders", "check": "rows", "value": 3}


def write(folder: Path, *sources: str, expectations: list[dict[str, Any]] | None = None) -> Path:
    cells = [
        {"id": f"c{at}", "cell_type": "code", "source": source, "metadata": {}, "outputs": []}
        | {"execution_count": None}
        for at, source in enumerate(sources)
    ]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python"}}
    document = {
        "cells": cells,
        "metadata": {**metadata, "cowork": {"expectations": expectations or []}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path = folder / "a.ipynb"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.process
@pytest.mark.slow
def test_all_as_expected_ends_well_and_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("a\n1\n2\n")
    file = {"id": "exp_2", "of": "file:out.csv", "check": "rows", "value": 2}
    path = write(tmp_path, MAKE, "%%act\nNo", expectations=[ROWS, file])
    before = path.read_bytes()
    done = run("check", "a.ipynb", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    first, *rest = done.stdout.splitlines()
    assert first.startswith("✓ 1 code cell ran in ")
    assert rest == [
        "- skipped 1 cell for the agent",
        "✓ orders: rows = 3",
        "✓ out.csv: rows = 2",
    ]
    assert path.read_bytes() == before


@pytest.mark.process
def test_a_broken_expectation_fails_with_numbers(tmp_path: Path) -> None:
    missing = {"id": "exp_2", "of": "gone", "check": "rows", "value": 2}
    write(tmp_path, MAKE, "orders = orders.head(2)", expectations=[ROWS, missing])
    done = run("check", "a.ipynb", "--json", folder=tmp_path)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert (found["ok"], found["failed"], found["ran"]) == (False, None, 2)
    told = [(one["words"], one["met"], one["found"]) for one in found["expectations"]]
    assert told == [
        ("rows = 3", False, "it is 2"),
        ("rows = 2", False, "there is no table gone"),
    ]


@pytest.mark.process
@pytest.mark.slow
def test_a_cell_that_fails_fails_the_check(tmp_path: Path) -> None:
    write(tmp_path, "a = 1", "b = 1\nnothing", expectations=[ROWS])
    done = run("check", "a.ipynb", folder=tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.stdout == "✕ cell 2, line 2: NameError: name 'nothing' is not defined\n"


def test_what_is_no_notebook_is_a_mistake_of_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_here("check") == 2
    assert run_here("check", "gone.ipynb") == 2
    (tmp_path / "a.txt").write_text("x")
    assert run_here("check", "a.txt") == 2
    assert "is not a notebook" in capsys.readouterr().err
