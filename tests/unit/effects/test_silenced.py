"""Which warnings are shown, and which somebody has silenced."""

from __future__ import annotations

import pytest

from cowork_jupyter.domain.effects import DataWarning
from cowork_jupyter.effects.silenced import Silenced, without_silenced

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
