"""Unified diffs."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile

from ..policy.visible import visible_line

_CONTEXT = 3
_MAX_SIZE = 10_000_000
"""Product of line counts above which comparing line by line would take too long."""


@dataclass(frozen=True)
class Diff:
    text: str
    added: int
    removed: int

    @property
    def counts(self) -> str:
        return f"+{self.added} −{self.removed} lines"


def diff(path: str, before: str, after: str) -> Diff:
    old, new = _lines(before), _lines(after)
    same_head = _common(zip(old, new, strict=False))
    rest = min(len(old), len(new)) - same_head
    same_tail = min(_common(zip(reversed(old), reversed(new), strict=False)), rest)
    is_large = (len(old) - same_head - same_tail) * (len(new) - same_head - same_tail) > _MAX_SIZE
    context = 0 if is_large else _CONTEXT
    start = max(same_head - context, 0)
    old = old[start : len(old) - same_tail + context]
    new = new[start : len(new) - same_tail + context]
    if is_large:
        header = f"@@ -{start + 1},{len(old)} +{start + 1},{len(new)} @@"
        lines = [header, *(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    else:
        hunks = list(difflib.unified_diff(old, new, n=_CONTEXT, lineterm=""))[2:]
        lines = [_shifted(line, start) if line.startswith("@@") else line for line in hunks]
    name = visible_line(path)
    head = [f"--- a/{name}", f"+++ b/{name}"] if lines else []
    return Diff(
        text="".join(f"{line}\n" for line in [*head, *lines]),
        added=sum(line.startswith("+") for line in lines),
        removed=sum(line.startswith("-") for line in lines),
    )


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
    else:
        lines.pop()
    return lines


def _common(pairs: Iterable[tuple[str, str]]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _shifted(header: str, by: int) -> str:
    """Shift a hunk header to the line numbers of the whole file."""
    return re.sub(r"(?<=[-+])\d+", lambda number: str(int(number[0]) + by), header)
