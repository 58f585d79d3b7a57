"""Columns of yes and no, named by what they say of a row: `passed`, `inactive`, `failed`."""

from __future__ import annotations

from ..columns import ColumnFacts
from ..tables import Table
from .synonyms import SAME_VALUE
from .tokens import folded, words_of

_YES, _NO = frozenset(SAME_VALUE["yes"]), frozenset(SAME_VALUE["no"])
_AUXILIARY = frozenset(("is", "has", "was", "did", "ist", "hat"))
_ALSO = {
    "passed": "bestanden besteht",
    "survived": "survivor survivors uberlebt uberlebten",
    "active": "aktiv aktive aktiven",
    "returned": "retourniert zuruckgegeben",
    "paid": "bezahlt bezahlte bezahlten",
    "churned": "gekundigt",
}
_OPPOSITES = {
    "passed": "failed fail fails failing flunked durchgefallen",
    "survived": "died dead perished gestorben",
    "active": "inaktiv inaktive inaktiven",
    "paid": "outstanding unbezahlt unbezahlte unbezahlten",
    "returned": "kept",
    "churned": "stayed retained",
    "married": "single",
}


def flags_of(table: Table) -> dict[str, tuple[str, str]]:
    """Words that state yes or no, with column and value."""
    found: dict[str, tuple[str, str]] = {}
    for column in table.columns:
        words = [word for word in words_of(column.name) if word not in _AUXILIARY]
        yes, no = yes_and_no(column)
        # Where a file says true and false, pandas and Polars read no texts, but the code for a
        # filter compares texts: such a column makes groups only.
        if not yes or len(words) != 1 or folded(yes) == "true":
            continue
        for word in _forms(words[0]):
            found.setdefault(word, (column.name, yes))
        for word in _opposites(words[0]) if no else ():
            found.setdefault(word, (column.name, no))
    return found


def flag_value(column: ColumnFacts, word: str) -> str:
    yes, no = yes_and_no(column)
    return yes if word in _YES else no if word in _NO else ""


def other_value(column: ColumnFacts, value: str) -> str:
    yes, no = yes_and_no(column)
    return no if value == yes else yes


def yes_and_no(column: ColumnFacts) -> tuple[str, str]:
    """Empty if the column is not boolean."""
    by_word = {folded(value): value for value in column.values}
    if not by_word or not by_word.keys() <= _YES | _NO:
        return "", ""
    yes = next((by_word[word] for word in by_word if word in _YES), "")
    return yes, next((by_word[word] for word in by_word if word in _NO), "")


def _forms(word: str) -> list[str]:
    """`passed` is also `pass`, `passes`, `passing`."""
    base = word.removesuffix("ed") if len(word) > 5 else word
    ends = ("", "s", "es", "ing") if base != word else ()
    return [word, *(f"{base}{end}" for end in ends), *_ALSO.get(word, "").split()]


def _opposites(word: str) -> list[str]:
    return [f"{prefix}{word}" for prefix in ("un", "in", "non")] + _OPPOSITES.get(word, "").split()
