"""What warnings about data say of code alone: much of what is wrong, nothing of what is right."""

from __future__ import annotations

import pytest

from cowork_jupyter.guide.reviewing.analysis import MAX_LENGTH, analysis_remarks
from tests.effects.catalogue import NOTEBOOKS
from tests.effects.notebooks import Notebook

from .cells import file, notebook, places

BY_CODE_ALONE = ("fit_before_split", "score_on_training_rows", "tuned_on_test", "no_seed")
READ = "import pandas as pd\nfrom sklearn.model_selection import train_test_split\n"
LEAK = (
    f"{READ}from sklearn.preprocessing import StandardScaler\ndf = pd.read_csv('a.csv')",
    "scaled = StandardScaler().fit_transform(df[['x']])",
    "# split\ntrain, test = train_test_split(scaled, random_state=1)",
)


@pytest.mark.parametrize("one", [one for one in NOTEBOOKS if not one.defect], ids=lambda n: n.name)
def test_work_done_right_is_left_alone(one: Notebook) -> None:
    assert [remark.comment for remark in analysis_remarks(notebook(*one.cells))] == []


@pytest.mark.parametrize(
    "one", [one for one in NOTEBOOKS if one.defect in BY_CODE_ALONE], ids=lambda n: n.name
)
def test_what_code_alone_can_tell_is_told(one: Notebook) -> None:
    assert list(analysis_remarks(notebook(*one.cells)))


def test_leakage_is_critical_and_placed_in_its_cell() -> None:
    (found,) = analysis_remarks(notebook(*LEAK))
    assert found.severity == "critical"
    assert (found.cell and found.cell.number, found.line) == (2, 1)
    assert "before the split" in found.comment
    assert "training rows" in found.advice


def test_a_seed_in_another_cell_counts() -> None:
    draws = "import numpy as np", "x = np.random.rand(3)"
    assert places(analysis_remarks, notebook(*draws)) == [(2, 1)]
    assert places(analysis_remarks, notebook(draws[0], "np.random.seed(1)", draws[1])) == []


def test_what_a_cell_shows_at_its_end_is_not_thrown_away() -> None:
    shown = (
        f"{READ}df = pd.read_csv('a.csv')\npd.to_datetime(df['day'])",
        "(df\n .sort_values('ä')\n .head())  # é",
    )
    assert places(analysis_remarks, notebook(*shown)) == []
    assert places(analysis_remarks, notebook(f"{shown[0]}\nx = 1")) == [(1, 4)]


def test_a_file_is_read_as_a_whole_and_one_of_another_language_not_at_all() -> None:
    subject = file("\n".join(LEAK))
    assert places(analysis_remarks, subject) == [(0, 5)]
    assert places(analysis_remarks, type(subject)("a.r", subject.cells, "R")) == []


def test_what_is_too_long_is_left_out() -> None:
    long = f"# {'x' * MAX_LENGTH}"
    assert places(analysis_remarks, notebook(long, *LEAK)) == []
