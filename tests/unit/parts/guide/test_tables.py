"""What the head of a file tells about its table."""

from __future__ import annotations

import pytest

from .desk import known


@pytest.mark.parametrize(
    ("values", "kind", "form"),
    [
        (["1", "2.5", "-3e4"], "number", ". "),
        (["1.234,5", "2.000,0"], "number", ",."),
        (["1,234", "5,678.9"], "number", ".,"),
        (["1,234", "5,678"], "number", ", "),  # beside semicolons
        (["0.125", "1,5"], "text", ""),
        (["01234", "99999"], "text", ""),
        (["31.01.2024", "01.02.2024"], "date", "%d.%m.%Y"),
        (["01/31/2024", "02/01/2024"], "date", "%m/%d/%Y"),
        (["Jan 31, 2024"], "date", "%b %d, %Y"),
        (["2024-01-31 00:00:00"], "date", "%Y-%m-%d %H:%M:%S"),
        (["", "NA", "null"], "empty", ""),
    ],
)
def test_column_kind_fits_all_values(values: list[str], kind: str, form: str) -> None:
    rows = "".join(f"{value};x{at}\n" for at, value in enumerate(values))
    column = known("t.csv", f"column;name\n{rows}").columns[0]
    signs = f"{column.decimal}{column.thousands:1}" if kind == "number" else ""
    assert (column.kind, signs or column.date_format) == (kind, form)


def test_one_file_has_one_decimal_sign() -> None:
    table = known("t.csv", 'a,b\n"1,5","1,234"\n"2,25","5,678"\n')
    assert [(each.decimal, each.thousands) for each in table.columns] == [(",", "")] * 2
    assert known("t.csv", 'a,b\n1.5,"1,234"\n').columns[1].thousands == ","


def test_ambiguous_dates_are_marked() -> None:
    assert known("t.csv", "day,n\n01/02/2024,1\n03/04/2024,2\n").columns[0].swapped


def test_sheet_titles_and_midnights_are_dropped() -> None:
    text = "Kunden 2024\t\t\n\t\t\nname\tsince\tsum\nOz\t2024-01-31 00:00:00\t1\n"
    table = known("t.xlsx", f"{text}Oz\t2024-02-29 00:00:00\t2.5\n", lines=5)
    assert [column.kind for column in table.columns] == ["text", "date", "number"]
    assert (table.lines_above, table.rows, table.columns[1].date_format) == (2, 2, "%Y-%m-%d")


@pytest.mark.parametrize(
    ("text", "lines", "rows"),
    [
        ("a,b\n1,2\n\n3,4\n", 4, 2),
        ("a,b\n1,2\n3,4\n", 901, 900),
        ('a,b\n1,"2\n2"\n3,4\n', 901, None),
    ],
)
def test_rows_are_counted_where_possible(text: str, lines: int, rows: int | None) -> None:
    table = known("t.csv", text, lines=lines)
    assert (table.rows, table.is_whole) == (rows, lines == 4)
