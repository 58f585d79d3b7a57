"""Reads the sentences of `sentences` back, exactly; also after a user has edited them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn, TypeVar, get_args

from ..request import Aggregate, Filter, Operator, Period, Request, Verb
from ..tables import Table
from .periods import period_of
from .sentences import AGGREGATES, DRAWN, GAPS, OPERATORS
from .tokens import RESERVED, split_code_spans

_MAX_LENGTH = 20_000
_TOKEN = re.compile(
    r"""(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<word>[\w.+-]+)|(?P<sign>[,:=])|\s+|(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_LONGEST_FIRST = sorted(OPERATORS.items(), key=lambda pair: -len(pair[1]))
_SIMPLE: dict[str, Verb] = {
    "columns": "columns", "rows": "preview", "missing values": "missing",
    "duplicate rows": "duplicates", "duplicate values": "duplicates", "outliers": "outliers",
    "distribution": "distribution",
}  # fmt: skip
_Key = TypeVar("_Key")
_Fields = dict[str, Any]  # arguments of `Request`


class NotCanonical(Exception):
    """Not a canonical sentence, or it names unknown columns or tables."""


def parse_sentence(text: str, tables: Sequence[Table]) -> Request | None:
    text = text.strip().removesuffix(".")
    if len(text) > _MAX_LENGTH or "`" not in text:
        return None
    try:
        parser = _Parser(text, tables)
        request = parser.request()
    except NotCanonical:
        return None
    return request if parser.is_done else None


class _Parser:
    def __init__(self, text: str, tables: Sequence[Table]) -> None:
        self.tokens = _tokens(text)
        self.tables = {table.path: table for table in tables}
        self.at = 0

    @property
    def is_done(self) -> bool:
        return self.at == len(self.tokens)

    def request(self) -> Request:
        if self.accept("profile"):
            return Request("profile", self.table())
        if self.accept("clean"):
            table = self.table()
            gaps = self.expect_any(GAPS) if self.sign(":") else "keep"
            return Request("clean", table, gaps=gaps)
        if self.accept("join"):
            return self.join()
        return self.general()

    def join(self) -> Request:
        table = self.table()
        self.expect("with")
        other = self.table()
        self.expect("on")
        left_key = self.code()
        right_key = self.code() if self.sign("=") else left_key
        if left_key not in table.names or right_key not in other.names:
            raise NotCanonical
        return Request("join", table, (left_key, right_key), other=other)

    def general(self) -> Request:
        fields = self.core()
        if self.accept("by"):
            self.by(fields)
        self.expect("in")
        table = self.table()
        if self.accept("where"):
            fields["filters"] = self.filters()
        if self.sign(","):
            self.order(fields)
        return self.checked(Request(table=table, **fields))

    def core(self) -> _Fields:
        for words, verb in _SIMPLE.items():
            if self.accept(words):
                return {"verb": verb, "columns": self.of()}
        if self.accept("first"):
            limit = self.number()
            self.expect("rows")
            return {"verb": "preview", "limit": limit, "columns": self.of()}
        if self.accept("relation between all numbers"):
            return {"verb": "relate"}
        if self.accept("relation between"):
            return {"verb": "relate", "columns": self.names()}
        if self.accept("baseline model for"):
            names = (self.code(), *(self.names() if self.accept("from") else ()))
            return {"verb": "model", "columns": names}
        if self.accept("comparison of the"):
            return self.comparison()
        chart = self.accept_any(DRAWN)
        if chart and not self.accept("of the"):
            columns = self.of()
            if chart == "scatter":
                return {"verb": "relate", "chart": chart, "columns": columns}
            return {"verb": "distribution", "chart": chart, "columns": columns}
        aggregate, columns = self.measure()
        return {"verb": "aggregate", "chart": chart, "aggregate": aggregate, "columns": columns}

    def comparison(self) -> _Fields:
        aggregate, columns = self.measure()
        self.expect("between")
        first = self.value()
        self.expect("and")
        second = self.value()
        self.expect("of")
        name = self.code()
        found = {"verb": "compare", "aggregate": aggregate, "columns": columns}
        found |= {"between": (first, second)}
        period = period_of(first)
        return found | ({"time": name, "period": period} if period else {"groups": (name,)})

    def measure(self) -> tuple[Aggregate, tuple[str, ...]]:
        if self.accept("number of rows"):
            return "count", ()
        if self.accept("number of different"):
            return "distinct", self.names()
        if self.accept("number of"):
            names = self.names()
            self.expect("values")
            return "count", names
        aggregate = self.expect_any(AGGREGATES)
        self.expect("of")
        return aggregate, () if self.accept("rows") else self.names()

    def by(self, fields: _Fields) -> None:
        groups = list(fields.get("groups", ()))
        period = next((each for each in get_args(Period) if self.accept(f"{each} of")), None)
        if period:
            fields["period"], fields["time"] = period, self.code()
        else:
            groups.append(self.code())
        while self.sign(",") or self.accept("and"):
            groups.append(self.code())
        fields["groups"] = tuple(groups)

    def filters(self) -> tuple[Filter, ...]:
        found = [self.filter()]
        while self.accept("and"):
            found.append(self.filter())
        return tuple(found)

    def filter(self) -> Filter:
        column = self.code()
        operator = self.operator()
        match operator:
            case "missing" | "known":
                return Filter(column, operator)
            case "between":
                low = self.value()
                self.expect("and")
                return Filter(column, operator, (low, self.value()))
            case "in":
                values = [self.value()]
                while self.is_list() and self.sign(","):
                    values.append(self.value())
                return Filter(column, operator, tuple(values))
        return Filter(column, operator, (self.value(),))

    def is_list(self) -> bool:
        """A comma may also introduce `top 5`."""
        after = self.tokens[self.at + 1 : self.at + 2]
        return bool(after) and after[0] not in [("word", w) for w in ("top", "bottom", "smallest")]

    def operator(self) -> Operator:
        if self.accept("is in"):
            return "="
        found = (operator for operator, words in _LONGEST_FIRST if self.accept(words))
        return next(found, None) or _reject()

    def order(self, fields: _Fields) -> None:
        if self.accept("smallest first"):
            fields["ascending"] = True
            return
        fields["ascending"] = self.accept("bottom")
        if not fields["ascending"]:
            self.expect("top")
        fields["limit"] = self.number()
        if self.accept("of each"):
            period, groups = fields.get("period"), fields.get("groups", ())
            is_first = self.accept(period) if period else (self.code(),) == groups[:1]
            fields["limit_per_group"] = is_first or _reject()

    def checked(self, request: Request) -> Request:
        """All names must exist; a date filter determines `time`."""
        filtered = [row_filter.column for row_filter in request.filters]
        dates = [name for name in filtered if request.table.kind_of(name) == "date"]
        time = request.time or (dates[0] if dates else "")
        names = [*request.columns, *request.groups, *([time] if time else []), *filtered]
        if not set(names) <= set(request.table.names):
            raise NotCanonical
        return replace(request, time=time)

    # The tokens

    def accept(self, phrase: str) -> bool:
        words = phrase.split()
        ahead = self.tokens[self.at : self.at + len(words)]
        if [(kind, text.lower()) for kind, text in ahead] != [("word", word) for word in words]:
            return False
        self.at += len(words)
        return True

    def expect(self, phrase: str) -> None:
        if not self.accept(phrase):
            raise NotCanonical

    def expect_any(self, phrases: Mapping[_Key, str]) -> _Key:
        return self.accept_any(phrases) or _reject()

    def accept_any(self, phrases: Mapping[_Key, str]) -> _Key | None:
        return next((key for key, phrase in phrases.items() if self.accept(phrase)), None)

    def sign(self, sign: str) -> bool:
        found = self.tokens[self.at : self.at + 1] == [("sign", sign)]
        self.at += found
        return found

    def take(self, *kinds: str) -> str:
        if self.is_done or self.tokens[self.at][0] not in kinds:
            raise NotCanonical
        self.at += 1
        return self.tokens[self.at - 1][1]

    def code(self) -> str:
        return self.take("code")

    def number(self) -> int:
        text = self.take("word")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else _reject()

    def of(self) -> tuple[str, ...]:
        return self.names() if self.accept("of") else ()

    def names(self) -> tuple[str, ...]:
        found = [self.code()]
        while self.sign(",") or self.accept("and"):
            found.append(self.code())
        return tuple(found)

    def table(self) -> Table:
        return self.tables.get(self.code()) or _reject()

    def value(self) -> str:
        if not self.is_done and self.tokens[self.at][0] == "quoted":
            return str(json.loads(self.take("quoted")))
        words = [self.take("word")]
        while not self.is_done and self.tokens[self.at][0] == "word":
            if self.tokens[self.at][1].casefold() in RESERVED:
                break
            words.append(self.take("word"))
        return " ".join(words)


def _tokens(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for is_code, piece in split_code_spans(text):
        if is_code:
            found.append(("code", piece))
            continue
        matches = _TOKEN.finditer(piece)
        found += [(match.lastgroup, match[0]) for match in matches if match.lastgroup]
    return found


def _reject() -> NoReturn:
    raise NotCanonical
