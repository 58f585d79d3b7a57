"""The words of a request as tags, in each of the ways in which they can be meant for one table."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from posixpath import basename
from typing import NamedTuple

from ..file_names import is_table, spelled
from ..request import Period
from ..tables import Table, date_format_of, is_key
from .tokens import (
    MONTHS,
    Token,
    code_span,
    normalize,
    period_of,
    singular,
    spans_within,
    split_code_spans,
    tokens_in,
    word_set,
    words_of,
)
from .vocabulary import COUNTS, LONGEST, PHRASES, ROW_NOUNS, SUPERLATIVES, SYNONYMS, VALUES

PART, ALIKE, TYPO = 2, 3, 4
"""How far a word is from a name; names themselves are 0."""
_MAX_WORDS = 6
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
    values = {value: value.lower() for value in column.values} if column else {}
    answers = set(values.values())
    is_answer = answers & _YES and answers & _NO and answers <= _YES | _NO
    return tuple(value for value in values if values[value] in _YES) if is_answer else ()


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


def _plain_number(text: str, table: Table) -> str:
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
    """Names of files, and of columns that are not plain words, are names and nothing else.

    They count in whatever case and spelling they are written.
    """
    paths = [table.path for table in tables]
    columns = [name for table in tables for name in table.names if "_" in name]
    names = {
        spelled(name): name for name in (*(basename(path) for path in paths), *columns, *paths)
    }
    folded = {name.lower(): name for name in names}

    def span(match: re.Match[str]) -> str:
        written = match[1] or match[2]
        name = written if written in names else folded.get(written.lower(), "")
        if match[1] and not name:
            return match[0]  # a value that looks like a path
        return code_span(names.get(name, written))

    def with_spans(text: str) -> str:
        text = spelled(text)
        there = [name for name in folded if name in text.lower()]
        either = "|".join([*map(re.escape, sorted(there, key=len, reverse=True)), _PATH])
        alone = rf"(?<![\w./])({either})(?!\w|\.\w)(?:'s\b)?"
        return re.sub(rf'"({either})"|{alone}', span, text, flags=re.I)

    pieces = (
        code_span(piece) if is_code else with_spans(piece)
        for is_code, piece in split_code_spans(text)
    )
    return tokens_in("".join(pieces))


_MAX_MEANINGS = 4
_MAX_SEQUENCES = 400
_QUARTERS = {f"q{number}": number for number in (1, 2, 3, 4)}


@dataclass(frozen=True)
class Tag:
    kind: str
    """Of the vocabulary; or number, date, text (columns), value, num, span, rows, unknown …"""
    words: str = ""
    name: str = ""
    """A column; or what the vocabulary says behind the colon."""
    value: str = ""
    cost: int = 0


@dataclass(frozen=True)
class _TagAt:
    tag: Tag
    length: int


def sequences(tokens: Sequence[Token], names: TableNames) -> list[list[Tag]]:
    """Every way to read the words, the closest to the names of the table first."""
    meanings = [_meanings(tokens, at, names) for at in range(len(tokens))]
    found: list[list[Tag]] = []
    _extend([], 0, meanings, found)
    found.sort(key=cost_of)
    return found


def cost_of(tags: Sequence[Tag]) -> int:
    return sum(tag.cost for tag in tags)


def _extend(
    begun: list[Tag], at: int, meanings: list[list[_TagAt]], found: list[list[Tag]]
) -> None:
    if len(found) >= _MAX_SEQUENCES:
        return
    if at == len(meanings):
        found.append([tag for tag in begun if tag.kind])
        return
    for meaning in meanings[at]:
        _extend([*begun, meaning.tag], at + meaning.length, meanings, found)


def _meanings(tokens: Sequence[Token], at: int, names: TableNames) -> list[_TagAt]:
    token = tokens[at]
    match token.kind:
        case "code":
            found = [_TagAt(tag, 1) for tag in _named(token, names)]
        case "quoted":
            found = [_TagAt(Tag("quoted", f'"{token.text}"', value=token.text), 1)]
            if token.text in names.table.names:
                found.append(_TagAt(column_tag(token.text, names, token.text, cost=1), 1))
        case "number":
            found = [_TagAt(tag, 1) for tag in _number(token, names)]
        case _:
            found = list(_worded(tokens, at, names))
    return found[:_MAX_MEANINGS] or [_TagAt(Tag("unknown", token.text), 1)]


def _named(token: Token, names: TableNames) -> Iterator[Tag]:
    table = names.table
    is_column = token.text in table.names
    is_file = token.text in table.paths
    if is_column:
        yield column_tag(token.text, names, token.text)
    if is_file:
        yield Tag("file", token.text, table.path)
    if not is_column and not is_file:
        yield Tag("newfile" if is_table(token.text) else "unknown", token.text, token.text)


def column_tag(name: str, names: TableNames, words: str, cost: int = 0) -> Tag:
    kind = names.table.kind_of(name)
    is_text = kind not in ("number", "date") or (kind == "number" and is_key(name))
    return Tag("text" if is_text else kind, words, name, cost=cost)


def _number(token: Token, names: TableNames) -> Iterator[Tag]:
    text = token.text
    if text[4:5] == "-" and len(text) > 5:
        span = text.upper()
        yield Tag("span", text, span) if period_of(span) else Tag("unknown", text)
        return
    if date_format_of([text]) == "%d.%m.%Y":
        day, month, year = text.split(".")
        yield Tag("span", text, f"{year}-{int(month):02d}-{int(day):02d}")
        return
    if len(text) == 4 and "1900" <= text <= "2100":
        yield Tag("span", text, text)
    number = _plain_number(text, names.table)
    yield Tag("num", text, number) if number else Tag("unknown", text)


def _worded(tokens: Sequence[Token], at: int, names: TableNames) -> Iterator[_TagAt]:
    window: list[Token] = []
    for token in tokens[at : at + max(_MAX_WORDS, LONGEST)]:
        if token.kind in ("code", "quoted"):
            break
        window.append(token)
    yield from _spans(window, names)
    for length in range(len(window), 0, -1):
        words = [token.plain for token in window[:length]]
        text = " ".join(token.text for token in window[:length])
        spelled = [part for word in words for part in words_of(word)] or words
        for tag in PHRASES.get(tuple(words), ()):
            kind, _, name = tag.partition(":")
            yield _TagAt(Tag(kind, text, name), length)
            if kind == "op" and length > 1:
                return  # `at most 5` is never `most 5`
        if length > _MAX_WORDS or any(token.kind == "sign" for token in window[:length]):
            continue
        yield from _superlative(" ".join(words), text, names, length)
        if length == 1 and words[0] in COUNTS:
            yield _TagAt(Tag("num", text, str(COUNTS[words[0]])), 1)
        is_short = length == 1 and len(words[0]) < 3 and not window[0].text.isupper()
        is_word = not is_short or (words[0],) not in PHRASES
        for name, _value, cost in names.columns(spelled) if is_word else ():
            if is_key(name) and names.is_rows(spelled):
                continue  # one for each row
            yield _TagAt(column_tag(name, names, text, cost + _name_cost(words)), length)
        if (
            not is_short
            and names.is_rows(spelled)
            and (length == 1 or "".join(spelled) == names.stem)
        ):
            yield _TagAt(Tag("rows", text, cost=_name_cost(words)), length)
        for name, value, cost in names.values(spelled) if not is_short else ():
            yield _TagAt(Tag("value", text, name, value, cost), length)


def _name_cost(words: Sequence[str]) -> int:
    """The cost of a name that says something itself, as `sum of` and `top 5` do."""
    are_phrases = all((word,) in PHRASES or word.isdigit() for word in words)
    return int(len(words) > 1 and are_phrases)


def _superlative(words: str, text: str, names: TableNames, length: int) -> Iterator[_TagAt]:
    if words in SUPERLATIVES:
        about, is_smallest = SUPERLATIVES[words]
        for column in names.columns([about]):
            name = "least" if is_smallest else "most"
            yield _TagAt(Tag("sup", text, column.name, name, column.cost), length)


def _spans(window: Sequence[Token], names: TableNames) -> Iterator[_TagAt]:
    """`march`, `march 2024`, `Q2`; without a year, in each of the years that the table knows."""
    if not window:
        return
    word = window[0].plain
    number = MONTHS.get(word) or _QUARTERS.get(word)
    if number is None:
        return
    period: Period = "month" if word in MONTHS else "quarter"
    after = window[1].text if len(window) > 1 else ""
    if len(after) == 4 and after.isdigit():
        span = f"{after}-{number:02d}" if period == "month" else f"{after}-Q{number}"
        yield _TagAt(Tag("span", f"{window[0].text} {after}", span), 2)
        return
    every = {
        span
        for column in names.table.of_kind("date")
        for span in spans_within(number, period, column.first, column.last)
    }
    for span in sorted(every, reverse=True):
        yield _TagAt(Tag("span", window[0].text, span), 1)
