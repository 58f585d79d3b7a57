"""Warnings that the user has silenced, in the user's own settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cowork_jupyter.effects.silenced import NO_SETTINGS, SECTION, SilencedWarnings, place_of
from cowork_jupyter.workspace import Workspace


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"permissions": {"allow": ["read_file"]}}))
    return path


def test_a_kind_is_silenced_where_it_was_said_and_heard_again(tmp_path: Path, file: Path) -> None:
    silenced, workspace = SilencedWarnings(file), Workspace(tmp_path)
    silenced.set("no_seed", "everywhere", "")
    silenced.set("copy_changed", "notebook", place_of(workspace, "a.ipynb"))
    silenced.set("mean_of_means", "cell", "c1")
    here = SilencedWarnings(file).of(workspace, "a.ipynb", "c1")
    assert all(map(here.covers, ("no_seed", "copy_changed", "mean_of_means")))
    elsewhere = silenced.of(workspace, "b.ipynb", "c2")
    assert [*map(elsewhere.covers, ("no_seed", "copy_changed", "mean_of_means"))] == [
        True, False, False,
    ]  # fmt: skip
    for code, scope, place in (
        ("no_seed", "everywhere", ""),
        ("copy_changed", "notebook", place_of(workspace, "a.ipynb")),
        ("mean_of_means", "cell", "c1"),
    ):
        silenced.set(code, scope, place, silenced=False)  # type: ignore[arg-type]
    assert json.loads(file.read_text()) == {"permissions": {"allow": ["read_file"]}}


def test_what_somebody_has_broken_silences_nothing(tmp_path: Path, file: Path) -> None:
    file.write_text(json.dumps({SECTION: {"everywhere": 3}}))
    assert not SilencedWarnings(file).of(Workspace(tmp_path), None, None).everywhere
    assert not NO_SETTINGS.of(Workspace(tmp_path), "a.ipynb", "c1").covers("no_seed")
