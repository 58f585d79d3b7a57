"""Answers to questions about tables."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from cowork_jupyter.tools.kernel.inside import queries
from cowork_jupyter.tools.kernel.inside.queries import answers_to

LEFT = pd.DataFrame({"k": ["a", "b", "b", None, "z"], "v": [1, 2, 3, 4, 5]})
RIGHT = pd.DataFrame({"k": ["a", "a", "b", None], "w": [1, 2, 3, 4]})


def rows(table: str, *steps: list[Any]) -> str:
    return json.dumps({"table": table, "steps": steps})


def ask(kind: str, *arguments: str, seconds: float = 5.0, **space: Any) -> Any:
    found = answers_to([[kind, list(arguments), [False, False]]], space, seconds)
    return found[0][3] if found else None


def test_join() -> None:
    found = ask("join", rows("l"), rows("r"), '["k"]', '["k"]', l=LEFT, r=RIGHT)
    assert (found["left_rows"], found["left_keys"], found["left_missing"]) == (5, 3, 1)
    assert (found["left_repeated"], found["right_repeated"], found["right_most"]) == (1, 1, 2)
    assert (found["left_alone"], found["right_alone"]) == (1, 0)
    assert found["joined"] == len(LEFT.merge(RIGHT, on="k"))


def test_join_of_columns_that_both_have() -> None:
    found = ask("join", rows("l"), rows("r"), "null", "null", l=LEFT, r=RIGHT)
    assert found["joined"] == len(LEFT.merge(RIGHT))


def test_a_large_join_is_told_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    left = pd.DataFrame({"k": rng.integers(0, 50, 400).astype(float)})
    left.loc[:5, "k"] = np.nan
    right = pd.DataFrame({"k": [*range(40), 3, 7, None, None]})
    about = (rows("l"), rows("r"), '["k"]', '["k"]')
    small = ask("join", *about, l=left, r=right)
    monkeypatch.setattr(queries, "MAX_KEY_ROWS", 10)
    monkeypatch.setattr(queries, "RowSource", None)
    assert ask("join", *about, l=left, r=right) == small
    assert small["joined"] == len(left.merge(right, on="k"))


def test_join_by_the_index() -> None:
    step = ["set_index", "k"]
    found = ask("join", rows("l"), rows("r", step), '["k"]', '["@index"]', l=LEFT, r=RIGHT)
    assert found["right_repeated"] == 1


def test_steps_lead_to_the_rows() -> None:
    steps = (["where", ["compare", "v", ">", 1]], ["dropna", ["k"]], ["unique", ["k"]])
    found = ask("key", rows("l", *steps), '["k"]', l=LEFT)
    assert (found["rows"], found["repeated"], found["missing"]) == (2, 0, 0)
    renamed = rows("l", ["rename", {"k": "key"}], ["drop", ["v"]], ["some", [0, 3]])
    assert ask("key", renamed, '["key"]', l=LEFT)["rows"] == 3
    assert ask("key", renamed, '["v"]', l=LEFT) is None


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (["compare", "v", ">", 2], "v > 2"),
        (["compare", "v", "!=", 2], "v != 2"),
        (["not", ["compare", "v", ">", 2]], "not v > 2"),
        (["and", ["compare", "v", ">", 1], ["compare", "k", "==", "b"]], "v > 1 and k == 'b'"),
        (["or", ["compare", "v", "<", 2], ["in", "k", ["z"]]], "v < 2 or k in ['z']"),
        (["missing", "k"], "k.isna()"),
        (["text", "k", "startswith", "b"], "k.str.startswith('b', na=False)"),
        (["compare", "t", ">=", "2024-01-03"], "t >= '2024-01-03'"),
    ],
)
def test_conditions_are_those_of_pandas(condition: list[Any], expected: str) -> None:
    table = LEFT.assign(t=pd.date_range("2024-01-01", periods=5))
    table["v"] = [1.0, 2.0, 3.0, None, 5.0]
    found = ask("filter", rows("t"), json.dumps(condition), t=table)
    assert found["kept"] == len(table.query(expected, engine="python"))


def test_a_filter_says_whom_it_drops_for_a_missing_value() -> None:
    table = pd.DataFrame({"v": [1.0, None, 3.0]})
    found = ask("filter", rows("t"), '["compare", "v", ">", 2]', t=table)
    assert (found["rows"], found["kept"], found["missing"]) == (3, 1, {"v": 1})
    asked = '["or", ["compare", "v", ">", 2], ["missing", "v"]]'
    assert ask("filter", rows("t"), asked, t=table)["missing"] == {}
    frame = pl.DataFrame({"v": [1, None, 3]})
    assert ask("filter", rows("t"), '["compare", "v", "!=", 1]', t=frame)["kept"] == 1


def test_groups() -> None:
    found = ask("group", rows("l"), '["k"]', "v", l=LEFT)
    assert (found["missing"], found["groups"]) == (1, 3)
    assert (found["smallest"], found["largest"]) == (1, 2)
    assert found["mean"] == pytest.approx(LEFT.dropna().v.mean())
    assert found["mean_of_means"] == pytest.approx(LEFT.groupby("k").v.mean().mean())


@pytest.mark.parametrize(
    ("feature", "how"),
    [
        (lambda y: y, "equal"),
        (lambda y: y * 3 - 7, "function"),
        (lambda y: np.log(y - y.min() + 1), "function"),
        (lambda y: np.random.default_rng(1).permutation(y), None),
    ],
)
def test_features_that_tell_a_number(feature: Any, how: str | None) -> None:
    y = np.random.default_rng(0).normal(size=100)
    x = pd.DataFrame({"f": feature(y), "g": np.random.default_rng(2).normal(size=100)})
    found = ask("features", rows("x"), rows("y"), "", x=x, y=pd.Series(y, name="y"))
    assert found["found"].get("f") == how
    assert "g" not in found["found"]


@pytest.mark.parametrize(
    ("feature", "how"),
    [
        (lambda y: np.where(y == 1, 7, 3), "equal"),
        (lambda y: y * 10 + np.linspace(0, 1, 100), "separates"),
        (lambda y: np.where(y == 1, np.nan, 5.0), "missing"),
        (lambda y: y + np.random.default_rng(3).normal(size=100), None),
    ],
)
def test_features_that_tell_a_class(feature: Any, how: str | None) -> None:
    y = np.random.default_rng(0).integers(0, 2, 100)
    found = ask("features", rows("x"), rows("y"), "", x=pd.DataFrame({"f": feature(y)}), y=y)
    assert found["found"].get("f") == how


def test_overlap_and_order() -> None:
    table = pd.DataFrame({"t": pd.date_range("2024-01-01", periods=20), "v": np.arange(20.0)})
    train, test = table.iloc[::2], table.iloc[1::2]
    space = {"table": table, "train": train[["v"]], "test": test[["v"]]}
    assert ask("overlap", rows("train"), rows("test"), **space)["shared"] == 0
    assert ask("overlap", rows("train"), rows("train"), **space)["shared"] == 10
    found = ask("order", rows("train"), rows("test"), rows("table"), "", **space)
    assert (found["later"], found["ordered"], found["column"]) == (9, True, "t")


def test_texts_and_days() -> None:
    table = pd.DataFrame(
        {
            "n": ["1.234,50", "12", "€ 3", "n/a"],
            "d": ["03/04/2024", "25/04/2024", "04/25/2024", "07/07/2024"],
            "z": ["01067", "01069", "04109", "99999"],
            "t": pd.to_datetime(["2024-01-05", "2024-03-12", None, "2024-03-02"]),
        }
    )
    columns = ask("texts", rows("t"), "null", t=table)["columns"]
    assert (columns["n"]["numbers"], columns["n"]["others"]) == (3, ["n/a"])
    dates = columns["d"]
    assert (dates["ambiguous"], dates["day_first"], dates["month_first"]) == (1, 1, 1)
    assert columns["z"]["numbers"] == 1
    found = ask("days", rows("t"), "t", t=table)
    assert (found["rows"], found["last_day"], found["days"], found["months"]) == (3, 12, 3, 2)


def test_a_file_is_asked_by_its_path(tmp_path: Any) -> None:
    (tmp_path / "x.csv").write_text("d;v\n03.04.2024;1\n25.04.2024;2\n")
    found = ask("file", '[["folder"], "x.csv"]', '["d"]', folder=tmp_path)
    assert (found["columns"]["d"]["ambiguous"], found["columns"]["d"]["day_first"]) == (1, 1)
    assert ask("file", '["missing.csv"]', '["d"]') is None


class Evil:
    def __hash__(self) -> int:
        raise AssertionError("called")

    def __eq__(self, other: object) -> bool:
        raise AssertionError("called")


def test_what_cannot_be_answered_is_left_out() -> None:
    evil = pd.DataFrame({"k": np.array([Evil(), Evil()], dtype=object)})
    twice = pd.DataFrame([[1, 2]], columns=["k", "k"])
    huge = pd.DataFrame({"k": np.zeros(400_000)})
    for table in (evil, twice, huge, pd.DataFrame({"other": [1]}), "no table", dt.date.today()):
        assert ask("key", rows("t"), '["k"]', t=table) is None
    assert ask("key", rows("gone"), '["k"]') is None
    assert ask("nonsense", rows("l"), l=LEFT) is None
    assert ask("key", rows("l"), '["k"]', seconds=-1.0, l=LEFT) is None
