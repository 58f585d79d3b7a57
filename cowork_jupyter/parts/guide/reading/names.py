"""What the words of a request can mean in one table: its columns, its values, its rows."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..file_names import spelled
from ..tables import Table, is_key
from .tokens import (
    Token,
    code_span,
    normalize,
    singular,
    split_code_spans,
    tokens_in,
    word_set,
    words_of,
)
from .vocabulary import ROW_NOUNS, SYNONYMS, VALUES

PART, ALIKE, TYPO = 2, 3, 4
"""How far a word is from a name; names themselves are 0."""
MAX_WORDS = 6
_SUFFIXES = word_set(
    "mm cm m km m2 m3 km2 sqm c f kg g eur usd chf gbp s min h pct percent kwh mph kmh id"
)
_CLOSE = 0.84
_PATH = r"[\w./-]{1,200}\.(?:csv|tsv|xlsx|parquet|json)"
_MAX_COMPARED = 3_000


class Meaning(NamedTuple):
    name: str
    value: str
    cost: int


def measures(table: Table) -> list[str]:
    """Numeric columns that do not identify rows."""
    return [name for name in table.names_of("number") if not is_key(name)]


_YES, _NO = word_set("yes y true 1"), word_set("no n false 0")


def yes_of(table: Table, name: str) -> tuple[str, ...]:
    """How a column says yes, if all it says is yes or no: `how many smokers`."""
    column = table.column(name)
    said = {value.lower() for value in column.values} if column else set()
    is_answer = bool(said & _YES) and bool(said & _NO) and said <= _YES | _NO
    found = [value for value in column.values if value.lower() in _YES] if column else []
    return tuple(found) if is_answer else ()


def no_of(table: Table, name: str) -> tuple[str, ...]:
    column, yes = table.column(name), yes_of(table, name)
    return tuple(value for value in column.values if value not in yes) if column and yes else ()


class TableNames:
    def __init__(self, table: Table, rank: int = 0) -> None:
        self.table = table
        self.rank = rank
        self._whole: dict[str, list[str]] = {}
        self._parts: dict[str, list[str]] = {}
        self._values: dict[str, list[tuple[str, str]]] = {}
        for column in table.columns:
            words = words_of(column.name)
            short = [word for word in words if word not in _SUFFIXES] or words
            for called in {_joined(words), _joined(short), normalize(column.name)}:
                self._whole.setdefault(called, []).append(column.name)
            for word in set(short if len(short) > 1 else ()):
                self._parts.setdefault(singular(word), []).append(column.name)
            for value in column.values if column.kind == "text" else ():
                self._values.setdefault(_joined(words_of(value)), []).append((column.name, value))
        stem = words_of(table.stem)
        self.stem = "".join(stem)
        self._rows = {_joined(stem), *map(singular, stem[-1:])}
        nouns = [group for group in ROW_NOUNS if group & self._rows]
        self._row_nouns = frozenset().union(*nouns)

    def columns(self, words: Sequence[str]) -> Iterator[Meaning]:
        """Columns of this name; only if there is none, those of which it is a part, and so on."""
        if (found := self._whole.get(_joined(words))) and len(set(found)) == 1:
            yield Meaning(found[0], "", 0)
            return
        if len(words) > 1 or len(words[0]) < 3:
            return
        word = singular(words[0])
        groups = [group for group in SYNONYMS if group & {word, words[0]}]
        alike = [each for group in groups for each in group - {word}]
        near = [*self._whole, *self._parts] if len(word) > 4 else []
        close = difflib.get_close_matches(word, near[:_MAX_COMPARED], n=1, cutoff=_CLOSE)
        for cost, known in (
            (PART, self._parts.get(word, [])),
            (ALIKE, [name for each in alike for name in self._called(each)]),
            (TYPO, [name for each in close for name in self._called(each)]),
        ):
            if known:
                yield from (Meaning(name, "", cost) for name in dict.fromkeys(known))
                return

    def _called(self, word: str) -> list[str]:
        return self._whole.get(word) or self._parts.get(word, [])

    def values(self, words: Sequence[str]) -> Iterator[Meaning]:
        key = _joined(words)
        found = dict(reversed(self._values.get(key, [])))
        cost = 0
        if not found and len(words) == 1:
            alike = [each for group in VALUES if words[0] in group for each in group]
            found = {name: value for each in alike for name, value in self._values.get(each, ())}
            cost = ALIKE if found else 0
        if not found and len(words) == 1 and len(words[0]) > 5 and not self.is_rows(words):
            near = [value for value in self._values if value.isalpha()][:_MAX_COMPARED]
            close = difflib.get_close_matches(key, near, n=1, cutoff=_CLOSE)
            found = {name: value for each in close for name, value in self._values[each]}
            cost = TYPO
        yield from (Meaning(name, value, cost) for name, value in found.items())

    def alike(self, column: str, value: str) -> list[str]:
        """What else a column has for it, as `F` beside `female`."""
        groups = [group for group in VALUES if normalize(value.strip()) in group]
        facts = self.table.column(column)
        known = facts.values if facts and groups else ()
        found = [each for each in known if any(normalize(each) in group for group in groups)]
        return found or [value]

    def value_of(self, column: str, text: str) -> str:
        """As the column spells it; empty if it does not have this value."""
        known = self._values.get(_joined(words_of(text)), [])
        return next((value for name, value in known if name == column), "")

    def is_rows(self, words: Sequence[str]) -> bool:
        """Whether a noun means the rows: `orders` in `shop/orders.csv`, `people` in `staff.csv`."""
        return _joined(words) in self._rows or singular(words[-1]) in self._row_nouns

    def is_named(self, word: str) -> bool:
        return singular(word) in self._rows

    def nearest(self, word: str) -> list[str]:
        """Columns to offer in the place of a word that means nothing here."""
        return sorted(
            self.table.names[:_MAX_COMPARED],
            key=lambda name: -difflib.SequenceMatcher(None, normalize(word)[:60], name).ratio(),
        )


def _joined(words: Sequence[str]) -> str:
    """The singular of the last word, so that `unit prices` is `unit_price`."""
    return "".join([*words[:-1], *map(singular, words[-1:])])


_GROUPED = re.compile(
    r"-?[1-9]\d{0,2}(?P<sign>[.,])\d{3}(?:(?P=sign)\d{3})*(?:(?!(?P=sign))[.,]\d+)?"
)


def plain_number(text: str, table: Table) -> str:
    """`1,000` as 1000 and `0,5` as 0.5; empty if it may be either in this table."""
    decimal = "," if any(each.decimal == "," for each in table.of_kind("number")) else "."
    grouping = "." if decimal == "," else ","
    if grouped := _GROUPED.fullmatch(text):
        is_clear = grouped["sign"] == grouping or text.count(grouped["sign"]) > 1
        bare = text.replace(grouped["sign"], "").replace(",", ".")
        if decimal == "," and text.count(".") == 1 and "," not in text:
            return ""  # a point may be meant for either
        return bare if is_clear or len(set(text) & {".", ","}) == 2 else ""
    return text.replace(",", ".") if text.count(",") + text.count(".") <= 1 else ""


def tokens_for(text: str, tables: Sequence[Table]) -> list[Token]:
    """Names of files, and of columns that are not plain words, are names and nothing else."""
    paths = [table.path for table in tables]
    columns = [name for table in tables for name in table.names if "_" in name]
    names = _WrittenNames([*(path.rsplit("/", 1)[-1] for path in paths), *columns, *paths])
    pieces = (
        code_span(piece) if is_code else names.quoted(piece)
        for is_code, piece in split_code_spans(text)
    )
    return tokens_in("".join(pieces))


class _WrittenNames:
    """In whatever case and spelling they are written."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = {spelled(name): name for name in names}
        self._folded = {name.lower(): name for name in self._names}

    def quoted(self, text: str) -> str:
        text = spelled(text)
        there = [name for name in self._folded if name in text.lower()]
        either = "|".join([*map(re.escape, sorted(there, key=len, reverse=True)), _PATH])
        alone = rf"(?<![\w./])({either})(?!\w|\.\w)(?:'s\b)?"
        return re.sub(rf'"({either})"|{alone}', self._span, text, flags=re.I)

    def _span(self, found: re.Match[str]) -> str:
        said = found[1] or found[2]
        name = said if said in self._names else self._folded.get(said.lower(), "")
        if found[1] and not name:
            return found[0]  # a value that looks like a path
        return code_span(self._names.get(name, said))
