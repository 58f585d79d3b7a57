"""The name that somebody may have meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_SEPARATORS = re.compile(r"[\W_]+")
MAX_LISTED = 12


def plain(name: str) -> str:
    """Ignore case, spaces and punctuation: `Unit Price` and `unit_price` are equal."""
    return _SEPARATORS.sub("", name).casefold()


def nearest(
    name: str, known: Iterable[str], similarity: float = 0.65, *, parts: bool = False
) -> str | None:
    """The most similar known name; equal but for case and punctuation wins.

    With `parts`, fall back to the only name that contains this one or is contained in it.
    """
    names = [candidate for candidate in known if candidate != name]
    wanted = plain(name)
    same = [candidate for candidate in names if plain(candidate) == wanted]
    if same:
        return same[0]
    by_plain: dict[str, str] = {}
    for candidate in names:
        by_plain.setdefault(plain(candidate), candidate)
    close = difflib.get_close_matches(wanted, by_plain, 1, similarity)
    if close:
        return by_plain[close[0]]
    if not parts or len(wanted) < 4:
        return None
    holding = [
        candidate
        for candidate in by_plain
        if candidate and (wanted in candidate or (len(candidate) > 3 and candidate in wanted))
    ]
    return by_plain[holding[0]] if len(holding) == 1 else None


def listed(names: Iterable[str]) -> str:
    all_names = [f"`{name}`" for name in names]
    more = len(all_names) - MAX_LISTED
    return ", ".join(all_names[:MAX_LISTED]) + (f" and {more} more" if more > 0 else "")
