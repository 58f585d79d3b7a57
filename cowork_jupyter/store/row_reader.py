"""What all questions to the store are asked with."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from typing import Any

from ..domain.errors import NotFound
from .rows import decode

ALL = -1
"""SQLite's "no limit"."""
END = 2**62
"""Behind every place."""
MAX_PAGE_SIZE = 512


class RowReader(ABC):
    """Reads rows. Asked of a `Transaction` it sees what that has changed so far."""

    @abstractmethod
    def _rows(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        """Run one query."""

    def _single_row(self, what: str, sql: str, key: str, *more: str) -> dict[str, Any]:
        for row in self._rows(sql, key, *more):
            return decode(row)
        raise NotFound(f"There is no {what} '{key}'.", details={"id": key})
