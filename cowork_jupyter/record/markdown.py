"""Markdown around untrusted text: it reads well, and nothing in it loads or runs.

A report is opened long after, in viewers that fetch pictures, render HTML and draw diagrams,
whose labels can contain both. So all three are defused, and code is put into our own fences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..domain.figures import Assumption
from ..domain.redaction import without_surrogates

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)?")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_FENCE = re.compile(r" {0,3}(?:(`{3,})(?=[^`]*$)|(~{3,}))[ \t]*([\w+#.-]*).*")
_DRAWN = re.compile(r"(`{3,}|~{3,})(.*?)mermaid", re.IGNORECASE)
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def plain(text: str) -> str:
    """Text without colours, control characters and surrogates."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROLS.sub("", _ESCAPES.sub("", text))
    return without_surrogates(text)


def line(text: str) -> str:
    """Untrusted text in one line."""
    return _dead(" ".join(plain(text).split()))


def assumption(stated: Assumption) -> str:
    """With the user's verdict: `The date is ordered_at (confirmed)`."""
    instead = f": {line(stated.correction)}" if stated.correction else ""
    status = "not confirmed" if stated.status == "open" else stated.status
    return f"{line(stated.text)} *({status}{instead})*"


def code(text: str) -> str:
    return f"`{line(text).replace('`', chr(39)) or ' '}`"


def cell(text: str) -> str:
    return text.replace("|", "&#124;")


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """The cells are Markdown already."""
    titles = list(head)
    lines = [titles, ["---"] * len(titles), *(map(cell, row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def fenced(text: str, language: str = "") -> str:
    """A block of code, in a fence that nothing inside can close."""
    runs = re.findall(r"`{3,}", text)
    fence = "`" * (max(map(len, runs), default=2) + 1)
    return f"{_dead(fence + language)}\n{text}\n{fence}"


def quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in readable(text).split("\n"))


def readable(text: str) -> str:
    """Untrusted Markdown, with its code in our own fences."""
    parts: list[str] = []
    block: list[str] = []
    fence = language = ""
    for text_line in plain(text).strip("\n").split("\n"):
        if fence and _closes(text_line, fence):
            parts.append(fenced("\n".join(block), language))
            fence, block = "", []
        elif fence:
            block.append(text_line)
        elif opening := _FENCE.fullmatch(text_line):
            fence, language = opening[1] or opening[2], opening[3]
        else:
            parts.append(_dead(text_line))
    if fence:
        parts.append(fenced("\n".join(block), language))
    return "\n".join(parts)


def cut(text: str, most_lines: int, most_characters: int) -> str:
    lines = text.strip("\n").split("\n")
    kept = "\n".join(lines[:most_lines])[:most_characters]
    if len(kept) == len("\n".join(lines)):
        return kept
    return f"{kept}\n[… cut here; it has {len(lines)} lines, {len(text)} characters in all]"


def _closes(text: str, fence: str) -> bool:
    stripped = text.strip()
    return len(stripped) >= len(fence) and set(stripped) == {fence[0]}


def _dead(text: str) -> str:
    """Defuse pictures, tags and diagrams, also in lists and quotations.

    The escape goes where no backslash before it can undo it.
    """
    return _TAG.sub("&lt;", _DRAWN.sub(r"\1\2text", text).replace("![", "!\\["))
