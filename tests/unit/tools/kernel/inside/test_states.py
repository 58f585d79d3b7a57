"""The tables of a kernel at one moment: what is told of them, and what is never run for it."""

from __future__ import annotations

import datetime as dt
import json
import time
from collections.abc import Callable
from typing import Any

import IPython
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from cowork_jupyter.domain.effects import FieldState, TableState
from cowork_jupyter.tools.kernel.inside import source, states, tables_expression
from cowork_jupyter.tools.kernel.inside.states import table_states_on
from cowork_jupyter.tools.kernel.state import KernelQuery, KernelTables, RecordedCell


def states_of(seconds: float = 5.0, history: Any = None, **space: Any) -> KernelTables:
    text = table_states_on(space, {}, history or [], "[]", seconds)
    return KernelTables.of(json.loads(text, parse_constant=_no_json))


def _no_json(name: str) -> Any:
    raise AssertionError(f"{name} is no JSON")


def state(value: Any) -> TableState:
    return states_of(table=value).tables["table"]


def field(values: Any, name: str = "x") -> FieldState:
    return state(pd.DataFrame({name: values})).fields[0]


def test_numbers() -> None:
    found = field([3.0, 1.0, None, 3.0])
    assert (found.type, found.missing, found.distinct) == ("float64", 1, 2)
    assert (found.low, found.high, found.total) == (1.0, 3.0, 7.0)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["b", "a", None], ["a", "b"]),
        (pd.Categorical(["b", "a", "a"]), ["a", "b"]),
        ([True, False, True], ["False", "True"]),
        (pd.array([2, None, 1], dtype="Int64"), ["1", "2"]),
        (["x" * 100, "y"], []),
        ([f"v{n}" for n in range(50)], []),
    ],
)
def test_categories_are_named_if_they_are_few_and_short(values: Any, expected: list[str]) -> None:
    assert field(values).values == expected


def test_times_have_their_zone() -> None:
    found = field(pd.date_range("2024-01-01", periods=3, tz="Europe/Berlin"))
    assert found.zone == "Europe/Berlin"
    assert str(found.low).startswith("2024-01-01")
    assert field(pd.date_range("2024-01-01", periods=3)).zone is None


def test_times_of_arrow_and_of_zones_are_read_quietly() -> None:
    zoned = pa.array([0, None], pa.timestamp("us", "UTC"))
    table = pd.DataFrame({"t": pd.Series(zoned, dtype=pd.ArrowDtype(zoned.type)), "n": [1, 2]})
    found = state(table)
    assert (found.fields[0].zone, found.fields[0].missing, found.duplicates) == ("UTC", 1, 0)
    berlin = pd.DataFrame({"t": pd.date_range("2024-01-01", periods=2, tz="Europe/Berlin")})
    assert state(pd.concat([berlin, berlin])).duplicates == 2


def test_values_that_json_does_not_know_are_left_out() -> None:
    found = field([float("inf"), 1.0])
    assert (found.low, found.high, found.total) == (1.0, None, None)


def test_names_that_look_secret_have_no_values() -> None:
    found = field(["abc", "def"], "api_key")
    assert (found.distinct, found.values, found.low) == (2, [], None)
    table = states_of(password_list=pd.DataFrame({"n": [1, 2]})).tables["password_list"]
    assert (table.fields[0].values, table.fields[0].total) == ([], None)


def test_tables_of_other_libraries() -> None:
    moments = [dt.datetime(2024, 1, 1, tzinfo=dt.UTC), None]
    frame = state(pl.DataFrame({"n": [1, None], "s": ["a", "b"], "t": moments}))
    assert (frame.rows, frame.columns, frame.kind) == (2, 3, "polars.DataFrame")
    assert [one.missing for one in frame.fields] == [1, 0, 1]
    assert frame.fields[2].zone == "UTC"
    arrow = state(pa.table({"n": [1, 2, 2], "s": ["a", None, "b"]}))
    assert (arrow.kind, arrow.fields[0].total, arrow.fields[1].missing) == ("pyarrow.Table", 5.0, 1)
    array = state(np.array([[1.0, np.nan], [3.0, 4.0]]))
    assert (array.rows, array.columns, array.fields[1].missing) == (2, 2, 1)


