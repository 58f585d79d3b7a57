"""Describes the tables that a request is about, for the model.

Looked up once, when a run begins, within a moment: text files from their first bytes, others as
`describe_table` sees them. Nothing is told that the role could not read by itself without asking.
"""

from __future__ import annotations

import asyncio
import logging
import posixpath
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from ...domain.errors import CoworkError
from ...effects.files import folder_of
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
MIN_NAME = 3
MAX_NAMED, MAX_UNNAMED, MAX_FOLDERS = 4, 6, 10
MAX_CHARACTERS = 3_000
"""For all tables together: about 900 tokens."""

DESCRIBE = "describe_table"

# Only from the beginning of a word: else a pasted word of thousands of letters takes minutes.
_WORD = r"(?<![^\s\"'`,;:()\[\]<>|*?])[^\s\"'`,;:()\[\]<>|*?]+"
_FILE = re.compile(rf"{_WORD}\.(?:csv|tsv)\b", re.IGNORECASE)
_OTHER_FILE = re.compile(
    rf"{_WORD}\.(?:parquet|xlsx?|xlsm|xlsb|ods|jsonl?|ndjson|sqlite3?|db)\b", re.IGNORECASE
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_TABLES = ("DataFrame", "Table", "Series")
_HEAD = "Tables that the request names, as they are now:"
_HEAD_MEANT = "Tables that the request seems to be about, as they are now:"
_HEAD_UNNAMED = "Tables in the workspace:"


@dataclass(frozen=True)
class TableNote:
    text: str = ""
    is_asked_about: bool = False
    """Whether the request names them or their columns: its answer can be computed from them."""


async def describe_tables(tools: ToolEnvironment, log: RunLog, request: str) -> TableNote:
    """The note for the model; empty if there is nothing to tell. Never raises."""
    try:
        descriptions: list[str] = []
        with suppress(TimeoutError):
            async with asyncio.timeout(KERNEL_SECONDS):
                descriptions = await _variables(tools, log, request)
        descriptions += await _describe_files(tools, log, request)
        async with asyncio.timeout(SECONDS):
            note = await asyncio.to_thread(_note, tools, log, request, descriptions)
            return replace(note, text=log.mask(note.text))
    except (CoworkError, TimeoutError):
        return TableNote()
    except Exception:
        logger.exception("The tables of a request were not looked up")
        return TableNote()


def _note(tools: ToolEnvironment, log: RunLog, request: str, descriptions: list[str]) -> TableNote:
    names = list(dict.fromkeys(_FILE.findall(request)))[:MAX_NAMED]
    tables = [table for name in names
              for table in _read(tools, log, _paths_meant(log, name), MAX_BYTES)[:1]]  # fmt: skip
    if tables or descriptions:
        return _full_note(_HEAD, tables, descriptions)
    others = _read(tools, log, _nearby_tables(tools, log), MAX_BYTES_UNNAMED)
    if tables := _read(tools, log, _meant(request, others)[:MAX_NAMED], MAX_BYTES):
        return _full_note(_HEAD_MEANT, tables, [])
    lines = [other.brief for other in others]
    return TableNote("\n".join([_HEAD_UNNAMED, *lines])[:MAX_CHARACTERS] if lines else "")


def _full_note(head: str, tables: list[TableFacts], descriptions: list[str]) -> TableNote:
    room = MAX_CHARACTERS // (len(tables) + len(descriptions))
    lines = [head, *(table.text(room) for table in tables), *(text[:room] for text in descriptions)]
    return TableNote("\n".join(lines), is_asked_about=True)


def _meant(request: str, tables: list[TableFacts]) -> list[str]:
    """The fewest tables that have all names in the request: small models join whatever they see."""
    names = {table.path: _names_in(request, table) for table in tables}
    missing = set[str]().union(*names.values())
    chosen: list[str] = []
    while missing:
        chosen.append(max(names, key=lambda path: (len(names[path] & missing), -len(path))))
        missing -= names[chosen[-1]]
    return chosen


def _names_in(request: str, table: TableFacts) -> set[str]:
    """What the request names of a table: people rarely name the file."""
    stem = PurePosixPath(table.path).stem.removesuffix("s")
    names = {name.lower() for name in (stem, *(column.name for column in table.columns))}
    return {name for name in names if len(name) >= MIN_NAME and _is_named(name, request)}


def _is_named(name: str, request: str) -> bool:
    spelled = re.escape(name).replace("_", "[_ ]")
    return bool(re.search(rf"\b{spelled}s?\b", request, re.IGNORECASE))


async def _describe_files(tools: ToolEnvironment, log: RunLog, request: str) -> list[str]:
    names = list(dict.fromkeys(_OTHER_FILE.findall(request)))[:MAX_NAMED]
    if not names or DESCRIBE not in tools.registry:
        return []
    descriptions = await asyncio.gather(*(_description(tools, log, name) for name in names))
    return [text for text in descriptions if text]


async def _description(tools: ToolEnvironment, log: RunLog, name: str) -> str:
    for path in _paths_meant(log, name):
        try:
            async with asyncio.timeout(DESCRIBE_SECONDS):
                result = await tools.call_unasked(log, DESCRIBE, {"path": path})
        except (CoworkError, TimeoutError):  # whoever reads it is told why
            continue
        if result and result.data.get("rows", 0) >= MIN_ROWS:  # some JSON is no table
            return f"{result.text}\n{reading_hint(_path_in_code(log, path))}".rstrip()
    return ""


def _paths_meant(log: RunLog, name: str) -> list[str]:
    """Paths in the workspace: people name a file as code in the notebook does, or from the top."""
    paths = (posixpath.join(folder_of(log.notebook), name), name)
    return list(dict.fromkeys(map(posixpath.normpath, paths)))


def _path_in_code(log: RunLog, path: str) -> str:
    return posixpath.relpath(path, folder_of(log.notebook))


def _read(tools: ToolEnvironment, log: RunLog, paths: list[str], limit: int) -> list[TableFacts]:
    tables = (_facts(tools, log, path, limit) for path in paths)
    return [table for table in tables if table]


def _facts(tools: ToolEnvironment, log: RunLog, path: str, limit: int) -> TableFacts | None:
    workspace = tools.unasked_workspace(log, "read_file", path=path)
    if workspace is None:
        return None
    try:
        with workspace.locate(path) as place:
            size = place.stat().st_size
            facts = table_facts(_path_in_code(log, path), place.read(limit), size)
            return replace(facts, path=path) if facts else None
    except CoworkError:  # not there, or no file; whoever reads it is told
        return None


def _nearby_tables(tools: ToolEnvironment, log: RunLog) -> list[str]:
    """The tables beside the notebook, or at the top of the workspace, and in folders there, if
    they are few.
    """
    beside, folders = _listed(tools, log, folder_of(log.notebook))
    below = [path for folder in folders[:MAX_FOLDERS] for path in _listed(tools, log, folder)[0]]
    for tables in ([*beside, *below], beside):
        if len(tables) <= MAX_UNNAMED:
            return tables
    return []


def _listed(tools: ToolEnvironment, log: RunLog, folder: str) -> tuple[list[str], list[str]]:
    """The tables and the folders in a folder."""
    workspace = tools.unasked_workspace(log, "list_directory", path=folder)
    if workspace is None:
        return [], []
    try:
        with workspace.locate(folder) as place:
            entries = [entry for entry in place.entries() if not entry.name.startswith(".")]
    except CoworkError:  # it cannot be read, or has just gone; others may be there
        return [], []
    paths = {entry.name: entry.name if folder == "." else f"{folder}/{entry.name}"
             for entry in entries}  # fmt: skip
    tables = [path for name, path in paths.items() if _FILE.fullmatch(name)]
    return tables, [paths[entry.name] for entry in entries if entry.kind == "folder"]


async def _variables(tools: ToolEnvironment, log: RunLog, request: str) -> list[str]:
    path = log.notebook or tools.kernels.home
    workspace = tools.unasked_workspace(log, "inspect_variable", name="x", path=path)
    if not path or workspace is None:
        return []
    try:
        mentioned = set(_NAME.findall(request))
        listed = await tools.kernels.variables(workspace, path)
        names = [item.name for item in listed.items if item.type.endswith(_TABLES)]
        looked = [
            await tools.kernels.inspect(workspace, path, name)
            for name in [name for name in names if name in mentioned][:MAX_NAMED]
        ]
    except CoworkError:  # there is no kernel, or it is busy
        return []
    return [
        "\n".join(
            [f"{variable.name} in the kernel: {variable.type}, {variable.about}", *variable.lines]
        )
        for variable in looked
    ]
