"""Describes the tables that a request is about, for the model.

Looked up once, when a run begins, within a moment: text files from their first bytes, others as
`describe_table` sees them. Nothing is told that the role could not read by itself without asking.
"""

from __future__ import annotations

import asyncio
import logging
import re
from contextlib import suppress
from dataclasses import dataclass, replace

from ...domain.errors import CoworkError
from ...tools.table_facts import TableFacts, reading_hint, table_facts
from ..log import RunLog
from .tool_environment import ToolEnvironment

logger = logging.getLogger(__name__)

SECONDS, KERNEL_SECONDS, DESCRIBE_SECONDS = 1.0, 0.3, 10.0
"""For text files, for the kernel, which may be busy, and for files that a process must read: the
mistakes of a model that knows nothing of them cost more."""
MAX_BYTES = 512 * 1024
MAX_BYTES_UNNAMED = 64 * 1024
MIN_ROWS = 2
MIN_COLUMN_NAME = 3
MAX_NAMED, MAX_UNNAMED = 4, 6
MAX_CHARACTERS = 3_000
"""For all tables together: about 900 tokens."""

DESCRIBE = "describe_table"

_FILE = re.compile(r"[^\s\"'`,;:()\[\]<>|*?]+\.(?:csv|tsv)\b", re.IGNORECASE)
_OTHER_FILE = re.compile(
    r"[^\s\"'`,;:()\[\]<>|*?]+\.(?:parquet|xlsx?|xlsm|xlsb|ods|jsonl?|ndjson|sqlite3?|db)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_TABLES = ("DataFrame", "Table", "Series")
_HEAD = "Tables that the request names, as they are now:"
_HEAD_COLUMNS = "Tables with columns that the request names:"
_HEAD_UNNAMED = "Tables in the workspace:"


@dataclass(frozen=True)
class TableNote:
    text: str = ""
    is_asked_about: bool = False
    """Whether the request names them or their columns: its answer can be computed from them."""


async def describe_tables(tools: ToolEnvironment, log: RunLog, request: str) -> TableNote:
    """The note for the model; empty if there is nothing to tell. Never raises."""
    try:
        known: list[str] = []
        with suppress(TimeoutError):
            async with asyncio.timeout(KERNEL_SECONDS):
                known = await _variables(tools, log, request)
        known += await _describe_files(tools, log, request)
        async with asyncio.timeout(SECONDS):
            note = await asyncio.to_thread(_note, tools, log, request, known)
            return replace(note, text=log.mask(note.text))
    except (CoworkError, TimeoutError):
        return TableNote()
    except Exception:
        logger.exception("The tables of a request were not looked up")
        return TableNote()


def _note(tools: ToolEnvironment, log: RunLog, request: str, known: list[str]) -> TableNote:
    named = list(dict.fromkeys(path.removeprefix("./") for path in _FILE.findall(request)))
    tables = _read(tools, log, named[:MAX_NAMED], MAX_BYTES)
    if tables or known:
        return _full_note(_HEAD, tables, known)
    others = _read(tools, log, _nearby_tables(tools, log), MAX_BYTES_UNNAMED)
    meant = [other.path for other in others if _names_column(request, other)]
    if tables := _read(tools, log, meant[:MAX_NAMED], MAX_BYTES):
        return _full_note(_HEAD_COLUMNS, tables, [])
    lines = [other.brief for other in others]
    return TableNote("\n".join([_HEAD_UNNAMED, *lines])[:MAX_CHARACTERS] if lines else "")


def _full_note(head: str, tables: list[TableFacts], known: list[str]) -> TableNote:
    room = MAX_CHARACTERS // (len(tables) + len(known))
    lines = [head, *(table.text(room) for table in tables), *(text[:room] for text in known)]
    return TableNote("\n".join(lines), is_asked_about=True)


def _names_column(request: str, table: TableFacts) -> bool:
    """Whether the request names one of its columns: a follow-up rarely names the file again."""
    names = [column.name for column in table.columns if len(column.name) >= MIN_COLUMN_NAME]
    spelled = "|".join(re.escape(name).replace("_", "[_ ]") for name in names)
    return bool(names) and bool(re.search(rf"\b(?:{spelled})s?\b", request, re.IGNORECASE))


async def _describe_files(tools: ToolEnvironment, log: RunLog, request: str) -> list[str]:
    paths = list(dict.fromkeys(_OTHER_FILE.findall(request)))[:MAX_NAMED]
    if not paths or DESCRIBE not in tools.registry:
        return []
    found = await asyncio.gather(*(_description(tools, log, path) for path in paths))
    return [text for text in found if text]


async def _description(tools: ToolEnvironment, log: RunLog, path: str) -> str:
    parameters = {"path": path.removeprefix("./")}
    try:
        async with asyncio.timeout(DESCRIBE_SECONDS):
            result = await tools.call_unasked(log, DESCRIBE, parameters)
    except (CoworkError, TimeoutError):  # whoever reads it is told why
        return ""
    if result is None or result.data.get("rows", 0) < MIN_ROWS:  # some JSON is no table
        return ""
    return f"{result.text}\n{reading_hint(path)}".rstrip()


def _read(tools: ToolEnvironment, log: RunLog, paths: list[str], limit: int) -> list[TableFacts]:
    found = (_facts(tools, log, path, limit) for path in paths)
    return [table for table in found if table]


def _facts(tools: ToolEnvironment, log: RunLog, path: str, limit: int) -> TableFacts | None:
    workspace = tools.unasked_workspace(log, "read_file", path=path)
    if workspace is None:
        return None
    try:
        with workspace.locate(path) as place:
            size = place.stat().st_size
            return table_facts(path, place.read(limit), size)
    except CoworkError:  # not there, or no file; whoever reads it is told
        return None


def _nearby_tables(tools: ToolEnvironment, log: RunLog) -> list[str]:
    """The tables beside the notebook, or at the top of the workspace, if they are few."""
    folder = (log.notebook or "").rpartition("/")[0] or "."
    workspace = tools.unasked_workspace(log, "list_directory", path=folder)
    if workspace is None:
        return []
    with workspace.locate(folder) as place:
        names = [entry.name for entry in place.entries() if not entry.name.startswith(".")]
    found = [name for name in names if _FILE.fullmatch(name)]
    if len(found) > MAX_UNNAMED:
        return []
    return found if folder == "." else [f"{folder}/{name}" for name in found]


async def _variables(tools: ToolEnvironment, log: RunLog, request: str) -> list[str]:
    path = log.notebook or tools.kernels.home
    workspace = tools.unasked_workspace(log, "inspect_variable", name="x", path=path)
    if not path or workspace is None:
        return []
    try:
        words = set(_NAME.findall(request))
        listed = await tools.kernels.variables(workspace, path)
        names = [item.name for item in listed.items if item.type.endswith(_TABLES)]
        looked = [
            await tools.kernels.inspect(workspace, path, name)
            for name in [name for name in names if name in words][:MAX_NAMED]
        ]
    except CoworkError:  # there is no kernel, or it is busy
        return []
    return [
        "\n".join(
            [f"{variable.name} in the kernel: {variable.type}, {variable.about}", *variable.lines]
        )
        for variable in looked
    ]