def test_without_time_all_but_a_few_small_tables_are_described_by_their_shape() -> None:
    wide = pd.DataFrame([range(40)])
    found = states_of(0, a=pd.DataFrame({"x": [1, None]}), wide=wide, long=pd.Series(range(2_000)))
    assert {name: bool(table.fields) for name, table in found.tables.items()} == {
        "a": True,
        "wide": False,
        "long": False,
    }
    assert (found.tables["a"].sampled, found.tables["long"].sampled) == (False, True)


def test_what_is_no_table_is_left_out() -> None:
    assert not states_of(a=[1], b=np.zeros((2, 2, 2)), c=np.float64(1), _d=pd.DataFrame()).tables


class EvilFrame(pd.DataFrame):  # type: ignore[misc]
    @property
    def shape(self) -> Any:
        raise AssertionError("called")

    def __len__(self) -> int:
        raise AssertionError("called")


class Evil:
    def _called(self, *_args: Any) -> Any:
        raise AssertionError("called")

    __eq__ = __hash__ = __repr__ = __str__ = __len__ = __bool__ = __lt__ = _called


def test_no_code_of_the_user_runs() -> None:
    evil = np.array([Evil(), None, Evil()], dtype=object)
    space = {"own": EvilFrame({"a": [1]}), "held": pd.DataFrame({"o": evil}), "array": evil}
    found = states_of(**space)
    assert set(found.tables) == {"held", "array"}
    assert found.tables["held"].fields[0].missing == 1
    assert found.tables["held"].fields[0].distinct is None


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(),
        pd.DataFrame({"a": []}),
        pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]),
        pd.DataFrame({"a": [1, "x", None, 2.5, [1]]}),
        pd.DataFrame({"p": pd.period_range("2024-01", periods=3, freq="M")}),
        pd.DataFrame({"i": pd.cut([1, 2, 3], 2), "t": pd.to_timedelta([1, 2, 3])}),
        pd.DataFrame({("a", 1): [1], ("b", 2): [2]}),
        pd.DataFrame({"g": list("aab"), "v": [1, 2, 3]}).groupby("g").agg(["sum", "mean"]),
        pd.DataFrame({0: [1], 1.5: [2], None: [3]}),
        pd.Series([1, 2], name=("a", "b")),
        pl.DataFrame({"l": [[1], [2]], "s": [{"a": 1}, {"a": 2}]}),
        pl.DataFrame(),
        pa.table({"l": [[1], [2]]}),
        np.array([("a", 1)], dtype=[("n", "U1"), ("v", "i4")]),
        np.array([], dtype=float),
        np.array(["2024-01-01", "NaT"], dtype="datetime64[D]"),
    ],
)
def test_odd_tables_have_their_shape_and_an_identity(table: Any) -> None:
    found = states_of(table=table)
    assert found.tables["table"].rows == table.shape[0]
    assert found.identities["table"]


def test_a_wide_table_is_told_by_its_first_columns() -> None:
    found = state(pd.DataFrame(np.zeros((3, 500))))
    assert (found.columns, len(found.fields)) == (500, 60)


def test_a_large_table_is_sampled_and_it_is_said_so() -> None:
    started = time.thread_time()
    found = states_of(0.1, big=pd.DataFrame(np.zeros((2_000_000, 3)))).tables["big"]
    assert time.thread_time() - started < 1.0
    assert found.sampled
    assert (found.rows, found.fields[0].high) == (2_000_000, 0.0)


@pytest.mark.filterwarnings("ignore:The inplace keyword")
@pytest.mark.parametrize(
    "change",
    [
        lambda df: df.__setitem__("x", df["x"] * 2),
        lambda df: df.__setitem__("new", 1),
        lambda df: df.drop(index=0, inplace=True),
        lambda df: df.rename(columns={"x": "z"}, inplace=True),
        lambda df: df.sort_values("x", ascending=False, inplace=True),
        lambda df: df.__setitem__("x", df["x"].astype(float)),
    ],
)
def test_a_change_in_place_gives_another_identity(change: Callable[[Any], None]) -> None:
    df = pd.DataFrame({"x": range(500), "y": "a"})
    before = states_of(df=df).identities
    assert states_of(df=df).identities == before
    change(df)
    assert states_of(df=df).identities != before


