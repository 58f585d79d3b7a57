"""Code that Python cannot read: a colon, a bracket, a quote or an indent that is missing."""

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
_PRINT = re.compile(r"^(\s*)print\s+(.+?)\s*$")
_EXCEPT = re.compile(r"^(\s*except\s+[\w.]+)\s*,\s*(\w+)\s*:")
_CONDITION = re.compile(r"^(\s*(?:if|elif|while|assert)\b.*?[^=!<>:])=([^=].*)$")
# Longer lines are skipped; in longer cells, only lines near the error are tried.
_MAX_LINE, _FEW_LINES = 1_000, 60
_SMART = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "\u00a0": " "})


def syntax_error(cell: FailingCell) -> Fix | None:
    if cell.error.name not in _ERRORS:
        return None
    for why, text in _attempts(cell):
        if text != cell.source and CellCode(text).parses:
            return Fix(why, text)
    return Fix(_hint(cell))


def _attempts(cell: FailingCell) -> Iterator[tuple[str, str]]:
    line = min(cell.line or 1, len(cell.code.lines))
    lines = cell.code.lines
    near = [line, line - 1, line - 2, line + 1]
    places = [*near, *(range(1, len(lines) + 1) if len(lines) <= _FEW_LINES else ())]
    for why, change in _SLIPS:
        for place in dict.fromkeys(places):
            if not (1 <= place <= len(lines) and len(lines[place - 1]) <= _MAX_LINE):
                continue
            changed = change(lines[place - 1])
            if changed is not None:
                yield why, _with_line(cell.code, place, changed)
    for width in (4, 8):
        yield "Tabs and spaces were mixed.", cell.source.expandtabs(width)
    yield "Typographic quotes and spaces are not valid code.", cell.source.translate(_SMART)
    yield from _indents(cell, line)
    yield from _brackets(cell)
    for why, change in _SLIPS:  # the same slip in several lines
        changed_lines = [
            (change(code_line) if len(code_line) <= _MAX_LINE else None) or code_line
            for code_line in cell.code.lines
        ]
        yield why, "\n".join(changed_lines)


def _colon(line: str) -> str | None:
    found = _BLOCK.match(line)
    if not found or found[1].rstrip().endswith((":", ",", "(", "[", "{", "\\")):
        return None
    return f"{found[1].rstrip()}:{found[2]}"


def _equals(line: str) -> str | None:
    found = _CONDITION.match(line)
    return f"{found[1].rstrip()} == {found[2].lstrip()}" if found else None


def _print(line: str) -> str | None:
    found = _PRINT.match(line)
    if not found or found[2].startswith("("):
        return None
    return f"{found[1]}print({found[2].rstrip(',')})"


def _quote(line: str) -> str | None:
    """An unterminated string: the quote goes before the closing punctuation."""
    for quote in ("'", '"'):
        if line.count(quote) % 2:
            found = re.search(r"[)\]}:,\s]*$", line)
            end = found.start() if found else len(line)
            return f"{line[:end]}{quote}{line[end:]}"
    return None


def _other_quotes(line: str) -> str | None:
    """An f-string with its own quotes inside its braces."""
    found = re.search(r"[fF]\"", line)
    if not found or line.count('"') < 4:
        return None
    start, end = found.end(), line.rindex('"')
    inside = re.sub(r"\{[^{}]*\}", lambda match: match[0].replace('"', "'"), line[start:end])
    return line[:start] + inside + line[end:]


def _brace(line: str) -> str | None:
    """An f-string with an open brace."""
    found = re.search(r"([fF](['\"]))(.*)\2", line)
    if not found or found[3].count("{") <= found[3].count("}"):
        return None
    at = found.end(3)
    return f"{line[:at]}}}{line[at:]}"


def _exception(line: str) -> str | None:
    found = _EXCEPT.match(line)
    return f"{found[1]} as {found[2]}:{line[found.end() :]}" if found else None


def _closed(line: str) -> str | None:
    missing = _missing_brackets(line)
    if not missing:
        return None
    body = line.rstrip()
    if body.endswith(":"):
        return f"{body[:-1]}{missing}:"
    return f"{body.rstrip(',')}{missing}" if not body.endswith(tuple(_CLOSING)) else None


