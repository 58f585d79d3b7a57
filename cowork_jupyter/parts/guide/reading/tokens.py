"""Texts as tokens, names in backticks that can be read back, and spans of time."""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Literal

from ..request import Period


def code_span(name: str) -> str:
    """A Markdown code span, with enough backticks."""
    longest = max(map(len, re.findall("`+", name)), default=0)
    ticks = "`" * (longest + 1)
    space = " " if name[:1] in ("`", " ") or name[-1:] in ("`", " ") else ""
    return f"{ticks}{space}{name}{space}{ticks}"


def code_spans(names: Sequence[str]) -> str:
    return join_words([code_span(name) for name in names])


def listed_names(names: Iterable[str], most: int = 12) -> str:
    spans = [f"`{name}`" for name in names]
    more = len(spans) - most
    return ", ".join(spans[:most]) + (f" and {more} more" if more > 0 else "")


def join_words(parts: Sequence[str], link: str = "and") -> str:
    *first, last = parts
    return f"{', '.join(first)} {link} {last}" if first else last


def quote_value(text: str) -> str:
    # A backtick would be taken for the start or the end of a name.
    return json.dumps(text, ensure_ascii=False).replace("`", "\\u0060")


def split_code_spans(text: str) -> Iterator[tuple[bool, str]]:
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


MAX_LENGTH = 4_000  # of a request; longer ones are pasted text
MAX_TOKENS = 120
Kind = Literal["code", "quoted", "number", "word", "sign"]
_TOKEN = re.compile(
    r"""(?P<quoted>"(?:[^"\\\n]|\\.){0,400}"|[“„«][^“”„«»\n]{1,200}[”“»])
    |(?P<number>\d{4}-(?:\d\d(?:-\d\d)?|[Qq][1-4])(?![\w-])|\d{1,2}\.\d{1,2}\.\d{4}(?!\w)
       |-?\d{1,15}(?:[.,]\d{1,15})*(?![^\W_]))
    |(?P<word>[^\W_](?:[^\W_]|['’](?=\w))*)
    |(?P<sign>[<>]=?|!=|[^\s\w])""",
    re.VERBOSE,
)
_SILENT = frozenset(",.:?!()'‘’-–—…[]{}\"“”„«»_*")
"""Signs that say nothing of their own."""
_OTHERS: tuple[Kind, ...] = ("quoted", "number", "sign")
_SHORTENED = {"whats": "what is", "whos": "who is", "hows": "how is", "wheres": "where is"}


@dataclass(frozen=True)
class Token:
    kind: Kind
    text: str
    plain: str


def tokens_in(text: str) -> list[Token]:
    found: list[Token] = []
    for is_code, piece in split_code_spans(text[:MAX_LENGTH]):
        if is_code:
            found.append(_token("code", piece))
            continue
        for match in _TOKEN.finditer(piece):
            if match["word"]:
                found += [_token("word", word) for word in _words(match["word"])]
            else:
                found += [_token(kind, match[kind]) for kind in _OTHERS if match[kind]]
    return [token for token in found if token.kind != "sign" or token.text not in _SILENT]


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _token(kind: Kind, text: str) -> Token:
    if kind == "quoted":
        text = _unquoted(text)
    return Token(kind, text, normalize(text))


def _unquoted(text: str) -> str:
    with suppress(ValueError):
        return str(json.loads(text))
    return text[1:-1]


def _words(word: str) -> list[str]:
    """Without contractions: `what's`."""
    bare = word.replace("’", "'")
    bare = re.sub(r"'(?:s|re|ve|ll|d|m)$", "", bare, flags=re.IGNORECASE)
    whole = _SHORTENED.get(bare.replace("'", "").lower())
    return whole.split() if whole else [bare]


def normalize(text: str) -> str:
    """Lower case, without accents."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in apart if not unicodedata.combining(sign))


@lru_cache(maxsize=8_192)
def singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PART = re.compile(r"[^\W_]+")


def words_of(name: str) -> list[str]:
    """The words of a name: `orderDate`, `order_date`, `Order date`."""
    return [normalize(part) for part in _PART.findall(_CAMEL.sub(" ", name[:300]))]


_MONTHS = (
    "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
    "august aug", "september sep sept", "october oct", "november nov", "december dec",
)  # fmt: skip
MONTHS = {word: at for at, words in enumerate(_MONTHS, 1) for word in words.split()}
# maximum span in days for each period
_PERIODS: tuple[tuple[int, Period], ...] = (
    (45, "day"), (100, "week"), (4 * 366, "month"), (10 * 366, "quarter"),
)  # fmt: skip
_SHAPES: tuple[tuple[Period, str], ...] = (
    ("year", r"\d{4}"), ("quarter", r"\d{4}-Q[1-4]"), ("month", r"\d{4}-\d\d"),
    ("day", r"\d{4}-\d\d-\d\d"),
)  # fmt: skip


def period_of(span: str) -> Period | None:
    """None if it is not a span, such as a day that no calendar has."""
    period = next((period for period, shape in _SHAPES if re.fullmatch(shape, span)), None)
    return period if period in (None, "year", "quarter") or _is_date(span) else None


def _is_date(span: str) -> bool:
    try:
        date.fromisoformat(f"{span}-01"[:10])
    except ValueError:
        return False
    return True


def previous_span(span: str) -> str:
    year = int(span[:4])
    match period_of(span):
        case "year":
            return f"{year - 1:04d}"
        case "quarter":
            number = int(span[-1])
            return f"{year - 1:04d}-Q4" if number == 1 else f"{year:04d}-Q{number - 1}"
        case "month":
            number = int(span[-2:])
            return f"{year - 1:04d}-12" if number == 1 else f"{year:04d}-{number - 1:02d}"
    return (date.fromisoformat(span) - timedelta(days=1)).isoformat()


def _span_of_day(day: str, period: Period) -> str:
    """The span of this length that contains a day."""
    match period:
        case "year":
            return day[:4]
        case "quarter":
            return f"{day[:4]}-Q{(int(day[5:7]) + 2) // 3}"
        case "month":
            return day[:7]
    return day


def spans_within(number: int, period: Period, first: str, last: str) -> list[str]:
    """Such months or quarters between two days, the latest first: all of `march`."""
    years = range(int(last[:4]), int(first[:4]) - 1, -1) if first else ()
    spans = [f"{year}-{number:02d}" if period == "month" else f"{year}-Q{number}" for year in years]
    return [
        span for span in spans if _span_of_day(first, period) <= span <= _span_of_day(last, period)
    ]


def usual_period(first: str, last: str) -> Period:
    """A few dozen points between two days; months if they are not known."""
    if not first:
        return "month"
    days = (date.fromisoformat(last) - date.fromisoformat(first)).days
    return next((period for most, period in _PERIODS if days <= most), "year")
