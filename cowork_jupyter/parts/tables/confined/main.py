"""Describes a table, or runs a SELECT."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

from .engine import duckdb
from .order import DescribedColumn, File, Order, TableReply
from .rows import identifier, text
from .sources import Tables

MAX_COLUMNS = 200
MAX_COUNTED = 100_000
"""Rows of a result that are counted, so that its end can be shown."""
MAX_TAIL = 5
MAX_CELL = 300
_FIRST_ROWS = 3
_MAX_VALUES = 6
_MAX_KNOWN = 500
_AT_ONCE = 2048
_ORDERED = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DOUBLE|FLOAT|DECIMAL.*|DATE|TIME.*")
_NOT_FOUND = re.compile(r"not found|does not (?:exist|have a column)")
_COUNT_REJECTED = "SELECT count(*), min(line) FROM reject_errors"

T = TypeVar("T")


def describe(tables: Tables, order: Order) -> TableReply:
    loaded = [table for table in tables.found if table.scan]
    others = [table.label for table in tables.found if table.label]
    if not loaded:
        what = f"There is no table '{order['table']}' in it." if order["table"] else "It is empty."
        return TableReply(error=what, known=others)
    table = loaded[0]
    found = _retry_leniently(tables, lambda: _facts(tables.connection, table.name))
    found["table"] = table.label
    found["others"] = [other for other in others if other != table.label]
    return found


def query(connection: duckdb.DuckDBPyConnection, tables: Tables, order: Order) -> TableReply:
    """Rows of a SELECT: the first, and the last where there are not too many."""
    statements = connection.extract_statements(order["sql"])
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        return TableReply(error="Only one SELECT is allowed.")
    found = _retry_leniently(
        tables, lambda: _rows(connection.execute(statements[0]), order["max_rows"])
    )
    found["others"] = [table.name for table in tables.found]
    return found


def explain_error(error: Exception, tables: Tables) -> TableReply:
    """A short error, with the known names where one was not found."""
    said = str(error) or type(error).__name__
    if isinstance(error, MemoryError | duckdb.OutOfMemoryException):
        return TableReply(
            error="It needs more memory than is available. Select or aggregate less at once."
        )
    if isinstance(error, duckdb.PermissionException):
        place = re.search(r'"(.*?)" - ', said)
        what = f"'{place[1]}'" if place else "That"
        return TableReply(
            error=f"{what} is not among the paths of this call, and nothing else is read."
        )
    for copy, path in tables.copied.items():
        said = said.replace(copy, path)
    short = re.split(r"\nCandidate |\nDid you mean|\nPossible |\nThe search space|\n\n", said)[0]
    short = re.sub(r"^\w+(?: \w+)? Error: ", "", short).replace("\n", " ").strip()
    known: list[str] = []
    if isinstance(error, duckdb.CatalogException):
        known = [table.name for table in tables.found]
    elif isinstance(error, duckdb.BinderException) and _NOT_FOUND.search(said):
        known = list(_columns(tables))
    return TableReply(error=short[:500], known=known[:_MAX_KNOWN])


def _retry_leniently(tables: Tables, ask: Callable[[], TableReply]) -> TableReply:
    """Ask; if a CSV file differs from its head, read it leniently and ask again."""
    try:
        tables.show()
        found = ask()
    except duckdb.Error as error:
        if "CSV" not in str(error) or not tables.read_leniently():
            raise
        tables.notes.append("types fit all rows; the first rows alone were misleading")
        tables.show()
        found = ask()
    found["notes"] = [*tables.notes, *_rejected_rows(tables)]
    return found


def _rejected_rows(tables: Tables) -> Iterator[str]:
    try:
        number, line = tables.connection.execute(_COUNT_REJECTED).fetchall()[0]
    except duckdb.CatalogException:  # every row was valid
        return
    if number:
        yield f"rows left out because they are unreadable: {number:,}, the first at line {line:,}"


def _facts(connection: duckdb.DuckDBPyConnection, name: str) -> TableReply:
    scan = identifier(name)
    listed = connection.execute(f"DESCRIBE FROM {scan}").fetchall()
    columns = [(str(row[0]), str(row[1])) for row in listed[:MAX_COLUMNS]]
    asked = ["count(*)", *(part for column in columns for part in _aggregates(*column))]
    row = connection.execute(f"SELECT {', '.join(asked)} FROM {scan}").fetchall()[0]  # noqa: S608
    begins = connection.execute(f"FROM {scan} LIMIT {_FIRST_ROWS}").fetchall()
    each = [row[start : start + 5] for start in range(1, len(row), 5)]
    return TableReply(
        columns=[str(column[0]) for column in listed],
        rows=row[0],
        described=[
            DescribedColumn(
                name=name,
                type=kind,
                missing=row[0] - present,
                distinct=distinct,
                low=low or "",
                high=high or "",
                common=[str(value) for value in common or [] if value is not None],
            )
            for (name, kind), (present, distinct, low, high, common) in zip(
                columns, each, strict=True
            )
        ],
        head=[[_cell(value) for value in begin] for begin in begins],
    )


def _aggregates(name: str, kind: str) -> tuple[str, ...]:
    """Aggregates for a column: its range if it is ordered, else frequent values."""
    column = identifier(name)
    has_order = bool(_ORDERED.fullmatch(kind))
    words = f"left({column}::VARCHAR, {MAX_CELL})"
    return (
        f"count({column})",
        f"approx_count_distinct({column})",
        f"min({column})::VARCHAR" if has_order else "NULL",
        f"max({column})::VARCHAR" if has_order else "NULL",
        f"[min({column})::VARCHAR]" if has_order else f"approx_top_k({words}, {_MAX_VALUES})",
    )


def _rows(result: duckdb.DuckDBPyConnection, max_rows: int) -> TableReply:
    columns = [str(column[0]) for column in result.description or []]
    head: list[tuple[Any, ...]] = []
    tail: deque[tuple[Any, ...]] = deque(maxlen=min(MAX_TAIL, max_rows))
    count = 0
    while count < MAX_COUNTED and (rows := result.fetchmany(_AT_ONCE)):
        room = max(0, max_rows - count)
        head += rows[:room]
        tail.extend(rows[room:])
        count += len(rows)
    is_all = count < MAX_COUNTED or not result.fetchmany(1)
    return TableReply(
        columns=columns,
        head=[[_cell(value) for value in row] for row in head],
        tail=[[_cell(value) for value in row] for row in tail] if is_all else [],
        rows=count,
        is_all=is_all,
    )


def _columns(tables: Tables) -> Iterator[str]:
    for table in tables.found:
        if table.scan:
            rows = tables.connection.execute(f"DESCRIBE FROM {identifier(table.name)}").fetchall()
            yield from (str(row[0]) for row in rows)


def _cell(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    text = f"\\x{value[:MAX_CELL].hex()}" if isinstance(value, bytes) else str(value)
    return text if len(text) <= MAX_CELL else f"{text[: MAX_CELL - 1]}…"


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
    allowed_bytes = limit if allowed == resource.RLIM_INFINITY else min(limit, allowed)
    resource.setrlimit(resource.RLIMIT_DATA, (allowed_bytes, allowed_bytes))
    with tempfile.TemporaryDirectory() as folder:
        connection = _connect(order, folder)
        tables = Tables(connection, order, Path(folder))
        try:
            for source in order["sources"]:
                for file in source["files"]:
                    _check_file(file)
            tables.load()
            _lock(connection, tables.paths)
            return query(connection, tables, order) if order["sql"] else describe(tables, order)
        except Exception as error:  # whatever a file or query caused
            return explain_error(error, tables)


def _connect(order: Order, folder: str) -> duckdb.DuckDBPyConnection:
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


def _check_file(file: File) -> None:
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
