"""Tables as they are read: heads of files, DataFrames of the kernel, values in scratch."""

from __future__ import annotations

import inspect
import json
import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from textwrap import indent
from typing import Any

from . import in_scratch
from .code.cells import CellBuilder, Choices, CodeCell, Style, TableVariable, literal
from .code.writer import load_table
from .script import Call, CallResult, Script
from .tables import (
    LINES_READ,
    MAX_VALUES,
    ColumnFacts,
    Table,
    format_of,
    table_of,
    text_column,
)
from .texts import first_line

# what is prepared in scratch: the Excel reader that is there
_IMPORTS = """from __future__ import annotations

import importlib.util

import pandas as pd

if not importlib.util.find_spec("openpyxl"):
    pd.set_option("io.excel.xlsx.reader", "calamine")"""


def _scratch_call(code: str, function: Callable[..., None], frames: Sequence[str] = ()) -> Call:
    """Run code that uses a function of `in_scratch`, and copies of DataFrames of the kernel."""
    whole = "\n\n".join([_IMPORTS, inspect.getsource(function), code])
    copied: dict[str, Any] = {"tables": list(frames)} if frames else {}
    return "run_code", {"code": whole, "where": "scratch", **copied}


def _printed_objects(text: str) -> list[dict[str, Any]]:
    found = []
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                found.append(json.loads(line))
            except ValueError:  # cut in its middle
                continue
    return found


def style_in_scratch(script: Script, tables: Sequence[Table]) -> Style:
    """Where DataFrames of the kernel are there under their names."""
    frames = [table.path for table in tables if table.is_variable]
    return Style(
        packages=frozenset({"pandas"}),
        loaded_tables={name: TableVariable(name) for name in frames},
        used_names=frozenset(frames),
        folder=posixpath.dirname(script.conversation.notebook or "") or ".",
    )


def run_in_scratch(
    script: Script,
    tables: Sequence[Table],
    function: Callable[..., None],
    cells: Sequence[CodeCell],
    lines: Sequence[str],
) -> list[dict[str, Any]]:
    """What a function of `in_scratch` prints in these lines, behind the imports of the cells.

    All of it is within a function, so that scratch keeps no names of it. Empty if it cannot run.
    """
    if not script.has_tools("run_code"):
        return []
    imports = dict.fromkeys(line for cell in cells for line in cell.imports)
    body = indent("\n".join(lines), "    ")
    code = "\n".join([*imports, f"\ndef look():\n{body}\n", "look()"])
    frames = [table.path for table in tables if table.is_variable]
    result = script.look_all([_scratch_call(code, function, frames)])[0]
    return _printed_objects(result.text) if result.ok else []


def facts_of(
    script: Script,
    tables: Sequence[Table],
    function: Callable[..., None],
    call: str,
    choices: Choices | None = None,
) -> list[dict[str, Any]]:
    """What it prints about these tables, of which each has a `{}` in the call."""
    builder = CellBuilder(style_in_scratch(script, tables), choices or Choices())
    names = [load_table(builder, table).name for table in tables]
    lines = [*(cell.body for cell in builder.cells if cell.body), call.format(*names)]
    return run_in_scratch(script, tables, function, builder.cells, lines)


Head = Table | str  # or why there is none
_NO_TABLE = "it is not a table I can read"
# what is read of each format, and how many lines it has, if that is known
_EXCEL = """frame = pd.read_excel({path}, header=None, nrows={most}, dtype=object)
lines = len(frame) if len(frame) < {most} else None"""
_PARQUET = """import pyarrow.parquet
file = pyarrow.parquet.ParquetFile({path})
frame = next(file.iter_batches({most})).to_pandas()
lines = file.metadata.num_rows + 1"""
_JSON = """frame = pd.read_json({path}, lines={is_lines})
lines = len(frame) + 1"""
_READINGS = {"excel": _EXCEL, "parquet": _PARQUET, "json": _JSON, "json lines": _JSON}
_NEEDS = {"excel": " with openpyxl", "parquet": " with pyarrow"}


def all_files(script: Script) -> list[str]:
    return list(_listing(script)["files"])


def _state(script: Script, path: str) -> Any:
    """Size and time of modification; None if unknown."""
    return _listing(script).get("states", {}).get(path)


def _listing(script: Script) -> Mapping[str, Any]:
    result = script.look("list_directory", path=".", depth=3)
    if not result.ok:
        script.fail(f"I cannot list the workspace: {first_line(result.text)}")
    return result.facts


