"""What the head of a file tells about its table."""

from __future__ import annotations

import pytest

from cowork_jupyter.guide.tables import separator_of, table_of


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n3,5;4,5\n", ";"),
        ("a\tb, c\n1\t2, 3\n", "\t"),
        ("a|b|c\n1|2|3\n", "|"),
        ("value\n1\n2\n", ","),
        ("time,v\n10:30:00,1\n10:31:00,2\n", ","),
    ],
)
def test_the_separator_is_the_sign_that_divides_all_lines_alike(text: str, separator: str) -> None:
    assert separator_of(text) == separator


@pytest.mark.parametrize(
    ("values", "kind", "form"),
    [
        (["1", "2.5", "-3e4"], "number", ""),
        (["1,5", "2,25"], "number", ""),
        (["1,234", "5,678.9"], "number", ""),
        (["01234", "99999"], "text", ""),
        (["2024-01-31", "2024-02-01"], "date", "%Y-%m-%d"),
        (["31.01.2024", "01.02.2024"], "date", "%d.%m.%Y"),
        (["01/31/2024", "02/01/2024"], "date", "%m/%d/%Y"),
        (["Jan 31, 2024"], "date", "%b %d, %Y"),
        (["2024-01-31T10:00:00"], "date", "%Y-%m-%dT%H:%M:%S"),
        (["12", "twelve"], "text", ""),
        (["", "NA", "null"], "empty", ""),
    ],
)
def test_a_column_is_what_all_its_values_are(values: list[str], kind: str, form: str) -> None:
    rows = "".join(f"{value};x{at}\n" for at, value in enumerate(values))
    table = table_of("t.csv", f"column;name\n{rows}")
    assert table
    assert (table.columns[0].kind, table.columns[0].date_format) == (kind, form)


def test_dates_that_could_be_read_two_ways_are_marked() -> None:
    table = table_of("t.csv", "day,n\n01/02/2024,1\n03/04/2024,2\n")
    assert table
    assert table.columns[0].swapped


def test_years_can_head_columns_of_numbers() -> None:
    table = table_of("t.csv", "land,2023,2024\nDE,1,2\nFR,3,4\n")
    assert table
    assert table.names == ["land", "2023", "2024"]


@pytest.mark.parametrize(
    ("encoding", "codec"),
    [("utf-8", "utf-8-sig"), ("utf-16-le", "utf-16"), ("cp1252", "cp1252"), ("latin-1", "latin-1")],
)
def test_code_reads_a_table_as_the_tool_has_read_it(encoding: str, codec: str) -> None:
    table = table_of("t.csv", "a;b\n1;2\n", encoding, 900)
    assert table
    assert (table.encoding, table.lines, table.columns[1].distinct) == (codec, 900, 1)
