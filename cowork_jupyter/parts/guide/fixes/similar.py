"""Names that are alike: slips of the keyboard, not names of something else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

from ..reading.tokens import words_of

_SEPARATORS = re.compile(r"[\W_]+")
_DIGITS = re.compile(r"\d+")
_MAX_LISTED, _MAX_LENGTH = 12, 100
_OTHER_START = 0.9  # first letters are seldom wrong: `paid` is not `unpaid`


def nearest(
    name: str, known: Iterable[str], similarity: float = 0.75, *, parts: bool = False
) -> str | None:
    """The most similar known name; None if there is none, or if several are equally similar.

    With `parts`, fall back to the only name that has all words of this one, or the reverse.
    """
    if len(name) > _MAX_LENGTH:
        return None
    names = [other for other in dict.fromkeys(known) if other != name]
    likeness = {other: _likeness(name, other) for other in names}
    best = max(likeness.values(), default=0.0)
    if best >= similarity:
        return _only([other for other in names if likeness[other] == best])
    words = set(words_of(name))
    if not parts or sum(map(len, words)) < 4:
        return None
    return _only([other for other in names if _has_words(words, set(words_of(other)))])


def _only(names: list[str]) -> str | None:
    return names[0] if len(names) == 1 else None


def _has_words(words: set[str], others: set[str]) -> bool:
    return words < others or (others < words and sum(map(len, others)) > 3)


def _likeness(name: str, other: str) -> float:
    """Words that both have do not count: `customer_id` is not like `customer_name`."""
    plain, other_plain = _plain(name), _plain(other)
    if plain == other_plain:
        return 1.0
    if _DIGITS.findall(name) != _DIGITS.findall(other) or not (plain and other_plain):
        return 0.0
    words, other_words = words_of(name), words_of(other)
    own = "".join(word for word in words if word not in other_words)
    others = "".join(word for word in other_words if word not in words)
    likeness = min(_ratio(plain, other_plain), _ratio(own, others)) if own and others else 0.0
    is_other = plain[0] != other_plain[0] and likeness < _OTHER_START
    return 0.0 if is_other else likeness


def _plain(name: str) -> str:
    """Without case, spaces and punctuation: `Unit Price` and `unit_price` are equal."""
    return _SEPARATORS.sub("", name).casefold()


def _ratio(name: str, other: str) -> float:
    return SequenceMatcher(None, name, other).ratio()


def listed(names: Iterable[str]) -> str:
    spans = [f"`{name}`" for name in names]
    more = len(spans) - _MAX_LISTED
    return ", ".join(spans[:_MAX_LISTED]) + (f" and {more} more" if more > 0 else "")
