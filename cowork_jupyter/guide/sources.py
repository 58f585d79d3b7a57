"""The files, tables and notebooks that a request is about."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from .file_names import comparable, is_table, named_paths, quoted, unquoted
from .queries import as_timestamp, identifier, literal
from .script import Script
from .tables import (
    FORMATS,
    LINES_READ,
    MAX_VALUES,
    SUFFIXES,
    ColumnFacts,
    Table,
    column_of,
    table_from,
    table_of,
)
from .texts import first_line

_MORE_LINES = 5_000
_MAX_LOOKED_UP = 40  # columns whose values are looked up in the whole file
_JSON = ("read_json({path!r})", "DuckDB or pandas")
# how pandas reads a format, and what reading it needs
_READERS = {
    "json": _JSON,
    "json lines": ("read_json({path!r}, lines=True)", _JSON[1]),
    "parquet": ("read_parquet({path!r})", "DuckDB, or pandas with pyarrow"),
    "excel": (
        "read_excel({path!r})",
        "DuckDB with python-calamine, or pandas with openpyxl",
    ),
}


@dataclass(frozen=True)
class TableHead:
    table: Table | None
    why: str = ""


def read_head(script: Script, path: str) -> TableHead:
    kind = Table(path, "", (), has_header=True, first_line=0).format
    if kind == "text":
        return _text_head(script, path)
    rows, why = _rows(script, path, kind)
    table = table_from(path, rows) if rows else None
    return TableHead(table, why or ("" if table else "it is not a table I can read"))


def run_query(
    script: Script, paths: Sequence[str], select: str
) -> tuple[list[dict[str, Any]], str]:
    """The rows of a SELECT, or why there are none.

    Rows come as JSON, since a printed table cannot be split reliably.
    """
    if not script.has_tools("query_table"):
        return [], "there is no DuckDB here"
    sql = f"SELECT to_json(r) AS r FROM ({select}) r"
    result = script.call("query_table", paths=list(paths), sql=sql, max_rows=1000)
    return (_objects(result.text), "") if result.ok else ([], first_line(result.text))


def complete_values(script: Script, table: Table) -> Table:
    """Complete the known values and date ranges from the whole file."""
    if table.lines is not None and table.lines <= LINES_READ:
        return table
    textual = [column for column in table.columns if column.kind in ("text", "date")]
    wanted = textual[:_MAX_LOOKED_UP]
    if not wanted:
        return table
    selects = " UNION ALL ".join(_looked_up(column, table) for column in wanted)
    rows, why = run_query(script, [table.path], selects)
    if why:
        return _from_more_lines(script, table)
    found = {row["name"]: row for row in rows if isinstance(row.get("name"), str)}
    columns = [_known(column, found.get(column.name)) for column in table.columns]
    return replace(table, columns=tuple(columns))


def _looked_up(column: ColumnFacts, table: Table) -> str:
    name, path = literal(column.name), literal(table.path)
    if column.kind == "date":
        when = as_timestamp(column)
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


def _text_head(script: Script, path: str, lines: int = LINES_READ) -> TableHead:
    result = script.call("read_file", path=path, end_line=lines)
    if not result.ok:
        return TableHead(None, first_line(result.text))
    facts = result.facts
    if facts.get("binary") or not facts["total_lines"]:
        return TableHead(None, "it is not a table I can read")
    # Below them the tool says how to read on.
    text = result.text.split("\n")[: facts["last_line"] - facts["first_line"] + 1]
    table = table_of(path, "\n".join(text), facts["encoding"], facts["total_lines"])
    return TableHead(table, "" if table else "it is not a table I can read")


def _rows(script: Script, path: str, kind: str) -> tuple[list[dict[str, Any]], str]:
    rows, why = run_query(script, [path], f"SELECT * FROM {literal(path)} LIMIT {LINES_READ}")
    if rows or not why:
        return rows, why
    if kind.startswith("json"):
        rows = _json_rows(script, path)
        if rows:
            return rows, ""
    code = (
        f"import pandas as pd\nprint(pd.{_READERS[kind][0].format(path=path)}.head({LINES_READ})"
        ".to_json(orient='records', lines=True, date_format='iso', date_unit='s'))"
    )
    if script.has_tools("run_code"):
        result = script.call("run_code", code=code, where="scratch")
        if result.ok and (rows := _objects(result.text)):
            return rows, ""
        why = first_line(result.text) if not result.ok else why
    return [], f"that needs {_READERS[kind][1]} ({why.rstrip('.')})"


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
    values = value.values() if isinstance(value, dict) else ()
    lists = [rows for rows in values if isinstance(rows, list)]
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


MAX_TABLES = 8
_MAX_OFFERED = 8
_ENDINGS = "|".join(ending[1:] for ending in (*SUFFIXES, *FORMATS, ".ipynb"))
_PATH_IN_TEXT = re.compile(rf"[\w./-]{{0,200}}\w\.(?:{_ENDINGS})\b(?!\.\w)", re.IGNORECASE)
_UNREADABLE = (".feather", ".h5", ".hdf5", ".sqlite", ".db", ".gz", ".zip", ".pkl", ".xml", ".pdf",
               ".docx", ".dta", ".sav", ".rds")  # fmt: skip
_SETTINGS = re.compile(
    r"(?:^|/)(?:package|package-lock|tsconfig|settings|config|\.[^/]*)[^/]*\.json$"
)


def all_files(script: Script) -> list[str]:
    result = script.call("list_directory", path=".", depth=3)
    if not result.ok:
        script.fail(f"I cannot list the workspace: {first_line(result.text)}")
    return list(result.facts["files"])


def tables_for(script: Script, text: str, files: Sequence[str]) -> list[Table]:
    """The tables that a text names, else all.

    If a named file cannot be read, fail instead of taking another one.
    """
    named = _named(script, text, files)
    if not named:
        _refuse_others(script, text, files)
        return _readable(script, files)
    tables = []
    for path in named[:MAX_TABLES]:
        head = read_head(script, path)
        if head.table is None:
            script.fail(f"I cannot read `{path}`: {head.why.rstrip('.')}.")
        tables.append(head.table)
    return tables


def _named(script: Script, text: str, files: Sequence[str]) -> list[str]:
    """Named tables, including paths too deep to be listed."""
    tables = [path for path in files if is_table(path) and f"into `{path}`" not in text]
    known = named_paths(text, tables, folder_of(script)) or named_paths(
        text, _without_suffix(files)
    )
    known = [path for path in known if _is_whole(path, text)]
    bare = _PATH_IN_TEXT.findall(unquoted(text).replace("%20", " "))
    written = [path for path in (*quoted(text), *bare) if is_table(path)]
    outputs = {path for path in written if path not in files and _is_output(text, path)}
    missing = [
        table_path
        for table_path in dict.fromkeys(written)
        if table_path not in outputs
        and not any(_ends_with(path, without_dots(table_path)) for path in files)
    ]
    return [*known, *missing]


def _is_whole(path: str, text: str) -> bool:
    """A bare stem may also be a column: `sales`."""
    name = posixpath.basename(path)
    if len(re.findall(r"[^\W_]+", name.rpartition(".")[0])) > 1:
        return True
    return comparable(name) in comparable(text) or "." not in name or f"`{path}`" in text


def _without_suffix(files: Sequence[str]) -> list[str]:
    return [path for path in files if "." not in posixpath.basename(path)]


def _ends_with(path: str, end: str) -> bool:
    return comparable(path).endswith(comparable(end))


def _refuse_others(script: Script, text: str, files: Sequence[str]) -> None:
    others = [path for path in files if path.lower().endswith(_UNREADABLE)]
    for path in named_paths(text, others, folder_of(script)):
        if _is_whole(path, text):
            script.fail(
                f"I cannot read `{path}`. I work with CSV, TSV, Excel, JSON and Parquet files."
            )


def folder_of(script: Script) -> str:
    """Names resolve in the notebook's folder for users, in the top folder for plans."""
    return "" if script.run.is_step else posixpath.dirname(script.conversation.notebook or "")


