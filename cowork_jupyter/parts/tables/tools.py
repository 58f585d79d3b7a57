"""The table tools, which query DuckDB in a confined process. They exist where it is installed."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, cast

from pydantic import Field

from ...domain.errors import CoworkError, InvalidInput, Unavailable
from ...domain.plurals import count_of
from ...domain.roles import Permission
from ...tools.base import ToolContext, ToolParameters, ToolResult, tool
from ...tools.kernel.hints import did_you_mean
from ...tools.kernel.inside.plain import is_secret_name
from ...tools.shell import CommandOutput, follow, start_command
from ...tools.table_facts import MISSING, TableColumn
from .confined.order import Order, Source, TableReply
from .sources import find_source

MEMORY_MB = 512
"""DuckDB's memory; beyond it spills to temporary files."""
SPILL_MB = 4096
THREADS = min(os.cpu_count() or 1, 4)
_MAX_ARGUMENT = 100_000
_ANSWER = "\n\x1e"
_QUOTED = re.compile(r"[\"']([^\"'\n]{1,200})[\"']|with name (\S+) does not exist")
_MAX_LISTED = 30

# The folder is imported as a package of its own: as part of ours it would load all of ours.
_PROGRAM = """
import sys, types
package = sys.modules["cowork_tables"] = types.ModuleType("cowork_tables")
package.__path__ = [{folder!r}]
from cowork_tables.main import main
main(sys.argv[1:])
"""


async def ask(order: Order, context: ToolContext, seconds: float) -> TableReply:
    """Raises CoworkError if the process reports an error or does not answer."""
    output = CommandOutput(lambda _text: None)
    async with start_command(_arguments(order), context) as (process, reader):
        try:
            async with asyncio.timeout(seconds):
                await follow(process, reader, output)
        except TimeoutError:
            raise InvalidInput(
                f"It took more than {seconds:g} seconds and was stopped. Ask for less at once, or "
                "set timeout_seconds.",
                code="timed_out",
            ) from None
    output.finish()
    before, mark, said = output.text.rpartition(_ANSWER)
    if not mark:
        why = (before or said).strip().rpartition("\n")[2][:300]
        raise Unavailable(
            f"The process that reads tables ended without an answer ({process.returncode}). {why}",
            code="tables_failed",
            retryable=False,
        )
    answer = cast("TableReply", json.loads(said))
    if "error" in answer:
        raise _query_error(answer)
    return answer


def _arguments(order: Order) -> list[str]:
    program = _PROGRAM.format(folder=str(Path(__file__).parent / "confined"))
    text = json.dumps(order)
    pieces = [text[start : start + _MAX_ARGUMENT] for start in range(0, len(text), _MAX_ARGUMENT)]
    return [sys.executable, "-I", "-X", "utf8", "-c", program, *pieces]


def _query_error(answer: TableReply) -> CoworkError:
    message, known = answer["error"].rstrip(".!"), answer.get("known", [])
    missing = [column or table for column, table in _QUOTED.findall(message)]
    hint = did_you_mean(missing, known)
    if known and not hint:
        more = f" and {len(known) - _MAX_LISTED} more" if len(known) > _MAX_LISTED else ""
        hint = f"There are {', '.join(map(repr, known[:_MAX_LISTED]))}{more}."
    return InvalidInput(f"{message}. {hint}".rstrip(), code="bad_query")


_MAX_TEXT = 200_000
"""Characters of rows that are returned; they are truncated for the model elsewhere."""
_SPELLINGS = sorted({form(text) for text in MISSING for form in (str.lower, str.upper)} | {"NaN"})
_WHERE = "A file, a folder of files that make one table, or a pattern like 'data/*.csv'."

SELECT_SECONDS = 120.0

Seconds = Annotated[float, Field(gt=0, le=3600)]
TablePath = Annotated[str, Field(max_length=4096, description=_WHERE)]


class DescribeTable(ToolParameters):
    """Which table."""

    path: TablePath
    table: Annotated[
        str, Field(max_length=200, description="Sheet of a workbook, or table of a database.")
    ] = ""
    timeout_seconds: Seconds = 300


class QueryTable(ToolParameters):
    """A SELECT, and the tables that it is about."""

    paths: Annotated[list[TablePath], Field(min_length=1, max_length=20)]
    sql: Annotated[str, Field(min_length=1, max_length=20_000, description="One SELECT.")]
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
    size = f"{count_of(answer['rows'], 'row')}, {count_of(len(answer['columns']), 'column')}"
    lines = [f"{named}: {size}", *_column_lines(answer)]
    if answer["head"] and not any(map(is_secret_name, answer["columns"])):
        lines += ["It begins with:", *_table(answer)]
    lines += _notes(answer)
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
    count = count_of(answer["rows"], "row") if is_all else f"more than {answer['rows']:,} rows"
    lines = [*_table(answer), f"[{count}]", *_notes(answer)]
    return ToolResult(
        text="\n".join(lines),
        summary=f"queried {', '.join(parameters.paths)}: {count}",
        data={"paths": _paths(sources), "sql": parameters.sql, "rows": answer["rows"]},
    )


async def select(path_names: Sequence[str], sql: str, context: ToolContext) -> TableReply:
    sources = await asyncio.to_thread(_sources, path_names, context)
    return await ask(_order(sources, sql=sql, max_rows=1), context, SELECT_SECONDS)


def _sources(paths: Iterable[str], context: ToolContext) -> list[Source]:
    return [find_source(context.workspace, path) for path in dict.fromkeys(paths)]


def _order(sources: list[Source], *, sql: str = "", table: str = "", max_rows: int = 0) -> Order:
    return Order(
        sources=sources,
        missing=_SPELLINGS,
        sql=sql,
        table=table,
        max_rows=max_rows,
        memory_mb=MEMORY_MB,
        spill_mb=SPILL_MB,
        threads=THREADS,
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
