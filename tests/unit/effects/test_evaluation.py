"""Expectations about files that can be read as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.expectations import Expectation
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.effects.checking import CheckedExpectation
from cowork_jupyter.effects.evaluation import ExpectationChecks
from cowork_jupyter.tools.kernel.state import NoKernels
from cowork_jupyter.workspace import Workspace
from cowork_jupyter.workspace.sandbox.sandbox import Sandbox

pytestmark = [pytest.mark.asyncio, pytest.mark.process]
ORDERS = "id,region,revenue\n1,north,1.5\n2,,-2\n2,south,\n4,south,4\n"
SIMPLE: list[tuple[dict[str, Any], str]] = [
    ({"check": "rows", "value": 5}, "it is 4"),
    ({"check": "columns", "value": ["id", "region"]}, "it also has revenue"),
    ({"check": "unique", "column": "id"}, "1 of 4 rows repeats an earlier one"),
    ({"check": "unique"}, ""),
    ({"check": "no_missing", "column": "region"}, "1 is missing"),
    ({"check": "no_missing"}, "2 are missing"),
    (
        {"check": "range", "column": "revenue", "op": ">=", "value": 0},
        "1 of 4 rows is not; it goes from −2 to 4",
    ),
    ({"check": "sum", "column": "revenue", "value": 3.5}, ""),
    ({"check": "sum", "column": "gone", "value": 3.5}, "it has no column gone"),
]


def checks_in(tmp_path: Path) -> ExpectationChecks:
    (tmp_path / "orders.csv").write_text(ORDERS)
    (tmp_path / "known.csv").write_text("id\n1\n2\n")
    settings = Settings(workspace=tmp_path, data_dir=tmp_path / "data")
    return ExpectationChecks(NoKernels(), Workspace(tmp_path), Sandbox(settings))


@pytest.fixture
def checks(tmp_path: Path) -> ExpectationChecks:
    return checks_in(tmp_path)


async def checked(checks: ExpectationChecks, **fields: Any) -> CheckedExpectation:
    one = Expectation.model_validate({"of": "file:orders.csv", **fields})
    (found,) = await checks.check(None, [one])
    return found


@pytest.mark.parametrize(("fields", "found"), SIMPLE)
async def test_simple_checks_of_text_need_nothing_installed(
    checks: ExpectationChecks, fields: dict[str, Any], found: str
) -> None:
    got = await checked(checks, **fields)
    assert (got.found, got.met) == (found, not found)


async def test_what_cannot_be_checked_is_said(checks: ExpectationChecks) -> None:
    got = await checked(checks, check="values", column="region", value=["north"])
    assert (got.met, "needs DuckDB" in got.found) == (None, True)


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
