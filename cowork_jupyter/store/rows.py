"""Conversion between rows and models, one rule for all tables."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

JSON_COLUMNS = frozenset(
    {"content", "data", "dependencies", "usage", "answer", "plan", "files_read", "before", "after"}
)


def to_json(value: Any) -> str:
    """JSON that SQLite accepts: lone surrogates stay escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text if _is_utf8(text) else json.dumps(value, separators=(",", ":"))


def _is_utf8(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def encode(values: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(_encode(name, value) for name, value in values.items())


def _encode(name: str, value: Any) -> Any:
    if value is not None and name in JSON_COLUMNS:
        return to_json(value)
    if isinstance(value, str) and not _is_utf8(value):
        return value.encode(errors="backslashreplace").decode()
    return value


def decode(row: sqlite3.Row) -> dict[str, Any]:
    return {
        name: json.loads(row[name]) if name in JSON_COLUMNS and row[name] is not None else row[name]
        for name in row.keys()  # noqa: SIM118 (iterating a Row gives values)
    }


def insert(table: str, columns: Sequence[str]) -> str:
    marks, names = ", ".join("?" * len(columns)), ", ".join(f'"{name}"' for name in columns)
    return f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 (our names)


def upsert(table: str, columns: Sequence[str], key: str = "id") -> str:
    """Insert, or update the row with the same key in place."""
    fixed = key.split(",")
    changes = ", ".join(f'"{name}"=excluded."{name}"' for name in columns if name not in fixed)
    return f"{insert(table, columns)} ON CONFLICT({key}) DO UPDATE SET {changes}"
