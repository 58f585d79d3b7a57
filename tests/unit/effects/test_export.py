"""Expectations as code: what is exported holds where they hold, and fails where they do not."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas
import pytest

from cowork_jupyter.domain.expectations import Expectation
from cowork_jupyter.effects.export import as_asserts, as_pandera

ORDERS = pandas.DataFrame(
    {"id": [1, 2, 3], "region": ["n", "s", "s"], "revenue": [1.5, 2.0, None], "who": [7, 8, 7]}
)
SPACE = {"orders": ORDERS, "customers": pandas.DataFrame({"key": [7, 8]})}
HOLDS: list[dict[str, Any]] = [
    {"check": "rows", "value": 3},
    {"check": "rows", "value": 4, "tolerance": 0.3},
    {"check": "columns", "value": 4},
    {"check": "columns", "op": ">=", "value": ["id"]},
    {"check": "columns", "value": ["id", "region", "revenue", "who"]},
    {"check": "unique", "column": "id"},
    {"check": "unique"},
    {"check": "no_missing", "column": "region"},
    {"check": "range", "column": "revenue", "op": ">=", "value": 0},
    {"check": "range", "column": "revenue", "value": [0, 2]},
    {"check": "values", "column": "region", "value": ["n", "s"]},
    {"check": "values", "column": "region", "op": "!=", "value": ["?"]},
    {"check": "sum", "column": "revenue", "value": 3.5},
    {"check": "sum", "column": "revenue", "op": "<", "value": 4},
    {"check": "type", "column": "id", "value": "int64"},
    {"check": "type", "column": "revenue", "value": "number"},
    {"check": "matched", "column": "who", "value": "customers.key"},
]
FAILS: list[dict[str, Any]] = [
    {"check": "rows", "value": 4},
    {"check": "unique", "column": "who"},
    {"check": "no_missing"},
    {"check": "no_missing", "column": "revenue"},
    {"check": "range", "column": "revenue", "op": "<", "value": 2},
    {"check": "values", "column": "region", "value": ["n"]},
    {"check": "sum", "column": "revenue", "value": 4, "tolerance": 0.1},
    {"check": "type", "column": "id", "op": "!=", "value": "int"},
    {"check": "matched", "column": "id", "value": "customers.key"},
]


def made(fields: dict[str, Any]) -> Expectation:
    return Expectation.model_validate({"of": "orders", **fields})


@pytest.mark.parametrize("fields", HOLDS)
def test_asserts_hold(fields: dict[str, Any]) -> None:
    exec(as_asserts([made(fields)]), dict(SPACE))


@pytest.mark.parametrize("fields", FAILS)
def test_asserts_fail_with_what_was_expected(fields: dict[str, Any]) -> None:
    with pytest.raises(AssertionError, match="orders: "):
        exec(as_asserts([made(fields)]), dict(SPACE))


def test_files_are_read_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my orders.csv").write_text("id\n1\n2\n")
    one = Expectation(of="file:my orders.csv", check="rows", value=2)
    code = as_asserts([one])
    assert "my_orders_csv = pd.read_csv('my orders.csv')" in code
    exec(code, {})


class _Pandera(ModuleType):
    """As much of it as the exported source needs."""

    def __init__(self) -> None:
        super().__init__("pandera.pandas")
        self.Check, self.Column, self.DataFrameSchema = _Check, _Column, _Schema


class _Check:
    def __init__(self, holds: Any, error: str, ignore_na: bool = True) -> None:
        self.holds, self.error = holds, error


class _Column:
    def __init__(self, nullable: bool = False, unique: bool = False, checks: Any = ()) -> None:
        self.nullable, self.unique, self.checks = nullable, unique, checks

    def validate(self, values: Any) -> None:
        assert self.nullable or values.notna().all()
        assert not self.unique or values.is_unique
        for one in self.checks:
            assert one.holds(values), one.error


class _Schema:
    def __init__(self, columns: Any = None, checks: Any = ()) -> None:
        self.columns, self.checks = columns or {}, checks

    def validate(self, frame: Any) -> None:
        for name, column in self.columns.items():
            column.validate(frame[name])
        for one in self.checks:
            assert one.holds(frame), one.error


@pytest.fixture
def _pandera(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandera", ModuleType("pandera"))
    monkeypatch.setitem(sys.modules, "pandera.pandas", _Pandera())
    monkeypatch.setattr(sys.modules["pandera"], "pandas", _Pandera(), raising=False)


@pytest.mark.usefixtures("_pandera")
def test_one_schema_holds_all_of_a_table() -> None:
    code = as_pandera([made(fields) for fields in HOLDS])
    ast.parse(code)
    assert code.count("DataFrameSchema(") == 1
    exec(code, dict(SPACE))


@pytest.mark.usefixtures("_pandera")
@pytest.mark.parametrize("fields", FAILS)
def test_a_schema_fails_where_one_is_broken(fields: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        exec(as_pandera([made(fields)]), dict(SPACE))


def test_nothing_pinned_is_no_code() -> None:
    assert as_asserts([]).strip() == ""
