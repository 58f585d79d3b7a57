"""Tables nobody would choose: the guide reads each, never fails, and says what is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.quick import each

from .awkward import NO_TABLES, TABLES, Awkward
from .desk import Desk

SIZE = re.compile(r"([\d,]+) rows, ([\d,]+) columns, ([\d,]+) duplicate rows")


@pytest.fixture(params=TABLES, ids=lambda table: table.name)
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Awkward:
    return written(request.param, tmp_path)


@pytest.fixture(params=each(4, TABLES), ids=lambda table: table.name)
def changed_table(request: pytest.FixtureRequest, tmp_path: Path) -> Awkward:
    return written(request.param, tmp_path)


def written(table: Awkward, folder: Path) -> Awkward:
    (folder / table.file).write_bytes(table.data)
    return table


def test_a_profile_tells_the_true_size(table: Awkward, tmp_path: Path) -> None:
    said = Desk(tmp_path).ask(f"Profile {table.file}")
    found = SIZE.search(said)
    assert found, said
    told = [int(number.replace(",", "")) for number in found.groups()]
    assert told == [table.rows, table.columns, table.duplicates]
    holes = re.search(r"missing values: (.*)", said)
    assert holes
    counted = sum(int(n.replace(",", "")) for n in re.findall(r" ([\d,]+)(?:, |$)", holes[1]))
    assert counted == table.missing


def test_names_with_line_breaks_are_one_line_and_mean_their_column(tmp_path: Path) -> None:
    rows = "".join(f"{town},{price}\n" for town, price in [("Rome", 2), ("Oslo", 4), ("Rome", 6)])
    (tmp_path / "t.csv").write_text(f'town,"unit\nprice"\n{rows}')
    said = Desk(tmp_path).ask("Plot the mean of unit price by town in t.csv")
    assert "the mean of `unit price` by `town`" in said
    assert "each of them: 4" in said, "the mean of 2 and 6, and 4 alone"
    cleaned = Desk(tmp_path).ask("Clean t.csv")
    assert "3 rows, 2 columns written" in cleaned
    assert (tmp_path / "t_clean.csv").read_text().splitlines()[0] == "town,unit price"


def test_a_plan_names_the_file(table: Awkward, tmp_path: Path) -> None:
    plan = Desk(tmp_path).plan(f"Profile {table.file}")
    assert table.file in plan["steps"][0]["files"]


def test_cleaning_leaves_the_original_and_claims_the_rows_that_are_there(
    changed_table: Awkward, tmp_path: Path
) -> None:
    table = changed_table
    said = Desk(tmp_path).ask(f"Clean {table.file}")
    assert (tmp_path / table.file).read_bytes() == table.data
    found = re.search(r"([\d,]+) rows?, [\d,]+ columns? written to (\S+)", said)
    assert found, said
    again = SIZE.search(Desk(tmp_path).ask(f"Profile {found[2]}"))
    if table.rows:
        assert again
        assert again[1] == found[1]
        assert again[3] == "0"


def test_plotting_ends_well_or_says_why(changed_table: Awkward, tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    said = desk.ask(f"Plot {changed_table.file}")
    assert ("chart saved to" in said) == bool(list(tmp_path.glob("*.png")))
    assert "chart saved to" in said or "nothing" in said


@pytest.mark.parametrize("name", NO_TABLES)
def test_what_is_no_table_is_said_to_be_none(name: str, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_bytes(NO_TABLES[name])
    said = Desk(tmp_path).ask("Profile table.csv")
    assert "not a table" in said
