"""What a task is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from pandas.testing import assert_frame_equal

from .questions import Half, half_of
from .tables import Tables

Check = Callable[[Path, Tables], bool]


@dataclass(frozen=True)
class Task:
    """Something to do; `check` looks at the folder afterwards."""

    id: str
    files: tuple[str, ...]
    wording: str
    check: Check
    probe: str = ""
    """Code that runs behind the model's in the same namespace, to write down what is in it."""
    skill: str = ""
    """The skill that it is about, if any."""

    @property
    def half(self) -> Half:
        """Whether prompts are tuned on it, or judged by it."""
        return half_of(self.id)

    def is_right(self, _answer: str, tables: Tables, folder: Path) -> bool:
        """Whether the folder is as it should be."""
        try:
            return self.check(folder, tables)
        except (OSError, ValueError, KeyError, TypeError, AssertionError):
            return False


def wrote(name: str, expected: Callable[[Tables], pd.DataFrame]) -> Check:
    """The file has these rows and columns, in any order of rows; dates as they are written."""

    def check(folder: Path, tables: Tables) -> bool:
        found, wanted = pd.read_csv(folder / name), expected(tables).copy()
        for column in wanted.select_dtypes("datetime"):
            wanted[column] = wanted[column].dt.strftime("%Y-%m-%d")
        columns = list(wanted.columns)
        assert_frame_equal(
            found[columns].sort_values(columns, ignore_index=True),
            wanted.sort_values(columns, ignore_index=True),
            check_dtype=False,
            rtol=1e-3,
        )
        return True

    return check
