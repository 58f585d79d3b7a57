"""The tables and notebooks that a request is about: what is there comes first."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ...domain.plurals import count_of
from .file_names import comparable, is_table, missing_paths, named_paths, quoted
from .heads import all_files as all_files
from .heads import frame_tables, read_heads
from .notebook import code_cell, files_in_code, loaded_tables
from .runner import notebook_cells, variables_in
from .script import Script
from .tables import FORMATS, SUFFIXES, Table
from .texts import as_sentence

_MAX_TABLES = 16  # files whose head is read for one request
_MAX_FRAMES = 8
_MAX_OFFERED = 8
_NAMES_SHOWN = 3
_FORMATS = "CSV, TSV, Excel, JSON or Parquet"
_UNREADABLE = (".feather", ".h5", ".hdf5", ".sqlite", ".db", ".gz", ".zip", ".pkl", ".xml", ".pdf",
               ".docx", ".dta", ".sav", ".rds")  # fmt: skip
# what is no data unless it is named or read by the code
_NO_DATA = re.compile(
    r"\.txt$|(?:^|/)(?:package|package-lock|tsconfig|settings|config|\.[^/]*)[^/]*\.json$"
)

Origin = Literal["named", "kernel", "notebook", "folder"]


@dataclass(frozen=True)
class Candidate:
    """A table that a request may be about, and why."""

    table: Table
    origin: Origin


def candidates(script: Script, text: str) -> list[Candidate]:
    """The tables that a text names, else those of the kernel, the notebook's code and the folder.

    If a named file cannot be read, fail instead of taking another one.
    """
    files = all_files(script)
    named = _named(script, text, files)
    spans = [name for name in quoted(text) if name.isidentifier()]
    around = _Around() if named and not spans else _around(script, files)
    frames = [name for name in dict.fromkeys(spans) if name in around.frames]
    if frames and named:  # a column of a named table may be called like a DataFrame
        heads = read_heads(script, named[:_MAX_TABLES]).values()
        columns = {name for head in heads if isinstance(head, Table) for name in head.names}
        frames = [name for name in frames if name not in columns]
    if frames:
        for name in frames:
            text = text.replace(f"`{name}`", " ")
        loaded = [path for path, name in around.loaded.items() if name in frames]
        named = list(dict.fromkeys([*loaded, *_named(script, text, files)]))
        frames = [name for name in frames if name not in around.loaded.values()]
    if not named and not frames:
        return _present(script, files, around)
    tables = frame_tables(script, frames)
    if len(tables) < len(frames):
        script.fail(f"I cannot read all of these DataFrames of the kernel: {', '.join(frames)}.")
    return [Candidate(table, "named") for table in (*tables, *_read(script, named))]


def _read(script: Script, named: Sequence[str]) -> list[Table]:
    tables = []
    for path in named:
        if path.lower().endswith(_UNREADABLE):
            script.fail(f"I cannot read `{path}`. I work with {_FORMATS} files.")
    for path, head in read_heads(script, named[:_MAX_TABLES]).items():
        if isinstance(head, str):
            script.fail(f"I cannot read `{path}`: {as_sentence(head)}")
        tables.append(head)
    return tables


def described(candidate: Candidate) -> str:
    """For people: the table, its size and its first columns."""
    names, rows = candidate.table.names, candidate.table.rows
    size = [count_of(rows, "row")] if rows is not None else []
    more = ["…"] if len(names) > _NAMES_SHOWN else []
    return " · ".join(
        [f"`{candidate.table.path}`", *size, ", ".join([*names[:_NAMES_SHOWN], *more])]
    )


@dataclass(frozen=True)
class _Around:
    """What kernel and notebook tell about tables."""

    frames: tuple[str, ...] = ()  # DataFrames
    loaded: Mapping[str, str] = field(default_factory=dict)  # those that still are a file, by path
    read: tuple[str, ...] = ()
    written: frozenset[str] = frozenset()


def _around(script: Script, files: Sequence[str]) -> _Around:
    notebook = script.conversation.notebook
    folder = posixpath.dirname(notebook or "")
    cells = notebook_cells(script, notebook, once=True)
    cells = [*cells, *map(code_cell, script.conversation.code_run)]
    read, written = files_in_code([cell.source for cell in cells if cell.kind == "code"], folder)
    variables = variables_in(script, notebook, once=True)
    frames = [
        name
        for name, kind in variables.items()
        if kind.endswith("DataFrame") and "polars" not in kind and name[0] != "_"
    ]
    loaded = loaded_tables(cells, variables, folder).items()
    return _Around(
        tuple(frames[:_MAX_FRAMES]),
        {path: held.name for path, held in loaded if path in files and path not in written},
        tuple(read),
        written,
    )


def _present(script: Script, files: Sequence[str], around: _Around) -> list[Candidate]:
    """Those that the code knows come first, then the nearest."""
    known = [*around.loaded, *around.read]
    here = posixpath.dirname(script.conversation.notebook or "") or "."

    def place(path: str) -> tuple[int, int, str]:
        way = posixpath.relpath(posixpath.dirname(path) or ".", here)
        order = known.index(path) if path in known else len(known)
        return order, 0 if way == "." else 1 + way.count("/"), path

    tables = [path for path in files if is_table(path) and path not in around.written]
    found = [path for path in tables if path in known or not _NO_DATA.search(path.lower())]
    heads = read_heads(script, sorted(found, key=place)[:_MAX_TABLES])
    loaded = set(around.loaded.values())
    frames = frame_tables(script, [name for name in around.frames if name not in loaded])
    present = [Candidate(table, "kernel") for table in frames]
    for path, head in heads.items():
        if isinstance(head, Table):
            known_by: Origin = "notebook" if path in around.read else "folder"
            present.append(Candidate(head, "kernel" if path in around.loaded else known_by))
    if not present:
        tried = [f"`{path}` ({head})" for path, head in heads.items()]
        tried += [f"`{path}`" for path in files if path.lower().endswith(_UNREADABLE)]
        cannot = f" I cannot read {', '.join(tried[:4])}." if tried else ""
        script.fail(
            f"I found no table ({_FORMATS}) in the workspace.{cannot} Add one, or give me its path."
        )
    return present


def _named(script: Script, text: str, files: Sequence[str]) -> list[str]:
    """Named tables, including paths too deep to be listed."""
    tables = [path for path in files if is_table(path) and f"into `{path}`" not in text]
    others = [path for path in files if path.lower().endswith(_UNREADABLE)]
    folder = folder_of(script)
    known = named_paths(text, tables, folder) or named_paths(text, others, folder)
    known = [path for path in known if _is_whole(path, text)]
    missing = missing_paths(text, files, (*SUFFIXES, *FORMATS))
    outputs = r"\b(?:into|as|to) [`\"]?"
    return known + [path for path in missing if not re.search(outputs + re.escape(path), text)]


def _is_whole(path: str, text: str) -> bool:
    """A bare stem may also be a column: `sales`."""
    name = posixpath.basename(path)
    words = re.findall(r"[^\W_]+", posixpath.splitext(name)[0])
    return len(words) > 1 or comparable(name) in comparable(text)


def folder_of(script: Script) -> str:
    """Names resolve in the notebook's folder for users, in the top folder for plans."""
    return "" if script.run.is_step else posixpath.dirname(script.conversation.notebook or "")


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