def test_duplicates_are_counted() -> None:
    assert state(pd.DataFrame({"a": [1, 1, 2], "b": ["x", "x", "x"]})).duplicates == 1
    assert state(pd.DataFrame({"a": [[1], [1]]})).duplicates is None


def test_history_is_the_newest_code_that_fits() -> None:
    assert states_of(history=["", "a = 1", "b"]).history == ("", "a = 1", "b")
    assert states_of(history=["old"] * 150).history == ("old",) * 100
    assert states_of(history=["x" * 150_000, "y" * 150_000]).history == ("y" * 150_000,)
    assert states_of(history=[3, "a"]).history == ("a",)


def test_it_runs_as_one_text_without_anything_of_ours() -> None:
    space: dict[str, Any] = {}
    exec(source(), space)
    queries = json.dumps([["missing", ['{"table": "df", "steps": []}', '["x"]'], [False, False]]])
    df = pd.DataFrame({"x": [1.0, None]})
    found = KernelTables.of(json.loads(space["table_states_on"]({"df": df}, {}, [], queries, 1.0)))
    [(query, answer)] = found.answers.items()
    assert (query.kind, answer["missing"]) == ("missing", 1)


def test_a_look_about_what_the_code_leaves_is_not_asked_before() -> None:
    query = KernelQuery("version", ("pandas",), after=True)
    assert "version" not in tables_expression([query], 0.1).split("table_states(")[-1]
    assert "version" in tables_expression([query], 0.1, after=True).split("table_states(")[-1]


MAKE = "import pandas as pd\ndf = pd.DataFrame({'x': [1, 2, 3]})"


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> InteractiveShell:
    shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    states.record_cells()
    return shell


def run(shell: InteractiveShell, code: str) -> int:
    return shell.run_cell(code, store_history=True).execution_count or 0


def rows(count: int) -> tuple[int | None, int | None]:
    """Of the table before and after a cell."""
    cell = RecordedCell.of(json.loads(states.recorded_cell(count)))
    before, after = cell.before.tables.get("df"), cell.after.tables.get("df")
    return before.rows if before else None, after.rows if after else None


def test_each_cell_is_recorded_although_nobody_looks_in_between(shell: InteractiveShell) -> None:
    counts = [run(shell, code) for code in (MAKE, "df = df[:2]", "1 / 0", "del df")]
    assert [rows(count) for count in counts] == [(None, 3), (3, 2), (2, 2), (2, None)]
    cell = RecordedCell.of(json.loads(states.recorded_cell(counts[1])))
    assert (cell.source, cell.is_newest) == ("df = df[:2]", False)
    assert cell.before.history[-1:] == (MAKE,)
    assert cell.after.history[-1:] == ("df = df[:2]",)


def test_code_without_a_number_counts_as_what_was_before(shell: InteractiveShell) -> None:
    run(shell, MAKE)
    shell.run_cell("df = df[:1]", store_history=False)
    assert rows(run(shell, "df = df[:0]")) == (1, 0)


def test_a_kernel_that_nobody_asks_any_more_stops_recording(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "MAX_RECORDED", 3)
    counts = [run(shell, f"a = {number}") for number in range(3)]
    assert json.loads(states.recorded_cell(counts[0])), "asked in time"
    counts += [run(shell, f"a = {number}") for number in range(4)]
    assert json.loads(states.recorded_cell(counts[-1])) == {}
    assert rows(run(shell, MAKE)) == (None, 3), "it was asked again"
    assert shell.events.callbacks["post_run_cell"].count(states._record_cell) == 1


def test_a_table_that_cannot_be_described_shows_nothing_below_the_cell(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("changed while it was read")

    monkeypatch.setattr(states, "tables_in", fails)
    count = run(shell, "a = 1")
    assert capsys.readouterr() == ("", "")
    assert json.loads(states.recorded_cell(count)) == {}
    monkeypatch.undo()
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    assert json.loads(states.recorded_cell(run(shell, "df = 1"))) == {}, "nothing was before"
    assert rows(run(shell, MAKE)) == (None, 3)
