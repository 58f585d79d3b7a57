"""How mentions are written, and where a text has some.

    @sales              a variable of the notebook
    @sales.revenue      a column; @sales."unit price" if its name is no identifier
    @cell:3 @output:3   the third cell, and what it shows; a cell's id will do, too
    @error @output      the last error, and the last output
    @data/sales.csv     a file; @"my data.csv" if its path has spaces
    @data/              a folder
    @docs:uri           a resource of the MCP server `docs`

Addresses (`ann@example.org`) and code between fences hold none. A word that stands for nothing
is plain text: most of what begins with `@` elsewhere, such as decorators, is none of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

MAX_SCANNED = 50_000
MAX_POINTERS = 12

# Every part is bounded, and no two can share a character: it is linear in the text.
_POINTER = re.compile(
    r"""(?<![\w.@/+-])@(?:
        "(?P<path>[^"\n]{1,400})"
      | (?P<table>[^\W\d]\w{0,99})\."(?P<column>[^"\n]{1,200})"
      | (?P<of>cell|output):(?P<cell>[\w-]{1,100})
      | (?P<name>[\w.~/][^\s"'`,;()\[\]{}<>|*?\\]{0,400})
    )""",
    re.VERBOSE,
)
_FENCE = re.compile(r"[ \t]{0,3}(?:```|~~~)")
_END = ".,;:!?"
"""Ends a sentence rather than a name."""

Form = Literal["name", "path", "column", "cell", "output", "error"]


@dataclass(frozen=True)
class Pointer:
    text: str
    form: Form
    name: str = ""
    """A variable or a path; it may be either."""
    part: str = ""
    """The column, or the cell: its number, from 1, or its id."""


def pointers_in(text: str) -> list[Pointer]:
    prose = "\n".join(_prose(text[:MAX_SCANNED].split("\n")))
    found = (_pointer(match) for match in _POINTER.finditer(prose))
    return list(dict.fromkeys(found))[:MAX_POINTERS]


def _prose(lines: list[str]) -> Iterator[str]:
    in_code = False
    for line in lines:
        is_fence = _FENCE.match(line) is not None
        if not in_code and not is_fence:
            yield line
        in_code ^= is_fence


def _pointer(match: re.Match[str]) -> Pointer:
    written = match[0]
    if path := match["path"]:
        return Pointer(written, "path", path)
    if table := match["table"]:
        return Pointer(written, "column", table, match["column"])
    if match["of"]:
        return Pointer(written, "cell" if match["of"] == "cell" else "output", part=match["cell"])
    name = match["name"].rstrip(_END)
    written = f"@{name}"
    if name == "error":
        return Pointer(written, "error")
    if name == "output":
        return Pointer(written, "output")
    return Pointer(written, "name", name)


def path_text(path: str) -> str:
    """How a file is mentioned, or a folder, whose path ends with a slash."""
    pointer = f"@{path}"
    found = pointers_in(pointer)
    is_plain = [match.text for match in found] == [pointer] and found[0].form == "name"
    return pointer if is_plain else f'@"{path}"'
