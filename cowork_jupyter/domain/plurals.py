"""Counts with their nouns."""

from __future__ import annotations


def count_of(count: int, singular: str, plural: str = "") -> str:
    """`1 row`, `1,200 rows`, `2 entries`."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"
