"""Names and texts as SQL writes them."""

from __future__ import annotations


def text(value: str) -> str:
    """A literal of SQL."""
    return "'" + value.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A name of SQL, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'
