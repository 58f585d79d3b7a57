"""SQL quoting."""

from __future__ import annotations


def text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
