"""The table tools. They exist where DuckDB is installed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Annotated

from pydantic import Field

from ...domain.roles import Permission
from ..base import Tool, ToolContext, ToolParameters, ToolResult, tool
from ..kernel.inside.plain import is_secret_name
from ..table_facts import MISSING, TableColumn
from .confined.order import Order, Source, TableReply
from .process import ask, limits
from .sources import find_source

_MAX_TEXT = 200_000
"""Characters of rows that are returned; they are truncated for the model elsewhere."""
_SPELLINGS = sorted({form(text) for text in MISSING for form in (str.lower, str.upper)} | {"NaN"})
_WHERE = "A file, a folder of files that make one table, or a pattern like 'data/*.csv'."

SELECT_SECONDS = 120.0

Seconds = Annotated[float, Field(gt=0, le=3600)]
Path = Annotated[str, Field(max_length=4096, description=_WHERE)]


class DescribeTable(ToolParameters):
    """Which table."""

    path: Path
    table: Annotated[
        str, Field(max_length=200, description="Sheet of a workbook, or table of a database.")
    ] = ""
    timeout_seconds: Seconds = 300


class QueryTable(ToolParameters):
    """A SELECT, and the tables that it is about."""

    paths: Annotated[list[Path], Field(min_length=1, max_length=20)]
    sql: Annotated[
        str,
        Field(
            min_length=1,
            max_length=20_000,
            description="One SELECT.",
        ),
    ]
    max_rows: Annotated[int, Field(ge=1, le=1000)] = 50
    timeout_seconds: Seconds = 120


@tool(category="tables", permissions=[Permission.READ_FILES], idempotent=True)
async def describe_table(parameters: DescribeTable, context: ToolContext) -> ToolResult:
    """Get a table's columns, types, number of rows, missing and distinct values, and ranges.

    CSV, TSV, JSON, Parquet, Excel and SQLite files of any size.
    """
    path = parameters.path
    sources = await asyncio.to_thread(_sources, [path], context)
    order = _order(sources, table=parameters.table)
    answer = await ask(order, context, parameters.timeout_seconds)
    named = f"{path} ({answer['table']})" if answer["table"] else path
    size = f"{_counted(answer['rows'], 'row')}, {_counted(len(answer['columns']), 'column')}"
    lines = [
        f"{named}: {size}",
        *_column_lines(answer),
        *_first_rows(answer),
        *_notes(answer),
    ]
    if answer["others"]:
        lines.append(f"[other tables in the file: {', '.join(answer['others'])}]")
    return ToolResult(
        text="\n".join(lines),
        summary=f"described {named}: {size}",
        data={"paths": _paths(sources), "rows": answer["rows"], "columns": answer["columns"]},
    )


@tool(category="tables", permissions=[Permission.READ_FILES], idempotent=True)
async def query_table(parameters: QueryTable, context: ToolContext) -> ToolResult:
    """Compute with one SELECT (DuckDB) over CSV, TSV, JSON, Parquet, Excel and SQLite files. Write
    FROM 'data/a.csv' or FROM a; a sheet, or a table of a database, goes by its own name.
    """
    sources = await asyncio.to_thread(_sources, parameters.paths, context)
    order = _order(sources, sql=parameters.sql, max_rows=parameters.max_rows)
    answer = await ask(order, context, parameters.timeout_seconds)
    is_all = answer["is_all"]
    count = _counted(answer["rows"], "row") if is_all else f"more than {answer['rows']:,} rows"
    lines = [*_table(answer), f"[{count}]", *_notes(answer)]
    return ToolResult(
        text="\n".join(lines),
        summary=f"queried {', '.join(parameters.paths)}: {count}",
        data={"paths": _paths(sources), "sql": parameters.sql, "rows": answer["rows"]},
    )


def table_tools() -> list[Tool]:
    return [describe_table, query_table] if find_spec("duckdb") else []


async def select(path_names: Sequence[str], sql: str, context: ToolContext) -> TableReply:
    """Rows of one SELECT over these files, as texts."""
    sources = await asyncio.to_thread(_sources, path_names, context)
    return await ask(_order(sources, sql=sql, max_rows=1), context, SELECT_SECONDS)


TABLE_TOOLS = frozenset({describe_table.name, query_table.name})
"""Their names, which rules may use even where DuckDB is not installed."""


def _sources(paths: Iterable[str], context: ToolContext) -> list[Source]:
    return [find_source(context.workspace, path) for path in dict.fromkeys(paths)]


def _order(sources: list[Source], *, sql: str = "", table: str = "", max_rows: int = 0) -> Order:
    used = limits()
    return Order(
        sources=sources,
        missing=_SPELLINGS,
        sql=sql,
        table=table,
        max_rows=max_rows,
        memory_mb=used["memory_mb"],
        spill_mb=used["spill_mb"],
        threads=used["threads"],
    )


def _paths(sources: Sequence[Source]) -> list[str]:
    return [file["path"] for source in sources for file in source["files"]]


def _column_lines(answer: TableReply) -> list[str]:
    lines = [
        TableColumn(
            column["name"],
            column["type"],
            column["missing"],
            column["distinct"],
            column["low"],
            column["high"],
            tuple(column["common"]),
            is_estimate=True,
        ).line
        for column in answer["described"]
    ]
    more = answer["columns"][len(lines) :]
    return [*lines, *([f"- and {len(more):,} more: {', '.join(more)}"[:2000]] if more else [])]


def _first_rows(answer: TableReply) -> list[str]:
    if any(map(is_secret_name, answer["columns"])) or not answer["head"]:
        return []
    return ["It begins with:", *_table(answer)]


def _table(answer: TableReply) -> list[str]:
    """Rows as text; if there are too many, the first and the last."""
    head, tail = map(_lines, (answer["head"], answer.get("tail", [])))
    lines = [*_lines([answer["columns"]]), *head]
    if "is_all" in answer and len(head) + len(tail) < answer["rows"]:
        lines.append("[… rows left out: aggregate, or use LIMIT and OFFSET …]")
    lines += tail
    text = "\n".join(lines)
    if len(text) <= _MAX_TEXT:
        return lines
    half = _MAX_TEXT // 2
    return [text[:half], f"[… {len(text) - _MAX_TEXT:,} characters left out …]", text[-half:]]


def _lines(rows: Iterable[Sequence[str | None]]) -> list[str]:
    return [
        " | ".join("NULL" if cell is None else " ".join(cell.splitlines()) for cell in row)
        for row in rows
    ]


def _notes(answer: TableReply) -> list[str]:
    return [f"[{note}]" for note in answer.get("notes", [])]


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
