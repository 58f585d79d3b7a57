"""Each case gets the decision that it must get."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cowork_jupyter.policy.paths import AnchorDirs

from .cases import Case, read_cases, table
from .decisions import grounds_in

CASES = read_cases()


@pytest.fixture(scope="module")
def anchors(tmp_path_factory: pytest.TempPathFactory) -> AnchorDirs:
    return grounds_in(tmp_path_factory.mktemp("cases"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_the_decision_about_a_case(case: Case, anchors: AnchorDirs) -> None:
    assert case.decision(anchors) == case.expect


def test_there_are_enough_of_them_and_none_twice() -> None:
    assert len(set(CASES)) == len(CASES) >= 150
    assert len({case.category for case in CASES}) >= 15


def test_the_table_is_printed() -> None:
    root = Path(__file__).parents[3]
    printed = subprocess.run(
        [sys.executable, "-m", "tests.security.outside"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert printed.splitlines() == table((case.category, case.expect) for case in CASES)
