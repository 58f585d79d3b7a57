"""Which warnings are shown, and which somebody has silenced."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cowork_jupyter.domain.effects import DataWarning
from cowork_jupyter.effects.silenced import (
    NO_SETTINGS,
    SECTION,
    Silenced,
    SilencedWarnings,
    place_of,
    without_silenced,
)
from cowork_jupyter.workspace import Workspace

SEED = DataWarning(code="no_seed", message="No seed.", line=2)
COPY = DataWarning(code="copy_changed", message="A copy.", line=3)


def codes(code: str, silenced: Silenced = Silenced()) -> list[str]:  # noqa: B008
    return [one.code for one in without_silenced([SEED, COPY], code, silenced)]


@pytest.mark.parametrize(
    "silenced",
    [Silenced(cell=["no_seed"]), Silenced(notebook=["no_seed"]), Silenced(everywhere={"no_seed"})],
)
def test_a_code_is_silenced_at_each_level(silenced: Silenced) -> None:
    assert codes("a\nb\nc", silenced) == ["copy_changed"]


def test_a_comment_silences_its_line() -> None:
    assert codes("a\nb  # cowork: ignore\nc") == ["copy_changed"]
    assert codes("a\nb\nc  # cowork: ignore[copy_changed]") == ["no_seed"]
    assert codes("a\nb\nc  # cowork: ignore[no_seed]") == ["no_seed", "copy_changed"]


def test_a_comment_on_the_first_line_silences_the_cell() -> None:
    assert codes("# cowork: ignore\nb\nc") == []
    assert codes("# cowork: ignore[no_seed, copy_changed]\nb\nc") == []
    assert codes("# cowork: ignore[no_seed]\nb\nc") == ["copy_changed"]


def test_a_warning_without_a_line_is_shown() -> None:
    general = DataWarning(code="no_seed", message="No seed.")
    assert without_silenced([general], "", Silenced()) == [general]


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
