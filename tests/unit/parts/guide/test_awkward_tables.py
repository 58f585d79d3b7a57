"""Tables nobody would choose: the guide reads each, never fails, and says what is true."""

from __future__ import annotations

import gzip
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.quick import each

from .desk import Desk


@dataclass(frozen=True)
class Awkward:
    """A file, and its true size: rows, columns, duplicate rows, missing values."""

    name: str
    data: bytes
    rows: int
    columns: int
    duplicates: int = 0
    missing: int = 0
    file: str = "table.csv"


def _lines(*lines: str, end: str = "\n", encoding: str = "utf-8") -> bytes:
    return (end.join(lines) + end).encode(encoding)


_WIDE = [",".join(f"c{n}" for n in range(200))]
_WIDE += [",".join(str(row * n) for n in range(200)) for row in range(50)]
_LONG = ["id,value", *(f"{n},{n % 97}" for n in range(20_000))]
_LATE = ["id,name", *(f"{n},x" for n in range(500)), "500,caf\u00e9"]
_BREAK = ('id;"unit\r\nprice"', "1;2,5", "2;3,5")

TABLES = [
    Awkward("semicolons and decimal commas", _lines("a;b", "1,5;x", "2,25;y"), 2, 2),
    Awkward("pipes", _lines("a|b|c", "1|2|3"), 1, 3),
    Awkward("colons in times", _lines("time,v", "10:30:00,1", "10:31:00,2"), 2, 2),
    Awkward("years as names", _lines("land,2023,2024", "DE,1,2", "FR,3,4"), 2, 3),
    Awkward("an index", _lines(",town", "0,Rome", "1,Oslo"), 2, 2),
    Awkward("two titles", _lines(";Titel;", "Stand: heute;;", ";;", "a;b;c", "x;y;1"), 1, 3),
    Awkward("Windows-1252", _lines("name;ort", "Müller;Köln", "Oz;Bonn", encoding="cp1252"), 2, 2),
    Awkward("UTF-8 with a mark", b"\xef\xbb\xbf" + _lines("a,b", "1,x"), 1, 2),
    Awkward("double names", _lines("a,a,b", "1,2,3", "4,5,6"), 2, 3),
    Awkward("UTF-16", "\ufeffa,b\n1,x\n2,y\n".encode("utf-16-le"), 2, 2),
    Awkward("no header", _lines("1,2.5,x", "2,3.5,y", "3,4.5,x"), 3, 3),
    Awkward("no header, a name first", _lines("Oslo,2.5", "Rome,3.5"), 2, 2),
    Awkward("only a header", _lines("a,b,c"), 0, 3),
    Awkward("an empty column", _lines("a,b,c", "1,,x", "2,,y"), 2, 3, 0, 2),
    Awkward("missing values by many names", _lines("a,b", "NA,x", "?,y", "3,n/a"), 3, 2, 0, 3),
    Awkward("duplicates", _lines("a,b", "1,x", "1,x", "2,y", "1,x"), 4, 2, 2),
    Awkward("200 columns", _lines(*_WIDE), 50, 200),
    Awkward("20,000 rows", _lines(*_LONG), 20_000, 2),
    Awkward("line breaks in quotes", _lines("a,b", '1,"x\ny"', '2,"z"'), 2, 2),
    Awkward("line breaks in names", _lines(*_BREAK, end="\r\n"), 2, 2),
    Awkward("and below a title", _lines("Sales", "", '"a\n\nb",c', "1,x", "1,x", "2,"), 3, 2, 1, 1),
    Awkward("short rows", _lines("a,b,c", "1,2,3", "4,5", "6,7,8"), 3, 3, 0, 1),
    Awkward("long rows", _lines("a,b", "1,2", "3,4,5", "6,7"), 3, 2),
    Awkward("comments above", _lines("# made by hand", "# twice", "a,b", "1,x", "2,y"), 2, 2),
    Awkward("code in names", _lines("a'); print('hi,b", "1,x", "2,y"), 2, 2),
    Awkward("another encoding far below", _lines(*_LATE, encoding="cp1252"), 501, 2),
    Awkward("a NUL far below", _lines(*_LONG[:3000]) + b"2999,\0x\n", 3_000, 2),
]

NO_TABLES = {
    "empty": b"",
    "blank": b"\n\n  \n",
    "packed": gzip.compress(b"a,b\n1,2\n"),
    "line ends of the old Macintosh": _lines("a,b", "1,x", "2,y", end="\r"),
}
SIZE = re.compile(
    r"([\d,]+) rows, ([\d,]+) columns, ([\d,]+) duplicate rows, ([\d,]+) missing values"
)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_profile_states_the_true_size(table: Awkward, tmp_path: Path) -> None:
    (tmp_path / table.file).write_bytes(table.data)
    said = Desk(tmp_path).ask(f"Profile {table.file}", answers=["go on"])
    found = SIZE.search(said)
    assert found, said
    sizes = [int(number.replace(",", "")) for number in found.groups()]
    assert sizes == [table.rows, table.columns, table.duplicates, table.missing]


def test_column_names_with_line_breaks_are_found(tmp_path: Path) -> None:
    desk = Desk(tmp_path).having({"t.csv": 'town,"unit\nprice"\nRome,2\nOslo,4\nRome,6\n'})
    said = desk.ask("Plot the mean of unit price by town in t.csv")
    assert "each of them: 4" in said, "the mean of 2 and 6, and 4 alone"


@pytest.mark.parametrize("table", each(4, TABLES), ids=lambda table: table.name)
def test_plotting_succeeds_or_explains(table: Awkward, tmp_path: Path) -> None:
    (tmp_path / table.file).write_bytes(table.data)
    desk, text = Desk(tmp_path), f"Plot {table.file}"
    with suppress(IndexError):  # it asks of what
        desk.ask(text)
    offered = [one["value"] for each in desk.questions for one in each["options"]]
    charts = [value for value in offered if "chart of" in value or "histogram" in value]
    said = desk.ask(text, answers=[*charts[:1], "go on", "go on"] if charts else ["none"])
    assert ("chart saved to" in said) == bool(list(tmp_path.glob("*.png"))) == bool(charts)
    assert "chart saved to" in said or "nothing" in said.lower()


@pytest.mark.parametrize("name", NO_TABLES)
def test_files_without_a_table_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_bytes(NO_TABLES[name])
    said = Desk(tmp_path).ask("Profile table.csv")
    assert "not a table" in said
