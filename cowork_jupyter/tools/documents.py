"""Workspace files as searchable documents: a text file is one, each cell of a notebook is one."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO

from ..domain.errors import CoworkError, NotFound
from ..workspace import IgnoreRules, Workspace, visible_files
from .text_files import HEAD, MAX_WHOLE_SIZE, bom_of, decode, is_binary


@dataclass(frozen=True)
class Cell:
    """`index` counts from 0; older notebooks have no ids."""

    index: int
    id: str
    kind: str
    source: str

    @property
    def label(self) -> str:
        return f"cell {self.index} · {self.id}" if self.id else f"cell {self.index}"


def is_notebook(path: str) -> bool:
    return path.lower().endswith(".ipynb")


def cells_of(data: bytes) -> list[Cell]:
    """Raises ValueError if it is not a notebook."""
    try:
        document = json.loads(data)
    except RecursionError as error:
        raise ValueError("nested too deeply to be a notebook") from error
    if not isinstance(document, dict):
        raise ValueError("not a notebook")
    return [_cell(index, raw) for index, raw in enumerate(_raw_cells(document))]


def _raw_cells(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Cells of format 4, or of the worksheets of format 3."""
    sheets = document.get("worksheets")
    for holder in [document, *(sheets if isinstance(sheets, list) else [])]:
        cells = holder.get("cells") if isinstance(holder, dict) else None
        yield from (cell for cell in cells or [] if isinstance(cell, dict))


def _cell(index: int, raw: dict[str, Any]) -> Cell:
    source = raw.get("source", raw.get("input", ""))
    text = source if isinstance(source, str) else "".join(map(str, source or []))
    return Cell(index, str(raw.get("id", "")), str(raw.get("cell_type", "")), text)


def render_cells(cells: list[Cell]) -> str:
    return "\n\n".join(f"[{cell.label} · {cell.kind}]\n{cell.source.rstrip()}" for cell in cells)


_CHUNK = 1 << 20


@dataclass(frozen=True)
class Document:
    path: str
    cell: Cell | None = None

    @property
    def label(self) -> str:
        return f"{self.path}[{self.cell.label}]" if self.cell else self.path

    @property
    def facts(self) -> dict[str, Any]:
        if self.cell is None:
            return {"path": self.path}
        return {"path": self.path, "cell": self.cell.index, "cell_id": self.cell.id}


def documents(
    workspace: Workspace, paths: Iterable[str]
) -> Iterator[tuple[Document, Iterable[bytes]]]:
    """The documents in these files and their content, in UTF-8 with LF line breaks.

    Binary, missing and unreadable files are skipped.
    """
    for path in paths:
        try:
            with workspace.locate(path) as place, place.open() as file:
                head = file.read(HEAD)
                if not is_binary(head):
                    yield from _documents_in(path, head, file)
        except (CoworkError, OSError):
            continue


def _documents_in(
    path: str, head: bytes, file: BinaryIO
) -> Iterator[tuple[Document, Iterable[bytes]]]:
    cells = try_cells(head + file.read(MAX_WHOLE_SIZE)) if is_notebook(path) else None
    if cells is None:
        yield Document(path), _chunks(head, file)
        return
    for cell in cells:
        yield Document(path, cell), [cell.source.encode("utf-8", "replace")]


def try_cells(data: bytes) -> list[Cell] | None:
    """None for a broken notebook, which is treated as plain text."""
    try:
        return cells_of(data)
    except ValueError:
        return None


def _chunks(head: bytes, file: BinaryIO) -> Iterator[bytes]:
    encoding = bom_of(head)
    if encoding.is_wide:
        file.seek(0)
        text, _ = decode(file.read(MAX_WHOLE_SIZE))
        yield _plain_breaks(text.encode("utf-8", "replace"))
        return
    file.seek(len(encoding.bom))
    while chunk := file.read(_CHUNK):
        chunk += file.readline(_CHUNK)  # do not split a CRLF
        text_part, nul, _ = chunk.partition(b"\0")
        yield _plain_breaks(text_part)
        if nul:  # binary from here on
            return


def _plain_breaks(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


_MAX_FILES = 5000


def not_found_error(workspace: Workspace, path: str) -> NotFound:
    """The error suggests up to three files with a similar name."""
    close = close_names(workspace, path)
    names = " or ".join(f"'{name}'" for name in close)
    hint = f" Did you mean {names}?" if close else ""
    return NotFound(f"There is no '{path}' in the workspace.{hint}", details={"close": close})


@contextmanager
def suggest_if_missing(workspace: Workspace, path: str) -> Iterator[None]:
    """Turn NotFound into `not_found_error`."""
    try:
        yield
    except NotFound:
        raise not_found_error(workspace, path) from None


def close_names(workspace: Workspace, path: str) -> list[str]:
    """Up to three paths: the same name elsewhere first, then similar ones beside it."""
    folder, _, name = path.rpartition("/")
    files = islice(visible_files(workspace, ".", IgnoreRules(workspace)), _MAX_FILES)
    same = [file for file in files if file.rpartition("/")[2].lower() == name.lower()]
    beside = _names_in(workspace, folder or ".")
    similar = difflib.get_close_matches(name, beside, n=3)
    names = [*same, *(f"{folder}/{other}" if folder else other for other in similar)]
    return list(dict.fromkeys(names))[:3]


def _names_in(workspace: Workspace, folder: str) -> list[str]:
    try:
        with workspace.locate(folder) as place:
            return [entry.name for entry in place.entries()]
    except CoworkError:
        return []
