"""Expectations about files, checked by DuckDB on all rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.effects.evaluation import ExpectationChecks
from cowork_jupyter.parts.tables.expectations import measure_file

from ...effects.test_evaluation import ORDERS, SIMPLE, checked, checks_in

pytestmark = [pytest.mark.asyncio, pytest.mark.process]
OTHERS: list[tuple[dict[str, Any], str]] = [
    ({"check": "sum", "column": "region", "value": 3}, "it is not a number but varchar"),
    ({"check": "type", "column": "id", "value": "number"}, ""),
    ({"check": "type", "column": "id", "value": "text"}, "it is BIGINT"),
    ({"check": "values", "column": "region", "value": ["north"]}, "2 of 4 rows are not"),
    (
        {"check": "matched", "column": "id", "value": "file:known.csv"},
        "1 of 4 rows has no partner",
    ),
]


@pytest.fixture
def checks(tmp_path: Path) -> ExpectationChecks:
    return replace(checks_in(tmp_path), measure_file=measure_file)


@pytest.mark.parametrize(("fields", "found"), SIMPLE + OTHERS)
async def test_files_are_checked_where_they_are(
    checks: ExpectationChecks, fields: dict[str, Any], found: str
) -> None:
    got = await checked(checks, **fields)
    assert (got.found, got.met) == (found, not found)


async def test_a_file_that_is_not_there_yet_breaks_nothing(checks: ExpectationChecks) -> None:
    got = await checked(checks, of="file:gone.csv", check="rows", value=3)
    assert (got.met, got.found) == (None, "there is no table gone.csv")


async def test_names_with_quotes_are_names(checks: ExpectationChecks, tmp_path: Path) -> None:
    (tmp_path / "it's.csv").write_text('"a""b",c\n1,2\n')
    got = await checked(checks, of="file:it's.csv", check="sum", column='a"b', value=1)
    assert got.met


async def test_secrets_are_not_looked_at(checks: ExpectationChecks, tmp_path: Path) -> None:
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "keys.csv").write_text(ORDERS)
    got = await checked(checks, of="file:.ssh/keys.csv", check="rows", value=4)
    assert got.met is None
