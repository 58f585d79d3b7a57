"""Find the column or value that a word means: exact, plural, synonym, boolean or misspelled."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..tables import LINES_READ, ColumnFacts, Table
from .synonyms import VALUE_SYNONYMS, noun_groups, synonym_groups
from .tokens import normalize, root, stems, word_set, words_of

_YES, _NO = frozenset(VALUE_SYNONYMS["yes"]), frozenset(VALUE_SYNONYMS["no"])
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
        if not yes or len(words) != 1 or normalize(yes) == "true":
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
    by_word = {normalize(value): value for value in column.values}
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


EXACT, PLURAL, PART, SYNONYM, ROOT, TYPO = 3.0, 2.9, 2.2, 2.0, 1.8, 1.5
MAX_WORDS = 6
_KEY = re.compile(r"(^|[_ ])(id|key|code|no|nr|number|uuid)$|[a-z]I[dD]$", re.IGNORECASE)
_UNITS = word_set(
    "mm cm m km c f kg g eur usd chf gbp musd meur kusd keur ms s min h pct percent kwh mph kmh"
)
_YEARS = word_set("year jahr baujahr yr")
_MISSPELLED = 0.8
_MAX_COMPARED = 3_000


def is_key(name: str) -> bool:
    """Whether a column identifies rows."""
    return bool(_KEY.search(name)) or name.lower() == "id"


def measures(table: Table) -> list[str]:
    """Numeric columns that do not identify rows."""
    return [name for name in table.names_of("number") if not is_key(name)]


@dataclass(frozen=True)
class ColumnMatch:
    name: str
    score: float


class TableNames:
    def __init__(self, table: Table, *, is_whole: bool = False) -> None:
        self.table = table
        # dates are known for all rows
        self.is_whole = is_whole or (table.lines or LINES_READ + 1) <= LINES_READ
        self.flags = flags_of(table)
        self._exact: dict[str, str] = {}
        self._plural: dict[str, str] = {}
        self._parts: dict[str, list[str]] = {}
        self._alike: dict[int, list[str]] = {}
        self._values: dict[str, list[tuple[str, str]]] = {}
        self._roots: dict[str, str] = {}
        for column in table.columns:
            self._add(column)
        self.year = _year_of(table)
        self._flag_roots = {root(word): flag for word, flag in reversed(self.flags.items())}
        self.stem = stems("".join(words_of(table.stem)))
        self._nouns = noun_groups(words_of(table.stem))
        self._spellings = list(dict.fromkeys([*self._exact, *self._parts]))[:_MAX_COMPARED]

    def _add(self, column: ColumnFacts) -> None:
        every = words_of(column.name)
        words = [word for word in every if word not in _UNITS] or every
        for joined in {"".join(words_of(column.name)), "".join(words)} - {""}:
            self._exact.setdefault(joined, column.name)
            for stem in stems(joined):
                self._plural.setdefault(stem, column.name)
        for word in words if len(words) > 1 else ():
            for stem in stems(word):
                self._parts.setdefault(stem, []).append(column.name)
        for word in words:
            self._roots.setdefault(root(word), column.name)
        for word in {*words, "".join(words)}:
            for group in synonym_groups(word):
                self._alike.setdefault(group, []).append(column.name)
        for value in column.values if column.kind == "text" else ():
            for key in {normalize(value), *stems(normalize(value))}:
                self._values.setdefault(key, []).append((column.name, value))

    def exact(self, words: Sequence[str]) -> ColumnMatch | None:
        """Ignores the plural."""
        joined = "".join(words)
        if joined in self._exact:
            return ColumnMatch(self._exact[joined], EXACT)
        name = next((self._plural[stem] for stem in stems(joined) if stem in self._plural), None)
        return ColumnMatch(name, PLURAL) if name else None

    def is_table(self, words: Sequence[str]) -> bool:
        """`exam results` names `exam_results.csv`."""
        return bool(stems("".join(words)) & self.stem)

    def is_about(self, word: str) -> bool:
        """Whether a noun means the rows of the table: `orders` are in `sales`."""
        return bool(noun_groups([word]) & self._nouns)

    def is_row_key(self, name: str) -> bool:
        """Whether a key identifies the rows of this table, not those of another."""
        column = self.table.column(name)
        return is_key(name) and column is not None and column.is_unique

    def names_part(self, word: str) -> bool:
        """Whether a file name of several words contains this one."""
        parts = words_of(self.table.stem)
        return len(parts) > 1 and any(stems(word) & stems(part) for part in parts if len(part) > 3)

    def has_part(self, word: str) -> bool:
        return any(stem in self._parts for stem in stems(word))

    def similar(self, word: str) -> list[ColumnMatch]:
        """Columns whose name contains the word or a synonym, best first."""
        parts = [name for stem in stems(word) for name in self._parts.get(stem, ())]
        same = [
            name for group in sorted(synonym_groups(word)) for name in self._alike.get(group, ())
        ]
        found = dict.fromkeys(parts, PART)
        for name in same:
            found.setdefault(name, SYNONYM)
        # Keys count rows; they are seldom what a word of everyday means.
        scored = [ColumnMatch(name, found[name] - 0.3 * is_key(name)) for name in found]
        return sorted(scored, key=lambda match: -match.score)

    def same_root(self, word: str) -> ColumnMatch | None:
        """The column whose name has the same root: `rated` and `rating`."""
        name = self._roots.get(root(word)) if root(word) else None
        return ColumnMatch(name, ROOT) if name else None

    def flag(self, word: str) -> tuple[str, str] | None:
        """The boolean column that a word states something about, and the value."""
        return self.flags.get(word) or (self._flag_roots.get(root(word)) if root(word) else None)

    def misspelled(self, word: str) -> ColumnMatch | None:
        close = difflib.get_close_matches(word, self._near(word), n=1, cutoff=_MISSPELLED)
        close = close or [each for each in self._spellings if _is_derived(each, word)][:1]
        if not close:
            return None
        name = self._exact.get(close[0]) or self._parts[close[0]][0]
        return ColumnMatch(name, TYPO)

    def _near(self, word: str) -> list[str]:
        return [spelling for spelling in self._spellings if abs(len(spelling) - len(word)) < 3]

    def value(self, words: Sequence[str]) -> list[tuple[str, str]]:
        text = " ".join(words)
        keys = [text, *stems(text)] if len(words) == 1 else [text]
        for key in dict.fromkeys(keys):
            if key in self._values:
                return _distinct(self._values[key])
        same = [synonym for key in keys for synonym in VALUE_SYNONYMS.get(key, ())]
        known = (self._values[synonym] for synonym in same if synonym in self._values)
        return next(map(_distinct, known), [])

    def close_value(self, word: str) -> list[tuple[str, str]]:
        near = [value for value in self._values if abs(len(value) - len(word)) < 3][:_MAX_COMPARED]
        close = difflib.get_close_matches(word, near, n=1, cutoff=0.85)
        return _distinct(self._values[close[0]]) if close else []

    def nearest(self, word: str, among: Sequence[str]) -> list[str]:
        plain = normalize(word)[:60]
        few = list(among)[:_MAX_COMPARED]
        return sorted(
            few,
            key=lambda name: -difflib.SequenceMatcher(None, plain, normalize(name)[:60]).ratio(),
        )


def _year_of(table: Table) -> str:
    """The numeric year column of a table without dates; empty if there is none."""
    if table.of_kind("date"):
        return ""
    years = [name for name in table.names_of("number") if _YEARS & set(words_of(name))]
    return years[0] if years else ""


def _is_derived(name: str, word: str) -> bool:
    """A common root: `survival` and `survived`."""
    pairs = enumerate(zip(name, word, strict=False))
    same = next((at for at, (a, b) in pairs if a != b), min(len(name), len(word)))
    return same >= 5 and same >= 0.65 * max(len(name), len(word))


def _distinct(found: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The first spelling per column."""
    return list(dict(reversed(found)).items())[::-1]
