"""How sentences write names and values, so that each can be read back whatever is in it."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

# words that end an unquoted value
RESERVED = frozenset(
    {"and", "or", "is", "in", "where", "between", "not", "one", "of", "above", "below", "at"}
    | {"least", "most", "contains", "missing", "known", "top", "bottom", "by", "smallest"}
)
_BARE = re.compile(r"[\w.+-]+(?: [\w.+-]+)*")


def code(name: str) -> str:
    """A Markdown code span, with enough backticks."""
    longest = max(map(len, re.findall("`+", name)), default=0)
    ticks = "`" * (longest + 1)
    space = " " if name[:1] in ("`", " ") or name[-1:] in ("`", " ") else ""
    return f"{ticks}{space}{name}{space}{ticks}"


def codes(names: Sequence[str]) -> str:
    return listed([code(name) for name in names])


def listed(parts: Sequence[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def value(text: str) -> str:
    """Quoted if it could be misread."""
    is_bare = _BARE.fullmatch(text) and not RESERVED.intersection(text.casefold().split())
    return text if is_bare else json.dumps(text, ensure_ascii=False)


def pieces(text: str) -> Iterator[tuple[bool, str]]:
    """Split at code spans; the flag marks their content.

    By hand, since a pattern would be quadratic for long runs of backticks.
    """
    runs = list(re.finditer("`+", text))
    places: dict[int, list[int]] = {}
    for at, run in enumerate(runs):
        places.setdefault(len(run[0]), []).append(at)
    begin = at = 0
    while at < len(runs):
        alike = places[len(runs[at][0])]
        after = bisect_right(alike, at)
        if after == len(alike):
            at += 1
            continue
        yield False, text[begin : runs[at].start()]
        yield True, _unpadded(text[runs[at].end() : runs[alike[after]].start()])
        begin, at = runs[alike[after]].end(), alike[after] + 1
    yield False, text[begin:]


def _unpadded(name: str) -> str:
    """Markdown strips one space on each side."""
    is_padded = len(name) > 2 and name[0] == name[-1] == " " and name.strip() != ""
    return name[1:-1] if is_padded else name
