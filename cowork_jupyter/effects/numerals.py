from __future__ import annotations

import re
from dataclasses import dataclass

_GERMAN = re.compile(
    r"\d\.\d{3},\d|\b(?:der|das|und|ist|sind|wurden?|mit|für|nicht|eine?r?|zum|beträgt|Prozent|Zeilen"
    r"|Spalten|Umsatz|Werte?|Mittelwert|Durchschnitt|Anteil|Summe|Mio|Mrd|Tsd|Tausend|Millionen)\b"
)
_SPACES = re.compile(r"[\s'’_\u202f\u00a0\u2009]")
_TIE = 1e-9
"""Relative slack around a half, which may be rounded in either direction."""


@dataclass(frozen=True)
class Reading:
    value: float
    step: float
    """What a unit of its last digit stands for: 0.1 for `61.4`."""

    @property
    def reach(self) -> float:
        """Maximum distance of a number that rounds to it. Halves go both ways."""
        return self.step / 2 * (1 + _TIE) + abs(self.value) * 1e-12

    def times(self, factor: float, widths: float = 1.0) -> Reading:
        """The same in another unit, with `widths` times the step."""
        return Reading(self.value * factor, self.step * abs(factor) * widths)


def is_german(text: str) -> bool:
    """Whether a text reads as German, where a comma is the decimal mark."""
    return _GERMAN.search(text) is not None


def readings_of(written: str, *, german: bool = False) -> list[Reading]:
    """Possible meanings of digits with separators, likeliest first; empty if it is not a number."""
    digits = _SPACES.sub("", written)
    marks = [char for char in digits if char in ".,"]
    if not marks:
        return [_reading(digits)]
    last = marks[-1]
    whole, _, rest = digits.rpartition(last)
    if len(set(marks)) == 2:
        other = "." if last == "," else ","
        return [_reading(whole.replace(other, ""), rest)] if last not in whole else []
    grouped = re.fullmatch(r"[1-9]\d{0,2}(?:[.,]\d{3})+", digits)
    thousands = [_reading(digits.replace(last, ""))] if grouped else []
    decimal = [_reading(whole, rest)] if len(marks) == 1 else []
    if not (thousands and decimal):
        return thousands or decimal
    # In English it is clear which is meant; who writes German may still write numbers in English.
    english = [*thousands, *decimal] if last == "," else [*decimal, *thousands]
    return english[::-1] if german else english[:1]


def _reading(whole: str, decimals: str = "") -> Reading:
    return Reading(float(f"{whole or 0}.{decimals or 0}"), 10.0 ** -len(decimals))