def read_heads(script: Script, paths: Sequence[str]) -> dict[str, Head]:
    """All at once; what is known from an earlier request and unchanged is not read again."""
    found = {path: script.recall(path, _state(script, path)) for path in paths}
    calls = {path: _head_call(script, path) for path in paths if found[path] is None}
    results = script.look_all(list(calls.values()))
    for path, result in zip(calls, results, strict=True):
        found[path] = _head(path, result)
        if result.ok:
            script.keep(path, _state(script, path), found[path])
    return found


def _head_call(script: Script, path: str) -> Call:
    kind = format_of(path)
    if kind == "text":
        return "read_file", {"path": path, "end_line": LINES_READ}
    here = posixpath.dirname(script.conversation.notebook or "") or "."
    at = literal(posixpath.relpath(path, here))
    reading = _READINGS[kind].format(path=at, most=LINES_READ, is_lines=kind == "json lines")
    show = f"show_head(frame, lines, {LINES_READ}, {kind != 'excel'})\ndel frame"
    return _scratch_call(f"{reading}\n{show}", in_scratch.show_head)


def _head(path: str, result: CallResult) -> Head:
    kind, facts = format_of(path), result.facts
    if not result.ok:
        needs = f"that needs pandas{_NEEDS.get(kind, '')} in a sandbox: " if kind != "text" else ""
        return f"{needs}{first_line(result.text)}"
    if kind != "text":
        heads = _printed_objects(result.text)
        table = table_of(path, heads[0]["text"], lines=heads[0]["lines"]) if heads else None
        return table or _NO_TABLE
    if facts.get("binary") or not facts["total_lines"]:
        return _NO_TABLE
    # Below them the tool says how to read on.
    lines = result.text.split("\n")[: facts["last_line"] - facts["first_line"] + 1]
    return table_of(path, "\n".join(lines), facts["encoding"], facts["total_lines"]) or _NO_TABLE


def frame_tables(script: Script, names: Sequence[str]) -> list[Table]:
    """DataFrames of the kernel, by copies in scratch; alone if they cannot be copied together."""
    if not names or not script.has_tools("run_code"):
        return []
    shows = [f"show_columns({literal(name)}, {name}, {MAX_VALUES})" for name in names]
    call = _scratch_call("\n".join(shows), in_scratch.show_columns, names)
    result = script.look_all([call])[0]
    if not result.ok and len(names) > 1:
        return [table for name in names for table in frame_tables(script, [name])]
    printed = _printed_objects(result.text) if result.ok else []
    return [
        Table(
            each["table"],
            separator="",
            columns=tuple(_columns(each["table"], printed).values()),
            has_header=True,
            first_line=0,
            rows=each["rows"],
            is_variable=True,
        )
        for each in printed
        if "table" in each
    ]


def _columns(table: str, printed: Sequence[Mapping[str, Any]]) -> dict[str, ColumnFacts]:
    """As they are in memory: texts stay texts, even if they look like numbers."""
    columns = {}
    for each in printed:
        if each.get("of") != table:
            continue
        name, values, facts = each["name"], each["values"], each["facts"]
        if facts["kind"] == "text":
            columns[name] = replace(text_column(name, values), **facts)
        else:
            is_answer = set(values) in ({"0", "1"}, {"0.0", "1.0"})
            columns[name] = ColumnFacts(name, **facts, values=("0", "1") if is_answer else ())
    return columns


def complete_values(script: Script, table: Table) -> Table:
    """Complete the known values and date ranges from the whole file, if it can be read here."""
    if table.is_whole or not (table.of_kind("text") or table.of_kind("date")):
        return table
    state, key = _state(script, table.path), f"{table.path} in whole"
    if known := script.recall(key, state):
        return known if known.names == table.names else table
    call = f"show_columns('', {{}}, {MAX_VALUES})"
    lenient = Choices(coerce=True, replace_bytes=True)
    printed = facts_of(script, [table], in_scratch.show_columns, call, lenient)
    whole = _columns("", printed)
    columns = (_completed(column, whole.get(column.name, column)) for column in table.columns)
    complete = replace(table, columns=tuple(columns))
    if whole:
        script.keep(key, state, complete)
    return complete


def _completed(column: ColumnFacts, whole: ColumnFacts) -> ColumnFacts:
    if column.kind != whole.kind or column.kind not in ("text", "date"):
        return column
    if column.kind == "date":
        return replace(column, first=whole.first, last=whole.last)
    if not whole.values:
        return replace(column, values=(), distinct=max(whole.distinct, column.distinct))
    # pandas reads `true` as `True`: then the values are not those of the file.
    is_same = set(column.values) <= set(whole.values)
    return replace(whole, missing_sign=column.missing_sign) if is_same else column
