"""The confined process: reads one order from its arguments, writes one answer, exits.

The sandbox around it leaves the workspace read-only and gives no network. DuckDB itself is
restricted to the files of the order, and its configuration locked, before it sees any SQL.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import cast

import duckdb

from .answers import describe, explained, query
from .order import File, Order, TableReply
from .sources import Tables
from .sql import text

_ROOM = 1024 * 1024 * 1024
"""Bytes beside DuckDB's own limit: the interpreter, sheets and databases being copied."""
_MARK = "\x1e"
"""Precedes the answer: anything else on this output is noise."""


def main(arguments: list[str]) -> None:
    """The order comes in pieces, because the length of an argument is limited."""
    order = cast("Order", json.loads("".join(arguments)))
    sys.stdout.write(f"\n{_MARK}{json.dumps(answer(order))}\n")


def answer(order: Order) -> TableReply:
    limit = order["memory_mb"] * 1024 * 1024 + _ROOM
    import resource

    allowed = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = limit if allowed == resource.RLIM_INFINITY else min(limit, allowed)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    with tempfile.TemporaryDirectory() as folder:
        connection = _connected(order, folder)
        tables = Tables(connection, order, Path(folder))
        try:
            for source in order["sources"]:
                for file in source["files"]:
                    _check(file)
            tables.load()
            _lock(connection, tables.paths)
            return query(connection, tables, order) if order["sql"] else describe(tables, order)
        except Exception as error:  # whatever a file or query caused
            return explained(error, tables)


def _connected(order: Order, folder: str) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(
        ":memory:",
        config={
            "threads": order["threads"],
            "memory_limit": f"{order['memory_mb']}MB",
            "temp_directory": f"{folder}/spilled",
            "max_temp_directory_size": f"{order['spill_mb']}MB",
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
            "allow_unsigned_extensions": False,
        },
    )


def _check(file: File) -> None:
    """The file must be the one that was decided about, not one that replaced it since."""
    found = os.stat(file["path"], follow_symlinks=False)  # noqa: PTH116
    same = (found.st_dev, found.st_ino) == (file["device"], file["inode"])
    if not same or not stat.S_ISREG(found.st_mode):
        raise OSError(f"'{file['path']}' has just been replaced. Try again")


def _lock(connection: duckdb.DuckDBPyConnection, paths: list[str]) -> None:
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(f"SET allowed_paths = [{', '.join(map(text, paths))}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
