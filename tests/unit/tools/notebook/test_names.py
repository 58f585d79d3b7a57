"""The names of a cell, and the cells that depend on another one."""

from __future__ import annotations

import pytest

from cowork_jupyter.domain.user_code import parse_code as parse
from cowork_jupyter.tools.notebook.dependencies import (
    CellTimes,
    StaleCell,
    outdated_cells,
    stale_cells,
)
from cowork_jupyter.tools.notebook.names import names_in
from cowork_jupyter.tools.notebook.state import CellState


@pytest.mark.parametrize(
    ("source", "made", "needed"),
    [
        ("x = y", "x", "y"),
        ("x = x + 1", "x", "x"),
        ("x = 1\nprint(x)", "x", "print"),
        ("x += 1", "x", "x"),
        ("x: int = y", "x", "int y"),
        ("for i in rows: total = total + i", "i total", "rows total"),
        ("import a.b as c, d.e\nfrom f import g", "c d g", ""),
        ("with open(p) as f: f.read()", "f", "open p"),
        ("try: a\nexcept E as e: e", "e", "a E"),
        ("z = [x for x in xs if x > low]", "z", "xs low"),
        ("z = {k: v + more for k, v in items}", "z", "more items"),
        ("f = lambda a, b=c: a + b + d", "f", "c d"),
        ("@deco\ndef f(a=b): return a + inside", "f", "deco b"),
        ("class A(Base):\n    y = z\n    def f(self): return inside", "A", "Base z"),
        ("def f():\n    global g\n    g = 1", "f g", ""),
        ("if (n := count()) > 1: pass", "n", "count"),
        ("match command:\n    case [first, *rest]: pass\n    case {**others}: pass",
         "first rest others", "command"),
        ("%matplotlib inline\nfiles = !ls\nx = 1", "_ files x", ""),
        ("%%bash\necho $x", "", ""),
        ("del x", "", "x"),
    ],
)  # fmt: skip
def test_names_that_a_cell_makes_and_needs(source: str, made: str, needed: str) -> None:
    names = names_in(source)
    assert names is not None
    assert names.made == set(made.split())
    assert names.needed == set(needed.split())


def test_a_cell_that_is_no_python_has_no_known_names() -> None:
    assert names_in("x = (") is None
    everything = names_in("from os import *")
    assert everything is not None
    assert everything.everything


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("t['total'] = 1", "t"),
        ("t.loc[0, 'a'] = 1", "t"),
        ("t.columns = names", "t"),
        ("t.drop(columns='a', inplace=True)", "t"),
        ("t.drop(columns='a')", ""),
        ("rows.append(1)", "rows"),
        ("model.fit(x)", "model"),
        ("del t['a']", "t"),
    ],
)
def test_content_that_a_cell_changes(source: str, changed: str) -> None:
    names = names_in(source)
    assert names is not None
    assert names.changed == set(changed.split())


def notebook(*sources: str) -> list[CellState]:
    return [CellState(f"c{at}", "code", source, at) for at, source in enumerate(sources, start=1)]


def found(cell_id: str, *sources: str) -> list[tuple[int, str]]:
    return [(one.cell, one.name) for one in stale_cells(notebook(*sources), cell_id)]


def test_cells_below_depend_on_it_also_by_way_of_others() -> None:
    sources = ("orders = read()", "x = 1", "clean = orders.dropna()", "print(x)", "clean.plot()")
    assert found("c1", *sources) == [(3, "orders"), (5, "clean")]
    assert stale_cells(notebook(*sources), "c5") == []
    assert stale_cells(notebook(*sources), "c1")[0] == StaleCell("c3", 3, "orders", "c1")


def test_a_name_that_is_made_anew_is_another_one() -> None:
    assert found("c1", "t = 1", "t = 2", "print(t)") == []
    assert found("c1", "t = 1", "t = t + 1", "print(t)") == [(2, "t"), (3, "t")]


def test_a_table_that_is_changed_in_place_counts() -> None:
    assert found("c2", "t = read()", "t['a'] = 1", "t.sum()") == [(3, "t")]


def test_a_function_needs_what_it_refers_to_where_it_is_called() -> None:
    sources = (
        "def total(): return clean.sum()",
        "clean = 1",
        "total()",
        "def other(): return total()",
    )
    assert found("c2", *sources) == [(3, "total")]
    assert found("c2", *sources, "other()") == [(3, "total"), (5, "other")]


def test_a_cell_above_that_can_have_it_only_from_there_counts() -> None:
    assert found("c2", "print(t)", "t = 1") == [(1, "t")]
    assert found("c3", "t = 0", "print(t)", "t = 1") == []


def test_cells_that_never_ran_are_not_stale_and_text_is_none() -> None:
    cells = [
        CellState("c1", "code", "t = 1", 1),
        CellState("m", "markdown", "about t"),
        CellState("c2", "code", "print(t)"),
        CellState("bad", "code", "print(t", 3),
        CellState("c3", "code", "print(t)", 2),
    ]
    assert [(one.cell_id, one.cell) for one in stale_cells(cells, "c1")] == [("c3", 5)]
    assert stale_cells(cells, "m") == stale_cells(cells, "gone") == []


def outdated(*cells: tuple[str, int | None, int | None]) -> list[tuple[int, str, str]]:
    """The outdated ones of cells that are given as source, run and change."""
    times = [CellTimes(f"c{at}", *cell) for at, cell in enumerate(cells, start=1)]
    return [(one.cell, one.name, one.changed_id) for one in outdated_cells(times)]


def test_a_cell_that_ran_before_its_input_changed_is_outdated() -> None:
    assert outdated(("a = 1", 1, 1), ("b = a", 2, 2), ("b", 3, 3)) == []
    rerun = outdated(("a = 1", 4, 4), ("b = a", 2, 2), ("b", 3, 3), ("c = 1", 1, 1))
    assert rerun == [(2, "a", "c1"), (3, "b", "c1")]
    assert outdated(("a = 2", 1, 4), ("b = a", 2, 2), ("c = 1", 3, 3)) == [(2, "a", "c1")]


def test_a_cell_that_ran_after_the_edit_has_the_input_that_there_is() -> None:
    assert outdated(("a = 2", 1, 2), ("b = a", 3, 3)) == []


def test_a_cell_that_did_not_run_in_this_kernel_is_not_outdated() -> None:
    assert outdated(("a = 1", 1, 1), ("b = a", None, None)) == []
    assert outdated(("a = 1", None, None), ("b = a", 1, 1)) == []
    assert outdated(("a = (", 2, 2), ("b = a", 1, 1)) == []


@pytest.mark.parametrize(
    ("source", "made", "used"),
    [
        ("%%time\nx = f(y)", {"x"}, {"f", "y"}),
        ("\n%%timeit -n 3\nf(y)", set(), {"f", "y"}),
        ("%%capture out\nx = y", {"out", "x"}, {"y"}),
        ("%%capture --no-stderr\nx = y", {"x"}, {"y"}),
        ("%%bash\nx=$y", set(), set()),
        ("df?\n??df\nx = y", {"x"}, {"y"}),
    ],
)
def test_magics_around_python_leave_it_python(source: str, made: set[str], used: set[str]) -> None:
    names = names_in(source)
    assert names
    assert (set(names.made) - {"_"}, set(names.used)) == (made, used)


def test_cells_of_many_empty_lines_are_read_in_bounded_time() -> None:
    source = "\n" * 100_000 + "x = 1"
    assert parse(source) is not None
    names = names_in(source)
    assert names is not None
    assert names.made == {"x"}
