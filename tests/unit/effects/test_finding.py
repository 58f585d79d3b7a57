"""Effects of a run, from what was seen on both sides of it."""

from __future__ import annotations

from collections.abc import Sequence

from cowork_jupyter.domain.effects import DataEffect, DataWarning, FieldState, TableState
from cowork_jupyter.effects.data_linter import NoLinter, WatchedRun
from cowork_jupyter.effects.files import FileChange
from cowork_jupyter.effects.finding import (
    MAX_EFFECTS,
    MAX_TEXT,
    NOTHING_SILENCED,
    effects_of,
    text_for_model,
    watched_run,
)
from cowork_jupyter.effects.silenced import Silenced
from cowork_jupyter.tools.kernel.state import KernelQuery, KernelTables


def tables(**rows: int) -> KernelTables:
    states = {name: TableState(rows=count, columns=1) for name, count in rows.items()}
    return KernelTables(states, {name: f"{name}-{count}" for name, count in rows.items()})


class Linter(NoLinter):
    def __init__(self, *found: tuple[str, DataWarning]) -> None:
        self._found = found

    def warnings(self, *_: object) -> Sequence[tuple[str, DataWarning]]:
        return self._found


def test_tables_that_came_went_and_changed_those_of_the_code_first() -> None:
    before, after = (
        tables(same=1, other=5, gone=2, orders=9),
        tables(same=1, other=4, orders=8, new=3),
    )
    found = effects_of(watched_run("orders, new = clean(orders)", before, after))
    assert [(one.of, one.line) for one in found] == [
        ("orders", "orders: 9 → 8 rows (−1)"),
        ("new", "new: new, 3 rows, 1 column"),
        ("other", "other: 5 → 4 rows (−1)"),
        ("gone", "gone: removed"),
    ]
    assert (found[1].before, found[3].after) == (None, None)


def test_a_table_that_looks_the_same_has_no_effect() -> None:
    before, after = tables(a=3), KernelTables(tables(a=3).tables, {"a": "another"})
    run = watched_run("a = a.copy()", before, after)
    assert run.replaced == {"a"}
    assert effects_of(run) == []


def test_files_come_behind_tables() -> None:
    change = FileChange("out.csv", None, TableState(rows=2, columns=1), "out.csv: new")
    (effect,) = effects_of(WatchedRun(""), [change])
    assert (effect.of, effect.line) == ("file:out.csv", "out.csv: new")


def test_warnings_stand_with_their_table_or_alone() -> None:
    linter = Linter(
        ("a", DataWarning(code="rows_lost", message="Rows are lost.", line=3, advice="Keep them.")),
        ("untouched", DataWarning(code="x", message="Odd.")),
        ("", DataWarning(code="no_seed", message="No seed.", line=1)),
    )
    found = effects_of(watched_run("a = 1", tables(a=3), tables(a=2)), linter=linter)
    assert [(one.of, [each.code for each in one.warnings]) for one in found] == [
        ("a", ["rows_lost"]),
        ("", ["x", "no_seed"]),
    ]
    assert text_for_model(found).splitlines() == [
        "[data] a: 3 → 2 rows (−1)",
        "[warning, line 3] Rows are lost. Keep them.",
        "[warning] Odd.",
        "[warning, line 1] No seed.",
    ]


def test_there_is_a_bound_to_all_of_it() -> None:
    linter = Linter(("", DataWarning(code="no_seed", message="No seed.")))
    wide = TableState(rows=1, columns=500, fields=[FieldState(name="c", type="x")] * 500)
    after = KernelTables({f"a_table_with_a_long_name_{n}": wide for n in range(40)})
    found = effects_of(watched_run("", KernelTables({}), after), linter=linter)
    assert len(found) == MAX_EFFECTS
    assert found[-1].warnings
    assert found[0].after is not None
    assert len(found[0].after.fields) < 100
    many = [DataEffect(of="t", line="t: " + "x" * 190) for _ in range(12)] + found[-1:]
    assert text_for_model(many).startswith("[warning] No seed.\n[data] t: x")
    assert len(text_for_model(many)) <= MAX_TEXT
    assert text_for_model([]) == ""


def test_answers_from_both_sides_go_to_the_warnings() -> None:
    first, second = KernelQuery("keys", ("a",)), KernelQuery("keys", ("b",), after=True)
    before = KernelTables({}, answers={first: {"n": 1}}, history=("x = 1",))
    after = KernelTables({}, answers={second: {"n": 2}})
    run = watched_run("y = 2", before, after)
    assert run.answers == {first: {"n": 1}, second: {"n": 2}}
    assert list(run.earlier) == ["x = 1"]


def test_what_is_silenced_is_not_told() -> None:
    both = [DataWarning(code=code, message=code, line=2) for code in ("no_seed", "other")]
    linter = Linter(*(("", warning) for warning in both))

    def codes(code: str, silenced: Silenced = NOTHING_SILENCED) -> list[str]:
        found = effects_of(WatchedRun(code), silenced=silenced, linter=linter)
        return [warning.code for effect in found for warning in effect.warnings]

    assert codes("x = 1\nsample()") == ["no_seed", "other"]
    assert codes("x = 1\nsample()  # cowork: ignore[no_seed]") == ["other"]
    assert codes("# cowork: ignore\nsample()") == []
    assert codes("x = 1\nsample()", Silenced(notebook=["other"])) == ["no_seed"]
