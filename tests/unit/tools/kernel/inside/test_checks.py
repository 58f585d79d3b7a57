"""What is measured of tables in a kernel: alike in all libraries, and never by the user's code."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from typing import Any

import numpy
import pandas
import polars
import pyarrow
import pytest

from cowork_jupyter.domain.expectations import Expectation
from cowork_jupyter.tools.kernel import inside
from cowork_jupyter.tools.kernel.inside import checks
from cowork_jupyter.tools.kernel.state import measure_questions

COLUMNS: dict[str, list[Any]] = {
    "id": [1, 2, 2, 4],
    "region": ["north", None, "south", "south"],
    "revenue": [1.5, -2.0, float("nan"), 4.0],
    "day": [datetime.datetime(2024, month, 1) for month in (1, 2, 3, 4)],
}
MAKERS: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pandas.DataFrame,
    "polars": polars.DataFrame,
    "pyarrow": pyarrow.table,
}


def measured(space: dict[str, Any], check: str, of: str = "t", **fields: Any) -> dict[str, Any]:
    """As the kernel tells it, through the text that is sent there."""
    sent: dict[str, Any] = {}
    exec(inside.source(), sent)
    one = Expectation.model_validate({"of": of, "check": check, **fields})
    (found,) = json.loads(json.dumps(sent["measure_in"](space, measure_questions([one]))))
    return dict(found)


@pytest.fixture(params=sorted(MAKERS))
def space(request: pytest.FixtureRequest) -> dict[str, Any]:
    make = MAKERS[request.param]
    return {"t": make(COLUMNS), "others": make({"id": [1, 2]})}


@pytest.mark.parametrize(
    ("fields", "facts"),
    [
        ({"check": "rows"}, {"value": 4}),
        ({"check": "columns"}, {"value": list(COLUMNS)}),
        ({"check": "unique"}, {"wrong": 0}),
        ({"check": "unique", "column": "id"}, {"wrong": 1}),
        ({"check": "no_missing"}, {"wrong": 2}),
        ({"check": "no_missing", "column": "region"}, {"wrong": 1}),
        ({"check": "no_missing", "column": "revenue"}, {"wrong": 1}),
        (
            {"check": "range", "column": "revenue", "op": ">=", "value": 0},
            {"wrong": 1, "low": -2.0, "high": 4.0},
        ),
        ({"check": "range", "column": "revenue", "value": [0, 2]}, {"wrong": 2}),
        ({"check": "range", "column": "day", "op": ">", "value": "2024-02-01"}, {"wrong": 2}),
        (
            {"check": "values", "column": "region", "value": ["north"]},
            {"wrong": 2, "examples": ["south"]},
        ),
        (
            {"check": "values", "column": "region", "op": "!=", "value": ["north"]},
            {"wrong": 1, "examples": ["north"]},
        ),
        ({"check": "sum", "column": "revenue"}, {"value": 3.5}),
        ({"check": "sum", "column": "region"}, {"problem": "wrong_type"}),
        (
            {"check": "range", "column": "region", "op": ">=", "value": 0},
            {"problem": "wrong_type"},
        ),
        (
            {"check": "matched", "column": "id", "value": "others"},
            {"wrong": 1, "examples": ["4"]},
        ),
        (
            {"check": "matched", "column": "id", "value": "nothing"},
            {"problem": "no_table", "why": "nothing"},
        ),
        ({"check": "unique", "column": "gone"}, {"problem": "no_column", "why": "gone"}),
        ({"check": "rows", "of": "gone"}, {"problem": "no_table", "why": "gone"}),
    ],
)
def test_all_libraries_tell_the_same(
    space: dict[str, Any], fields: dict[str, Any], facts: dict[str, Any]
) -> None:
    found = measured(space, **fields)
    assert {name: found.get(name) for name in facts} == facts


def test_keys_are_matched_across_libraries() -> None:
    space = {"t": pandas.DataFrame(COLUMNS), "others": polars.DataFrame({"id": [1, 4]})}
    assert measured(space, "matched", column="id", value="others")["wrong"] == 2


def test_a_series_and_an_array_are_columns_themselves() -> None:
    numbers = [3.0, float("nan"), 5.0]
    for made in (pandas.Series(numbers), polars.Series(numbers), numpy.array(numbers)):
        space = {"t": made}
        assert measured(space, "sum", column="t")["value"] == 8.0
        assert measured(space, "no_missing")["wrong"] == 1
        assert measured(space, "range", column="t", op=">", value=3)["wrong"] == 1
        assert measured(space, "rows")["value"] == 3


def test_times_with_a_zone_are_compared_there() -> None:
    days = pandas.to_datetime(["2024-01-01 23:30", "2024-01-02 00:30"]).tz_localize("Europe/Paris")
    space = {"t": pandas.DataFrame({"day": days})}
    assert measured(space, "range", column="day", op="<", value="2024-01-02")["wrong"] == 1


class Loud:
    """Somebody's own object."""

    def __eq__(self, _other: object) -> bool:
        raise AssertionError("the user's code ran")

    def __hash__(self) -> int:
        raise AssertionError("the user's code ran")


def test_the_users_own_code_does_not_run() -> None:
    class Frame(pandas.DataFrame):  # type: ignore[misc] # it has no types
        def __len__(self) -> int:
            raise AssertionError("the user's code ran")

    space = {"t": pandas.DataFrame({"shape": [Loud(), Loud()]}), "own": Frame({"a": [1]}), "n": 3}
    for check in ("unique", "values"):
        found = measured(space, check, column="shape", value=[1] if check == "values" else None)
        assert found["problem"] == "unchecked"
        assert "objects" in found["why"]
    assert measured(space, "unique")["problem"] == "unchecked"
    assert measured(space, "rows", of="own")["problem"] == "unchecked"
    assert measured(space, "rows", of="n")["why"] == "n is a int, no table"


def test_values_of_a_column_with_a_secret_name_stay_where_they_are() -> None:
    space = {"t": pandas.DataFrame({"password": ["hunter2", "letmein"]})}
    found = measured(space, "values", column="password", value=["x"])
    assert (found["wrong"], found["examples"]) == (2, [])


def test_what_would_take_too_long_is_left_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "CHECK_SECONDS", -1.0)
    questions = measure_questions([Expectation(of="t", check="rows", value=1)])
    (found,) = checks.measure_in({"t": pandas.DataFrame(COLUMNS)}, questions)
    assert found == {"problem": "unchecked", "why": "the checks before it took too long"}
