"""The words of a request as tags, in each of the ways in which they can be meant for one table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..file_names import is_table
from ..request import Period
from ..tables import date_format_of, is_key
from .names import MAX_WORDS, TableNames, plain_number
from .periods import MONTHS, spans_within
from .tokens import Token, words_of
from .vocabulary import COUNTS, LONGEST, PHRASES, SUPERLATIVES

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
    is_file = token.text in (table.path, table.path.rsplit("/", 1)[-1])
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
        yield Tag("span", text, text.upper())
        return
    if date_format_of([text]) == "%d.%m.%Y":
        day, month, year = text.split(".")
        yield Tag("span", text, f"{year}-{int(month):02d}-{int(day):02d}")
        return
    if len(text) == 4 and "1900" <= text <= "2100":
        yield Tag("span", text, text)
    number = plain_number(text, names.table)
    yield Tag("num", text, number) if number else Tag("unknown", text)


def _worded(tokens: Sequence[Token], at: int, names: TableNames) -> Iterator[_TagAt]:
    window: list[Token] = []
    for token in tokens[at : at + max(MAX_WORDS, LONGEST)]:
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
        if length > MAX_WORDS or any(token.kind == "sign" for token in window[:length]):
            continue
        yield from _superlative(" ".join(words), text, names, length)
        if length == 1 and words[0] in COUNTS:
            yield _TagAt(Tag("num", text, str(COUNTS[words[0]])), 1)
        is_short = length == 1 and len(words[0]) < 3 and not window[0].text.isupper()
        is_word = not is_short or (words[0],) not in PHRASES
        for name, _value, cost in names.columns(spelled) if is_word else ():
            if is_key(name) and names.is_rows(spelled):
                continue  # one for each row
            yield _TagAt(column_tag(name, names, text, cost + _said(words)), length)
        if (
            not is_short
            and names.is_rows(spelled)
            and (length == 1 or "".join(spelled) == names.stem)
        ):
            yield _TagAt(Tag("rows", text, cost=_said(words)), length)
        for name, value, cost in names.values(spelled) if not is_short else ():
            yield _TagAt(Tag("value", text, name, value, cost), length)


def _said(words: Sequence[str]) -> int:
    """The cost of a name that says something itself, as `sum of` and `top 5` do."""
    is_said = all((word,) in PHRASES or word.isdigit() for word in words)
    return int(len(words) > 1 and is_said)


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