def without_dots(path: str) -> str:
    return re.sub(r"^(?:\.{1,2}/)+", "", path)


def _is_output(text: str, path: str) -> bool:
    return f"into `{path}`" in text or f"into {path}" in text


def _readable(script: Script, files: Sequence[str]) -> list[Table]:
    """The tables of the workspace, the nearest to the notebook first."""
    here = posixpath.dirname(script.conversation.notebook or "")
    found = [path for path in files if is_table(path) and not _SETTINGS.search(path)]
    sure = [path for path in found if not path.lower().endswith(".txt")]
    found = sure or [path for path in found if "require" not in path]
    found.sort(key=lambda path: (posixpath.dirname(path) != here, path.count("/"), path))
    heads = [(path, read_head(script, path)) for path in found[:MAX_TABLES]]
    tables = [head.table for _path, head in heads if head.table]
    if not tables:
        script.fail(_no_table(files, [f"`{path}` ({head.why})" for path, head in heads]))
    return tables


def _no_table(files: Sequence[str], tried: Sequence[str]) -> str:
    others = [f"`{path}`" for path in files if path.lower().endswith(_UNREADABLE)]
    seen = [*tried, *others][:4]
    cannot = f" I cannot read {', '.join(seen)}." if seen else ""
    why = "I found no table (CSV, TSV, Excel, JSON, Parquet) in the workspace."
    return f"{why}{cannot} Add one, or give me its path."


def notebook_for(script: Script, text: str, files: Sequence[str]) -> str:
    """The notebook that is named, else the current, else the only one; else ask."""
    notebooks = [path for path in files if path.lower().endswith(".ipynb")]
    named = named_paths(text, notebooks, folder_of(script))
    if named:
        return named[0]
    if script.conversation.notebook:
        return script.conversation.notebook
    if len(notebooks) == 1:
        return notebooks[0]
    if not notebooks:
        script.fail("I found no notebook in the workspace.")
    options = {path: path for path in notebooks[:_MAX_OFFERED]}
    context = f"The workspace has {len(notebooks)}."
    return script.ask("Which notebook do you mean?", context, options)