def _one_less(line: str) -> str | None:
    body = line.rstrip()
    ending = ":" if body.endswith(":") else ""
    inner = body.removesuffix(":")
    return inner[:-1] + ending if inner.endswith((")", "]", "}")) else None


def _increment(line: str) -> str | None:
    found = re.match(r"^(\s*)(\w+)\s*(\+\+|--)\s*;?$", line)
    return f"{found[1]}{found[2]} {found[3][0]}= 1" if found else None


def _words(line: str) -> str | None:
    """Operators of other languages."""
    new = line.replace("&&", " and ").replace("||", " or ").replace("<>", "!=")
    new = re.sub(r"\belse if\b", "elif", new)
    new = re.sub(r"!(?=[A-Za-z_(])", "not ", new) if not line.lstrip().startswith("!") else new
    return re.sub(r" {2,}(?=and|or)", " ", new) if new != line else None


def _comma(line: str) -> str | None:
    """Two values side by side in brackets."""
    new = re.sub(r"(['\")\]])([ \t]+)(?=['\"\w(\[{])", r"\1,\2", line)
    return new if new != line else None


_SLIPS: tuple[tuple[str, Callable[[str], str | None]], ...] = (
    ("`print` needs parentheses in Python 3.", _print),
    ("A colon was missing at the end of the line that starts the block.", _colon),
    ("`=` assigns; `==` compares.", _equals),
    ("A quote was missing.", _quote),
    ("The quotes inside the f-string ended it; use the other kind.", _other_quotes),
    ("A brace of the f-string was not closed.", _brace),
    ("A bracket was not closed.", _closed),
    ("There was one closing bracket too many.", _one_less),
    ("`except` names its variable with `as`.", _exception),
    ("Python uses `+= 1` to count.", _increment),
    ("Python writes `and`, `or`, `not`, `elif` and `!=`.", _words),
    ("A comma was missing.", _comma),
)


def _with_line(code: CellCode, number: int, text: str) -> str:
    return "\n".join([*code.lines[: number - 1], text, *code.lines[number:]])


def _indents(cell: FailingCell, line: int) -> Iterator[tuple[str, str]]:
    lines = cell.code.lines
    before = next((code_line for code_line in reversed(lines[: line - 1]) if code_line.strip()), "")
    own = len(before) - len(before.lstrip())
    if before.rstrip().endswith(":"):
        why = "Indent the lines of a block."
        end = line
        while end <= len(lines) and lines[end - 1].strip():
            block = [
                code_line if code_line[: own + 1].isspace() else " " * (own + 4) + code_line.strip()
                for code_line in lines[line - 1 : end]
            ]
            yield why, "\n".join([*lines[: line - 1], *block, *lines[end:]])
            end += 1
    text = " " * own + lines[line - 1].lstrip()
    yield "A line was indented for no reason.", _with_line(cell.code, line, text)
    for width in (own - 4, own + 4):
        if width >= 0:
            text = " " * width + lines[line - 1].lstrip()
            yield "A line was not indented like its block.", _with_line(cell.code, line, text)
    if lines and all(code_line[:1].isspace() for code_line in lines if code_line.strip()):
        import textwrap

        yield "The whole cell was indented.", textwrap.dedent(cell.source)


def _brackets(cell: FailingCell) -> Iterator[tuple[str, str]]:
    missing = _missing_brackets(cell.source)
    if missing:
        yield "A bracket was not closed.", cell.source.rstrip() + missing
    line = cell.line or 1
    for place in range(min(line, len(cell.code.lines)), 0, -1):
        own = _missing_brackets(cell.code.lines[place - 1])
        if own:
            text = cell.code.lines[place - 1].rstrip() + own
            yield "A bracket was not closed.", _with_line(cell.code, place, text)


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
        if quote == "\n" and char == "\n":
            quote = ""
    return "".join(reversed(stack))


def _hint(cell: FailingCell) -> str:
    where = f" in line {cell.line}" if cell.line else ""
    said = re.sub(r"\s*\(<?[^()]*line \d+\)\s*$", "", cell.message)
    return (
        f"Python cannot read the code{where}: {said}. Look there and at the line above for a "
        "missing bracket, quote, comma or colon."
    )
