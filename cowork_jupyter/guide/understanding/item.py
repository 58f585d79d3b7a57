"""A word of a request with what it means."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    # the tag of the lexicon before its colon; or column, value, table, number, span, unknown …
    kind: str
    detail: str = ""  # the rest of the tag; or the name, number, span
    text: str = ""
    value: str = ""
    score: float = 0.0
    others: tuple[str, ...] = ()  # other columns that it may mean
    event: bool = False  # may also mean a row of the table, as `orders` does
    plural: bool = False
