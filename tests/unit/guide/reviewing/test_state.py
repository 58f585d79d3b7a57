"""What a notebook has and does not show."""

from __future__ import annotations

import pytest

from cowork_jupyter.guide.reviewing.state import state_remarks

from .cells import file, notebook, places


def words(*cells: str, counts: list[int | None] | None = None) -> list[str]:
    return [one.comment for one in state_remarks(notebook(*cells, counts=counts))]


def test_a_result_older_than_what_it_rests_on_is_stale() -> None:
    (found,) = state_remarks(notebook("x = 1", "y = x + 1", counts=[5, 2]))
    assert found.severity == "major"
    assert found.cell
    assert found.cell.number == 2
    assert found.comment == (
        "Its result is stale: it uses `x` and ran as [2], before cell 1, which it depends on, "
        "ran as [5]."
    )


def test_also_by_way_of_another_cell() -> None:
    found = words("x = 1", "y = x", "y * 2", counts=[5, 6, 3])
    assert len(found) == 1
    assert "it uses `y`" in found[0]


def test_a_cell_that_has_not_run_while_its_user_has_is_found() -> None:
    assert words("x = 1", "x = 2", "x", counts=[1, None, 2]) == [
        "It has not run, but cell 3, which uses its `x`, has."
    ]


def test_a_name_of_a_cell_that_is_gone_is_found() -> None:
    (found,) = state_remarks(notebook("y = 1", "z = y\nprint(prices)"))
    assert found.severity == "major"
    assert found.line == 2
    assert "no cell defines, and yet it ran" in found.comment


def test_before_it_has_run_it_just_cannot() -> None:
    assert words("print(prices)", counts=[None]) == [
        "It uses `prices`, which no cell defines, so it cannot run."
    ]


def test_a_name_that_only_a_cell_below_defines_is_found() -> None:
    found = words("print(x)", "x = 1", counts=[2, 1])
    assert "It uses `x`, which only cell 2 below it defines." in found


def test_another_order_alone_is_minor() -> None:
    (found,) = state_remarks(notebook("x = 1", "y = 2", counts=[2, 1]))
    assert (found.severity, found.cell and found.cell.number) == ("minor", 2)


@pytest.mark.parametrize(
    "cells",
    [
        ["x = 1", "y = x", "print(y)"],
        ["df = 1", "df = df + 1", "df"],
        ["%%time\nx = 1", "x"],
        ["%%capture out\nx = 1", "out.show()\nx"],
        ["%run setup.py", "prices"],
        ["%%sql prices <<\nselect 1", "prices"],
        ["files = !ls", "files"],
        ["exec('x = 1')", "x"],
        ["from math import *", "sin(1)"],
        ["def f():\n    return later", "later = 1", "f()"],
        ["[n for n in range(3)]", "display(1)\nget_ipython()\n_"],
        ["this is no python", "unknown"],
        ["class A:\n    size = 1\n    twice = size * 2"],
        ["import os.path", "os.path.join('a')"],
        ["try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    print(error)"],
        ["with open('a') as file:\n    text = file.read()", "text"],
        ["if (n := 3) > 2:\n    print(n)"],
        ["match [1]:\n    case [first]:\n        print(first)"],
        ["f = lambda a, *b, **c: (a, b, c)"],
    ],
)
def test_what_runs_from_top_to_bottom_is_left_alone(cells: list[str]) -> None:
    assert words(*cells) == []


def test_a_notebook_that_never_ran_has_no_order() -> None:
    assert words("x = 1", "y = x", counts=[None, None]) == []


def test_a_gap_between_counts_is_no_order() -> None:
    assert words("x = 1", "y = x", counts=[3, 17]) == []


def test_a_file_has_no_cells_that_hide_anything() -> None:
    assert places(state_remarks, file("print(unknown)")) == []
