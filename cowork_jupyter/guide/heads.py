"""The heads of tables: what the first lines of a file, or a look at its values, tell.

Text with separators is read as text. For everything else there is DuckDB behind `query_table`,
else pandas in scratch; JSON can be read without either.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from .columns import MAX_VALUES, ColumnFacts, column_of
from .script import Script
from .sql import identifier, literal, moment
from .tables import LINES_READ, Table, table_from, table_of
from .words import first_line

_MORE_LINES = 5_000
_MAX_LOOKED_UP = 40  # columns whose values are looked up in the whole file
_READERS = {
    "json": "read_json({path!r})",
    "json lines": "read_json({path!r}, lines=True)",
    "parquet": "read_parquet({path!r})",
    "excel": "read_excel({path!r})",
}
_NEEDS = {
    "json": "DuckDB or pandas",
    "json lines": "DuckDB or pandas",
    "parquet": "DuckDB, or pandas with pyarrow",
    "excel": "DuckDB with python-calamine, or pandas with openpyxl",
}


@dataclass(frozen=True)
class Head:
    table: Table | None
    why: str = ""


def head_of(script: Script, path: str) -> Head:
    kind = Table(path, "", (), has_header=True, first_line=0).format
    if kind == "text":
        return _text_head(script, path)
    rows, why = _rows(script, path, kind)
    table = table_from(path, rows) if rows else None
    return Head(table, why or ("" if table else "it is not a table I can read"))


def query(script: Script, paths: Sequence[str], select: str) -> tuple[list[dict[str, Any]], str]:
    """The rows of a SELECT, or why there are none.

    Rows come as JSON, since a printed table cannot be split reliably.
    """
    if not script.may("query_table"):
        return [], "there is no DuckDB here"
    sql = f"SELECT to_json(r) AS r FROM ({select}) r"
    result = script.call("query_table", paths=list(paths), sql=sql, max_rows=1000)
    return (_objects(result.text), "") if result.ok else ([], first_line(result.text))


def with_values(script: Script, table: Table) -> Table:
    """Complete the known values and date ranges from the whole file."""
    if table.lines is not None and table.lines <= LINES_READ:
        return table
    textual = [column for column in table.columns if column.kind in ("text", "date")]
    wanted = textual[:_MAX_LOOKED_UP]
    if not wanted:
        return table
    rows, why = query(
        script, [table.path], " UNION ALL ".join(_looked_up(column, table) for column in wanted)
    )
    if why:
        return _from_more_lines(script, table)
    found = {row["name"]: row for row in rows if isinstance(row.get("name"), str)}
    columns = [_known(column, found.get(column.name)) for column in table.columns]
    return replace(table, columns=tuple(columns))


def _looked_up(column: ColumnFacts, table: Table) -> str:
    name, path = literal(column.name), literal(table.path)
    if column.kind == "date":
        when = moment(column)
        ends = [f"CAST(CAST({end}({when}) AS DATE) AS VARCHAR)" for end in ("min", "max")]
        return f"SELECT {name} AS name, [{', '.join(ends)}] AS found FROM {path}"
    values = f"SELECT DISTINCT CAST({identifier(column.name)} AS VARCHAR) AS v FROM {path}"
    return f"SELECT {name} AS name, list(v) AS found FROM ({values} LIMIT {MAX_VALUES + 1})"


def _known(column: ColumnFacts, row: dict[str, Any] | None) -> ColumnFacts:
    found = [value for value in (row or {}).get("found") or [] if isinstance(value, str)]
    if not found:
        return column
    if column.kind == "date":
        return replace(column, first=found[0], last=found[-1])
    if len(found) > MAX_VALUES:
        return replace(column, values=(), distinct=len(found))
    known = column_of(column.name, [*found, *column.untidy])
    return known if known.kind == "text" else column


def _from_more_lines(script: Script, table: Table) -> Table:
    if table.format != "text":
        return table
    more = _text_head(script, table.path, _MORE_LINES).table
    return more if more and more.names == table.names else table


def _text_head(script: Script, path: str, lines: int = LINES_READ) -> Head:
    result = script.call("read_file", path=path, end_line=lines)
    if not result.ok:
        return Head(None, first_line(result.text))
    facts = result.facts
    if facts.get("binary") or not facts["total_lines"]:
        return Head(None, "it is not a table I can read")
    # Below them the tool says how to read on.
    text = result.text.split("\n")[: facts["last_line"] - facts["first_line"] + 1]
    table = table_of(path, "\n".join(text), facts["encoding"], facts["total_lines"])
    return Head(table, "" if table else "it is not a table I can read")


def _rows(script: Script, path: str, kind: str) -> tuple[list[dict[str, Any]], str]:
    rows, why = query(script, [path], f"SELECT * FROM {literal(path)} LIMIT {LINES_READ}")
    if rows or not why:
        return rows, why
    if kind.startswith("json"):
        rows = _json_rows(script, path)
        if rows:
            return rows, ""
    code = (
        f"import pandas as pd\nprint(pd.{_READERS[kind].format(path=path)}.head({LINES_READ})"
        ".to_json(orient='records', lines=True, date_format='iso', date_unit='s'))"
    )
    if script.may("run_code"):
        result = script.call("run_code", code=code, where="scratch")
        if result.ok and (rows := _objects(result.text)):
            return rows, ""
        why = first_line(result.text) if not result.ok else why
    return [], f"that needs {_NEEDS[kind]} ({why.rstrip('.')})"


def _json_rows(script: Script, path: str) -> list[dict[str, Any]]:
    """A list of objects, possibly wrapped in an object, or JSON lines."""
    result = script.call("read_file", path=path)
    if not result.ok or result.facts.get("binary"):
        return []
    lines = result.text.split("\n")[: result.facts.get("last_line", 0)]
    try:
        value = json.loads("\n".join(lines))
    except ValueError:
        return _objects(result.text)[:LINES_READ]
    lists = (
        [row_list for row_list in value.values() if isinstance(row_list, list)]
        if isinstance(value, dict)
        else []
    )
    rows = lists[0] if len(lists) == 1 else value
    records = rows if isinstance(rows, list) else []
    return [row for row in records if isinstance(row, dict)][:LINES_READ]


def _objects(text: str) -> list[dict[str, Any]]:
    found = []
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                found.append(json.loads(line))
            except ValueError:  # cut in its middle
                continue
    return found
