"""A word of a request with what it means."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    """One or several words, and what they mean."""

    kind: str
    """As in the lexicon before the colon; or column, value, table, number, span, unknown …"""
    detail: str = ""
    """What stands behind the colon there; the name, the number, the span."""
    text: str = ""
    value: str = ""
    score: float = 0.0
    others: tuple[str, ...] = ()
    """Columns that are meant as well as this one."""
    event: bool = False
    """Whether it may also mean a row of the table, as `orders` does."""
    plural: bool = False
