"""What a notebook's kernel knows and its text does not show."""

from __future__ import annotations

import pytest

from cowork_jupyter.tools.notebook.dependencies import hidden_state
from cowork_jupyter.tools.notebook.state import CellState


def found(*cells: str | tuple[str, int]) -> list[tuple[str, str, str]]:
    """Kind, cell and name of all that is hidden in cells `c0`, `c1`, …"""
    made = [
        CellState(f"c{at}", "code", one, None)
        if isinstance(one, str)
        else CellState(f"c{at}", "code", one[0], one[1])
        for at, one in enumerate(cells)
    ]
    return [(one.kind, one.cell_id, one.name) for one in hidden_state(made)]


def test_cells_that_ran_from_top_to_bottom_hide_nothing() -> None:
    assert found(("a = 1", 1), ("b = a + 1", 2), ("print(b)", 7)) == []


def test_a_cell_that_ran_before_one_above_it_is_told() -> None:
    assert found(("a = 1", 5), ("b = 1", 2), ("c = 1", 6)) == [("out_of_order", "c1", "")]


def test_names_that_no_cell_defines_or_only_a_later_one_are_told() -> None:
    assert found("print(gone)", "x = 1") == [("undefined", "c0", "gone")]
    assert found("print(x)", "x = 1") == [("defined_later", "c0", "x")]


@pytest.mark.parametrize(
    "source",
    [
        "import os.path\nfrom json import loads as read\nos, read",
        "def f(a, *b, **c):\n    return a, later\n",
        "class K:\n    def m(self): return self\n\nK()",
        "for i, (j, k) in []:\n    i, j, k\n",
        "with open('f') as g:\n    g.read()\n",
        "[n for n in range(3)]\n(y := 3)\ny",
        "def f():\n    global made\n    made = 1\nf()\nmade",
        "%matplotlib inline\nfiles = !ls\nfiles\n!echo hi",
        "%%bash\necho $undefined",
        "display(get_ipython(), In, Out, _, __name__)",
        "try:\n    1\nexcept Exception as e:\n    e\n",
        "await thing()\nasync def thing(): pass",
    ],
)
def test_what_python_and_ipython_define_is_not_missed(source: str) -> None:
    assert found(source) == []


def test_nothing_is_said_about_names_if_some_cannot_be_known() -> None:
    assert found("from os import *", "getcwd()") == []
    assert found("this is no Python", "gone") == []
