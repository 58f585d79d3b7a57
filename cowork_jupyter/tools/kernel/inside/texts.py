"""Text that stands for numbers or dates."""

from __future__ import annotations

import csv
import os
import re
import sys
from typing import Any

_NUMBER = re.compile(
    r"\s*[+-]?[€$£]?\s*[+-]?(?:\d+(?:[.,]\d+)?|\d{1,3}(?:[.,' \u00a0]\d{3})+(?:[.,]\d+)?)"
    r"(?:[eE][+-]?\d+)?\s*(?:[€$£%]|EUR|USD|CHF|kg|km|cm|m|g|h)?\s*"
)
_DATE = re.compile(r"\s*(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d{2})(?:[ T].*)?\s*")
_LEADING_ZERO = re.compile(r"\s*0\d+\s*")
MAX_TEXTS = 5_000
MAX_FILE_TEXT = 2_000_000


def text_facts(values: list[Any]) -> dict[str, Any] | None:
    """How many texts are numbers, and how many are ambiguous dates; many values are sampled."""
    facts = dict.fromkeys(("of", "numbers", "ambiguous", "day_first", "month_first"), 0)
    others: list[str] = []
    for value in values[:: max(1, len(values) // MAX_TEXTS)]:
        if type(value) is not str or not value.strip():
            continue
        facts["of"] += 1
        date = _DATE.fullmatch(value)
        if date:
            first, second = int(date[1]), int(date[2])
            if first > 12 >= second:
                facts["day_first"] += 1
            elif second > 12 >= first:
                facts["month_first"] += 1
            elif first != second and max(first, second) <= 12:
                facts["ambiguous"] += 1
        elif _NUMBER.fullmatch(value) and not _LEADING_ZERO.fullmatch(value):
            facts["numbers"] += 1
        elif len(others) < 3:
            others.append(value[:20])
    return {**facts, "others": others} if facts["of"] else None


def file_columns(path: str, columns: list[str]) -> dict[str, Any]:
    """`text_facts` for columns of a CSV file, from its head."""
    with open(path, encoding="utf-8", errors="replace", newline="") as file:  # noqa: PTH123
        return column_facts(file.read(MAX_FILE_TEXT).splitlines(), columns)


def column_facts(lines: list[str], columns: list[str]) -> dict[str, Any]:
    lines = [line for line in lines if line.strip()]
    rows = csv.DictReader(lines, delimiter=max(",;\t|", key=lines[0].count))
    texts: dict[str, list[str]] = {name: [] for name in columns}
    for row in rows:
        for name in columns:
            texts[name].append(row.get(name) or "")
    return {name: facts for name, held in texts.items() if (facts := text_facts(held))}


def path_of(space: dict[str, Any], parts: list[Any]) -> str:
    """Resolve a path of the code: texts, and names of `str` or `pathlib` paths."""
    pathlib = sys.modules["pathlib"]
    known = [str, pathlib.PosixPath, pathlib.WindowsPath]
    found = []
    for part in parts:
        value = part if type(part) is str else space[part[0]]
        if type(value) not in known:
            raise KeyError(part)
        found.append(str(value))
    return os.path.join(*found)  # noqa: PTH118
