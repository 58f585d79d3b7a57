"""Code that Python cannot read: a colon, a bracket, a quote or a comma that is missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from .cell import CellCode, FailingCell, Fix

_ERRORS = ("SyntaxError", "IndentationError", "TabError", "_IncompleteInputError")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_BLOCK = re.compile(
    r"^(\s*(?:if|elif|else|for|while|def|class|try|except|finally|with|async|match|case)\b.*?)"
    r"(\s*(?:#.*)?)$"
)
_CONDITION = re.compile(r"^(\s*(?:if|elif|while|assert)\b.*?[^=!<>:])=([^=].*)$")
_SIDE_BY_SIDE = re.compile(r"(?<=['\")\]])[ \t]+(?=['\"\w(\[{])")
_MAX_LINE = 1_000  # longer lines are skipped
_SMART = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "\u00a0": " "})


def syntax_error(cell: FailingCell) -> Fix | None:
    if cell.error.name not in _ERRORS:
        return None
    for why, text in _attempts(cell):
        if text != cell.source and CellCode(text).compiles:
            return Fix(why, text)
    where = f" in line {cell.line}" if cell.line else ""
    message = re.sub(r"\s*\(<?[^()]*line \d+\)\s*$", "", cell.message)
    return Fix(
        f"Python cannot read the code{where}: {message}. Look there and at the line above for a "
        "missing bracket, quote, comma, colon or indent."
    )


def _attempts(cell: FailingCell) -> Iterator[tuple[str, str]]:
    lines = cell.code.lines
    line = min(cell.line or 1, len(lines))
    near = [place for place in (line, line - 1, line + 1) if 1 <= place <= len(lines)]
    for why, pattern, change in _SLIPS:
        for place in near if re.search(pattern, cell.message) else ():
            if len(lines[place - 1]) <= _MAX_LINE:
                for changed in change(lines[place - 1]):
                    yield why, _with_line(lines, place, changed)
    yield "Typographic quotes and spaces are not valid code.", cell.source.translate(_SMART)
    if missing := _missing_brackets(cell.source):
        yield "A bracket was not closed.", cell.source.rstrip() + missing


def _with_line(lines: list[str], number: int, text: str) -> str:
    return "\n".join([*lines[: number - 1], text, *lines[number:]])


def _colon(line: str) -> Iterator[str]:
    found = _BLOCK.match(line)
    if found and not found[1].rstrip().endswith((":", ",", "(", "[", "{", "\\")):
        yield f"{found[1].rstrip()}:{found[2]}"


def _equals(line: str) -> Iterator[str]:
    if found := _CONDITION.match(line):
        yield f"{found[1].rstrip()} == {found[2].lstrip()}"


def _quote(line: str) -> Iterator[str]:
    """The quote goes before the closing punctuation, unless a comma could end the text."""
    for quote in ("'", '"'):
        if line.count(quote) % 2 and "," not in line[line.rindex(quote) :]:
            end = len(line.rstrip(")]}:, \t"))
            yield f"{line[:end]}{quote}{line[end:]}"


def _closed(line: str) -> Iterator[str]:
    body = line.rstrip()
    inner = body.removesuffix(":")
    if (missing := _missing_brackets(line)) and not inner.endswith(tuple(_CLOSING)):
        yield f"{inner.rstrip(',')}{missing}{body[len(inner) :]}"


def _one_less(line: str) -> Iterator[str]:
    body = line.rstrip()
    inner = body.removesuffix(":")
    if inner.endswith((")", "]", "}")):
        yield inner[:-1] + body[len(inner) :]


def _comma(line: str) -> Iterator[str]:
    """Two values side by side; texts may stand so."""
    for found in _SIDE_BY_SIDE.finditer(line[:200]):
        yield f"{line[: found.start()]},{line[found.start() :]}"


_OTHER = "invalid syntax|expected"
_SLIPS: tuple[tuple[str, str, Callable[[str], Iterator[str]]], ...] = (
    ("A colon was missing at the end of the line that starts the block.", _OTHER, _colon),
    ("`=` assigns; `==` compares.", f"{_OTHER}|cannot assign", _equals),
    ("A quote was missing.", "unterminated|EOL while scanning", _quote),
    ("A bracket was not closed.", f"never closed|EOF|not match|{_OTHER}", _closed),
    ("There was one closing bracket too many.", "unmatched", _one_less),
    ("A comma was missing.", "forgot a comma", _comma),
)


def _missing_brackets(text: str) -> str:
    """The closing brackets that are missing; empty if the others do not match."""
    stack: list[str] = []
    quote = ""
    for at, char in enumerate(text[:50_000]):
        if quote:
            if char == quote and text[at - 1] != "\\":
                quote = ""
        elif char in "'\"":
            quote = char
        elif char == "#":
            quote = "\n"
        elif char in _CLOSING:
            stack.append(_CLOSING[char])
        elif char in _CLOSING.values() and (not stack or stack.pop() != char):
            return ""
    return "".join(reversed(stack))
