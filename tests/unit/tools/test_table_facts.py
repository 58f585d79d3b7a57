"""Facts of tables in text files, from their first bytes."""

from __future__ import annotations

import csv
import io
import time
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.tools.table_facts import TableFacts, table_facts


def facts(text: str | bytes, path: str = "t.csv", size: int | None = None) -> TableFacts:
    data = text.encode() if isinstance(text, str) else text
    found = table_facts(path, data, len(data) if size is None else size)
    assert found is not None
    return found


def read_as_told(found: TableFacts, data: bytes) -> pd.DataFrame:
    """What pandas makes of the file in the way that the facts say."""
    code = found.reading.replace(repr(found.path), "source", 1)
    table: pd.DataFrame = eval(code, {"pd": pd, "source": io.BytesIO(data)})
    return table


def test_columns_with_types_missing_values_and_a_few_of_them() -> None:
    text = facts(
        "date,region,units,price\n2025-01-01,North,3,1.5\n2025-01-03,South,5,\n2025-01-02,North,4,2"
    ).text(3_000)
    assert text.splitlines() == [
        "t.csv: 3 rows. Read it with pd.read_csv('t.csv', parse_dates=['date'])",
        "- date: dates, 2025-01-01 to 2025-01-03",
        "- region: text: North, South",
        "- units: whole numbers, 3 to 5",
        "- price: numbers, 1 missing, 1.5 to 2",
        "It begins with:",
        "date,region,units,price",
        "2025-01-01,North,3,1.5",
        "2025-01-03,South,5,",
    ]


def test_german_files_are_read_as_they_are_meant() -> None:
    data = b"Datum;Betrag;Menge\n01.05.2025;1.234,50;3\n13.06.2025;7,25;4\n"
    found = facts(data)
    assert "- Betrag: numbers with a decimal comma, 7,25 to 1.234,50" in found.text(3_000)
    table = read_as_told(found, data)
    assert table["Betrag"].sum() == 1241.75
    assert list(table["Datum"].dt.month) == [5, 6]


@pytest.mark.parametrize(("separator", "name"), [(",", ","), (";", ";"), ("\t", "\\t"), ("|", "|")])
def test_the_separator_is_the_one_that_divides_all_lines_alike(separator: str, name: str) -> None:
    rows = [["a", "b c", "d"], ["1", "x, y; z", "2.5"], ["2", "z", "3.5"]]
    out = io.StringIO()
    csv.writer(out, delimiter=separator).writerows(rows)
    found = facts(out.getvalue())
    assert [one.name for one in found.columns] == rows[0]
    assert separator == "," or f"sep='{name}'" in found.reading


def test_other_encodings_are_named() -> None:
    data = "Straße,Höhe\nGrün,2\n".encode("latin-1")
    found = facts(data)
    assert list(read_as_told(found, data).columns) == ["Straße", "Höhe"]


def test_of_a_large_file_only_the_beginning_counts_and_it_is_said() -> None:
    data = b"a,b\n" + b"1,x\n" * 10_000
    found = facts(data[:2_001], size=len(data))
    assert found.rows == "about 10,000 rows (what follows is of the first 499)"
    assert facts("a\n" + "é\n" * 900, size=10**9).columns[0].common == ("é",)
    half = ("a\n" + "é\n" * 900).encode()[:-2]
    assert "encoding" not in facts(half, size=10**9).reading


def test_what_does_not_fit_is_left_out_from_the_end() -> None:
    found = facts("a,b,c\n" + "1,2,3\n" * 9)
    assert "begins with" in found.text(3_000)
    assert "begins with" not in found.text(150)
    assert found.text(150).count("\n- ") == 0 or len(found.text(150)) <= 150
    assert len(found.text(40)) <= 40
    many = facts(",".join(f"c{number}" for number in range(500)) + "\n")
    assert "and 460 more columns" in many.text(9_000)


def test_secrets_are_not_shown() -> None:
    found = facts("user,password\nanna,hunter2\n")
    assert "hunter2" not in found.text(3_000)
    assert "- password: text" in found.text(3_000)


def test_a_value_or_name_on_several_lines_stays_on_one() -> None:
    text = facts('"a\nb",c\n"x\n- y: text",1\n').text(3_000).split("It begins")[0]
    assert "- a b: text: x - y: text" in text


@pytest.mark.parametrize("data", [b"", b"\x00\x01\x02", b"PK\x03\x04\x00\x00"])
def test_what_is_no_table_has_no_facts(data: bytes) -> None:
    assert table_facts("t.csv", data, len(data)) is None


@given(st.binary(max_size=300) | st.text(alphabet=',;"\n a1.é', max_size=80).map(str.encode))
def test_no_file_is_too_strange(data: bytes) -> None:
    for size in (len(data), len(data) + 1000):
        found: Any = table_facts("t.csv", data, size)
        if found:
            assert len(found.text(500)) <= 500


def test_it_takes_milliseconds() -> None:
    line = "2025-01-01,North,12,3.25,some words\n"
    data = ("d,r,u,p,w\n" + line * 20_000).encode()[: 512 * 1024]
    began = time.process_time()
    facts(data, size=10**9)
    assert time.process_time() - began < 2.0
