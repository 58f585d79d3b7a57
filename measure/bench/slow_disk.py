"""A server extension of the benches: every commit takes as long as on a slow network disk.

SQLite calls `fsync` where Python cannot see it. So the statement that would wait for the disk
waits itself, in the thread that runs it and without holding Python's lock, as `fsync` does.
"""

from __future__ import annotations

import sqlite3
import time
from functools import partial
from typing import Any

COMMIT_SECONDS = 0.1


class SlowConnection(sqlite3.Connection):
    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        if sql == "COMMIT":
            time.sleep(COMMIT_SECONDS)
        return super().execute(sql, *values)


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(_app: object) -> None:
    sqlite3.connect = partial(sqlite3.connect, factory=SlowConnection)  # type: ignore[assignment]
