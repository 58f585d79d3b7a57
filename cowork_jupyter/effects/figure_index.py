"""Looks figures up by value in the outputs of code.

A figure is found where rounding a number of an output to the figure's precision gives the
figure: as is, as a fraction for a percentage, or in thousands and millions. Nothing is computed:
a difference or ratio that no output contains is not found.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ..domain.effects import DataEffect, TableState
from ..domain.figures import Figure, FigureSource
from .figures import WrittenFigure, find_figures, readings_of

MAX_OUTPUT_HEAD, MAX_OUTPUT_TAIL = 200_000, 50_000
"""Characters of an output that are read: more than any model reads of it."""

_TOKEN = re.compile(r"(?<![\w.,])[-−]?\d[\d.,_'’\u202f]*(?:[eE][-+]?\d+)?(?:\s?%)?")
_PLAIN = re.compile(r"\d+(?:\.\d+)?")
_TALKS_OF_PERCENT = re.compile(r"%|percent|pct|prozent|share|anteil|rate|ratio", re.IGNORECASE)
_MIN_DIGITS = 2
"""Digits a scaled figure needs to be found without its scale: `1.92 M` as `1.92`."""


@dataclass(frozen=True)
class Output:
    text: str
    source: FigureSource | None = None

    @cached_property
    def numbers(self) -> Numbers:
        return Numbers.of(self.text)

    @classmethod
    def of_effect(cls, effect: DataEffect) -> Output:
        facts = [effect.line, *map(_facts_of, filter(None, (effect.before, effect.after)))]
        call_id = None if effect.cell_id else effect.call_id
        return cls(" ".join(facts), FigureSource(cell_id=effect.cell_id, call_id=call_id))


@dataclass(frozen=True)
class Numbers:
    whole: list[float] = field(default_factory=list)
    decimal: list[float] = field(default_factory=list)
    percent: list[float] = field(default_factory=list)
    """Those with a percent sign; they are also in `decimal`."""
    talks_of_percent: bool = False
    """Whether a whole number in the text may be a percentage."""

    @classmethod
    def of(cls, text: str) -> Numbers:
        if len(text) > MAX_OUTPUT_HEAD + MAX_OUTPUT_TAIL:
            text = f"{text[:MAX_OUTPUT_HEAD]}\n{text[-MAX_OUTPUT_TAIL:]}"
        whole: set[float] = set()
        decimal: set[float] = set()
        percent: set[float] = set()
        unclear: list[str] = []
        for token in set(_TOKEN.findall(text)):
            try:
                value = float(token)
            except ValueError:
                unclear.append(token)
            else:
                (whole if token.lstrip("-").isdigit() else decimal).add(value)
        for token in unclear:
            for value, is_whole in _values_of(token):
                (whole if is_whole and not token.endswith("%") else decimal).add(value)
                if token.endswith("%"):
                    percent.add(value)
        talks = bool(_TALKS_OF_PERCENT.search(text))
        return cls(sorted(whole), sorted(decimal), sorted(percent), talks)

    def have(self, figure: WrittenFigure) -> bool:
        for numbers, value, reach in _spans(figure, self):
            place = bisect_left(numbers, value - reach)
            if place < len(numbers) and numbers[place] <= value + reach:
                return True
        return False


def look_up(text: str, outputs: Iterable[Output], known: Iterable[Output] = ()) -> list[Figure]:
    """The distinct figures of a text, each with the first output that contains it.

    Outputs are ordered best first. Numbers in `known`, such as the user's own words, are left out,
    and so are those that only an output without a source has.
    """
    figures: dict[str, Figure] = {}
    in_order, never_listed = list(outputs), list(known)
    for figure in find_figures(text):
        if figure.text in figures or any(output.numbers.have(figure) for output in never_listed):
            continue
        has_it = next((output for output in in_order if output.numbers.have(figure)), None)
        if has_it and not has_it.source:
            continue
        source = has_it.source if has_it else None
        figures[figure.text] = Figure(text=figure.text, value=figure.value, source=source)
    return list(figures.values())


def without_source(figures: Iterable[Figure]) -> list[str]:
    return [figure.text for figure in figures if figure.source is None]


Span = tuple[list[float], float, float]


def _spans(figure: WrittenFigure, numbers: Numbers) -> Iterator[Span]:
    for kind, value, reach in _wanted(figure, numbers):
        yield kind, value, reach
        if figure.may_be_loss:
            yield kind, -value, reach


def _wanted(figure: WrittenFigure, numbers: Numbers) -> Iterator[Span]:
    for reading in figure.readings:
        value, reach = reading.value, reading.reach
        if figure.is_percent:
            yield numbers.decimal, value, reach
            yield numbers.decimal, value / 100, reach / 100
            if numbers.talks_of_percent:
                yield numbers.whole, value, reach
            continue
        for scale in figure.scales:
            yield numbers.whole, value * scale, reach * scale
            yield numbers.decimal, value * scale, reach * scale
        if figure.scale != 1 and len(re.findall(r"\d", figure.text)) >= _MIN_DIGITS:
            yield numbers.decimal, value, reach
            yield numbers.whole, value, reach
        if 0 < abs(value) < 1:
            yield numbers.percent, value * 100, reach * 100


def _values_of(token: str) -> Iterator[tuple[float, bool]]:
    """The values of a token that `float` does not accept, each with whether it is whole."""
    digits = token.rstrip("%").strip()
    sign = -1 if digits[0] in "-−" else 1
    digits, _, power = re.sub(r"^[-−]", "", digits).rstrip(".,'’_").replace("E", "e").partition("e")
    # A program's `1,234` may be either: it is no text in one language.
    readings = readings_of(digits, german=True) if digits else []
    if not readings:  # `1,2,3` is a list
        parts = (part for part in re.split(r"[,_'’]", digits) if _PLAIN.fullmatch(part))
        readings = [reading for part in parts for reading in readings_of(part)]
    for reading in readings:
        factor = 10.0 ** int(power) if power and abs(int(power)) < 300 else 1.0
        yield sign * reading.value * factor, reading.step == 1 and not power


def _facts_of(table: TableState) -> str:
    facts: list[object] = [table.rows, table.columns, table.duplicates]
    for column in table.fields:
        facts += [column.missing, column.distinct, column.low, column.high, column.total]
    return " ".join(str(fact) for fact in facts if fact is not None)
