"""Workspace files as searchable documents: a text file is one, each cell of a notebook is one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from ..domain.errors import CoworkError
from ..workspace import Workspace
from .encoding import HEAD, bom_of, decode, is_binary
from .notebooks import Cell, cells_of, is_notebook
from .sizes import MAX_WHOLE_SIZE

_CHUNK = 1 << 20


@dataclass(frozen=True)
class Document:
    path: str
    cell: Cell | None = None

    @property
    def label(self) -> str:
        """`analysis.ipynb[cell 3 · a1b2]`."""
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
    cells = _cells(head + file.read(MAX_WHOLE_SIZE)) if is_notebook(path) else None
    if cells is None:
        yield Document(path), _chunks(head, file)
        return
    for cell in cells:
        yield Document(path, cell), [cell.source.encode("utf-8", "replace")]


def _cells(data: bytes) -> list[Cell] | None:
    try:
        return cells_of(data)
    except ValueError:  # a broken notebook is searched as plain text
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
