"""Tables as they come: each a file's bytes, and what a careful reader finds in it."""

from __future__ import annotations

import gzip
from dataclasses import dataclass


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

TABLES = [
    Awkward("plain", _lines("a,b", "1,x", "2,y"), 2, 2),
    Awkward("semicolons and decimal commas", _lines("a;b", "1,5;x", "2,25;y"), 2, 2),
    Awkward("tabs", _lines("a\tb", "1\tx", "2\ty"), 2, 2, file="table.tsv"),
    Awkward("pipes", _lines("a|b|c", "1|x|2", "2|y|3"), 2, 3, file="table.psv"),
    Awkward(
        "Windows-1252", _lines("name;ort", "Müller;Köln", "Weiß;Düren", encoding="cp1252"), 2, 2
    ),
    Awkward("UTF-8 with a mark", b"\xef\xbb\xbf" + _lines("a,b", "1,x"), 1, 2),
    Awkward("UTF-16", "\ufeffa,b\n1,x\n2,y\n".encode("utf-16-le"), 2, 2),
    Awkward("Windows line ends", _lines("a,b", "1,x", "2,y", end="\r\n"), 2, 2),
    Awkward("old Macintosh line ends", _lines("a,b", "1,x", "2,y", end="\r"), 2, 2),
    Awkward("no header", _lines("1,2.5,x", "2,3.5,y", "3,4.5,x"), 3, 3),
    Awkward("no header, dates first", _lines("2024-01-01,5", "2024-01-02,6"), 2, 2),
    Awkward("only a header", _lines("a,b,c"), 0, 3),
    Awkward("one column", _lines("value", "3", "4", "4"), 3, 1, 1),
    Awkward("one row without a header", _lines("1,2,3"), 1, 3),
    Awkward("an empty column", _lines("a,b,c", "1,,x", "2,,y"), 2, 3, 0, 2),
    Awkward("missing values by many names", _lines("a,b", "NA,x", "null,y", "3,n/a"), 3, 2, 0, 3),
    Awkward("question marks", _lines("a,b", "?,x", "2,y", "3,?"), 3, 2, 0, 2),
    Awkward("duplicates", _lines("a,b", "1,x", "1,x", "2,y", "1,x"), 4, 2, 2),
    Awkward("double names", _lines("a,a,b", "1,2,3", "4,5,6"), 2, 3),
    Awkward("names left out", _lines("a,,b", "1,2,3", "4,5,6"), 2, 3),
    Awkward("200 columns", _lines(*_WIDE), 50, 200),
    Awkward("20,000 rows", _lines(*_LONG), 20_000, 2),
    Awkward("quoted separators", _lines("a,b", '"1,5",x', '"2,5","y, z"'), 2, 2),
    Awkward("line breaks in quotes", _lines("a,b", '1,"x\ny"', '2,"z"'), 2, 2),
    Awkward("line breaks in names", _lines('"first\nname","town\n(of birth)"', "Ann,Rome"), 1, 2),
    Awkward(
        "Windows line breaks in names",
        _lines('id;"unit\r\nprice"', "1;2,5", "2;3,5", end="\r\n"),
        2,
        2,
    ),
    Awkward(
        "line breaks in names below a title",
        _lines("Sales 2024", "", '"a\n\nb",c', "1,x", "1,x", "2,"),
        3,
        2,
        1,
        1,
    ),
    Awkward("short rows", _lines("a,b,c", "1,2,3", "4,5", "6,7,8"), 3, 3, 0, 1),
    Awkward("long rows", _lines("a,b", "1,2", "3,4,5", "6,7"), 3, 2),
    Awkward("a title above", _lines("Sales 2024", "", "a,b", "1,x", "2,y"), 2, 2),
    Awkward("comments above", _lines("# made by hand", "# twice", "a,b", "1,x", "2,y"), 2, 2),
    Awkward("German dates", _lines("tag;wert", "01.02.2024;1", "13.02.2024;2"), 2, 2),
    Awkward("American dates", _lines("day,v", "02/13/2024,1", "02/14/2024,2"), 2, 2),
    Awkward("thousands", _lines("a;b", "1.234,5;x", "2.000,0;y"), 2, 2),
    Awkward("leading zeros", _lines("zip,n", "01234,1", "00999,2"), 2, 2),
    Awkward("only texts", _lines("name,town", "Ann,Rome", "Bob,Oslo"), 2, 2),
    Awkward("blank lines", _lines("a,b", "", "1,x", "", "2,y"), 2, 2),
    Awkward("spaces around", _lines("a , b", " 1 , x ", " 2 , y "), 2, 2),
    Awkward("quotes and backticks in names", _lines("it's,`b`", "1,x", "2,y"), 2, 2),
    Awkward("code in names", _lines("a'); print('hi,b", "1,x", "2,y"), 2, 2),
    Awkward("another encoding far below", _lines(*_LATE, encoding="cp1252"), 501, 2),
    Awkward("a NUL far below", _lines(*_LONG[:3000]) + b"2999,\0x\n", 3_000, 2),
]

NO_TABLES = {
    "empty": b"",
    "blank": b"\n\n  \n",
    "packed": gzip.compress(b"a,b\n1,2\n"),
}
