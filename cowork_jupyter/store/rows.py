"""Conversion between rows and models, one rule for all tables."""

from __future__ import annotations

import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from ..domain.errors import NotFound
from ..domain.events import Event
from ..domain.messages import Message

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


def message_of(row: sqlite3.Row) -> Message:
    return Message.model_validate(decode(row))


def event_of(row: sqlite3.Row, data: Message | Any) -> Event:
    return Event(
        seq=row["seq"],
        type=row["type"],
        context_id=row["context_id"],
        job_id=row["job_id"],
        task_id=row["task_id"],
        created_at=row["created_at"],
        data=data,
    )


ALL = -1
"""SQLite's "no limit"."""
END = 2**62
"""Greater than every position."""
MAX_PAGE_SIZE = 512

M = TypeVar("M", bound=BaseModel)


class RowReader(ABC):
    """Inside a `Transaction` it sees that transaction's changes."""

    @abstractmethod
    def _rows(self, sql: str, *values: Any) -> list[sqlite3.Row]: ...

    def _list(self, model: type[M], sql: str, *values: Any) -> list[M]:
        return [model.model_validate(decode(row)) for row in self._rows(sql, *values)]

    def _get(self, model: type[M], what: str, sql: str, key: str, *more: str) -> M:
        """Raises NotFound if there is none; `what` is its name for the user."""
        for found in self._list(model, sql, key, *more):
            return found
        raise NotFound(f"There is no {what} '{key}'.", details={"id": key})
