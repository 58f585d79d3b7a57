"""What warnings catch, and that they keep quiet about work done right."""

from __future__ import annotations

from dataclasses import replace

import pytest

from .catalogue import NOTEBOOKS
from .score import Score, scored, table


@pytest.fixture(scope="module")
def score() -> Score:
    return scored(NOTEBOOKS)


def test_there_are_enough_notebooks() -> None:
    wrong = [one for one in NOTEBOOKS if one.defect]
    assert len(wrong) >= 30
    assert len(NOTEBOOKS) - len(wrong) >= 30


def test_at_least_nine_of_ten_defects_are_caught(score: Score) -> None:
    assert score.share_caught >= 0.9, table(score)


def test_at_most_three_of_a_hundred_right_notebooks_are_warned_about(score: Score) -> None:
    assert score.share_of_false_alarms <= 0.03, table(score)


@pytest.mark.slow
def test_the_cells_may_be_cut_otherwise() -> None:
    """Nothing of it depends on what happens to stand in a cell of its own."""
    joined = [replace(one, cells=("\n".join(one.cells),)) for one in NOTEBOOKS]
    score = scored(joined)
    assert score.share_caught >= 0.9, table(score)
    assert score.share_of_false_alarms <= 0.03, table(score)


def test_every_warning_says_where_and_what_to_do(score: Score) -> None:
    for result in score.caught:
        for warning in result.warnings:
            assert warning.line, warning
            assert warning.message.endswith("."), warning
            assert warning.advice.endswith("."), warning
