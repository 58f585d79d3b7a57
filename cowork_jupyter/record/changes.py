"""Describes changes of files: as text, cell by cell, or in a few facts."""

from __future__ import annotations

import csv
import io

from ..checkpoints import Change, FileDiff, FileEntry, Side
from ..checkpoints.views import DiffKind, Read
from ..domain.errors import CoworkError
from ..effects.file_states import parquet_shape
from ..tools.diff import Diff, diff
from ..tools.encoding import HEAD, decode, is_binary
from ..tools.notebooks import is_notebook
from ..tools.sizes import size_text
from .notebook_changes import compare_notebooks

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_MAX_COLUMNS = 200


def is_table(path: str) -> bool:
    return path.lower().endswith((*_SEPARATORS, ".parquet"))


def table_facts(path: str, content: bytes) -> tuple[list[str] | None, int | None]:
    """Column names and number of rows; None where unknown."""
    if path.lower().endswith(".parquet"):
        return _parquet(content)
    separator = _SEPARATORS[path.lower()[-4:]]
    lines = csv.reader(io.StringIO(content.decode("utf-8-sig", "replace")), delimiter=separator)
    try:
        columns = next(lines, None)
        rows = sum(1 for line in lines if line)
    except csv.Error:  # a field beyond all measure
        return None, None
    return (columns[:_MAX_COLUMNS], rows) if columns is not None else (None, None)


def _parquet(content: bytes) -> tuple[list[str] | None, int | None]:
    try:
        rows, columns = parquet_shape(io.BytesIO(content), len(content))
    except (ValueError, EOFError):  # it is not what its name says; the rest can still be shown
        return None, None
    return columns[:_MAX_COLUMNS], rows


MAX_TEXT_SIZE = 1024 * 1024
MAX_TABLE_SIZE = 32 * 1024 * 1024
MAX_DIFF = 100_000
"""Characters of one file's diff."""


def compare(change: Change, read: Read) -> FileDiff:
    before, after = _side(change.path, change.before, read), _side(change.path, change.after, read)
    result = FileDiff(
        path=change.path, status=change.kind, kind=_kind(change), before=before, after=after
    )
    if result.kind == "binary":
        _compare_contents(change, read, result)
    if result.diff is None:
        result.why = _in_words(before, after)
    return result


def _in_words(before: Side | None, after: Side | None) -> str:
    """For what cannot be shown as text: `2.1 MB, sha256 0f3a… → 2.2 MB, …`."""
    return " → ".join(_described(side) for side in (before, after) if side)


def _described(side: Side) -> str:
    if side.target is not None:
        return f"a link to {side.target}"
    if side.sha256 is None:
        return f"not kept ({side.not_kept})" if side.not_kept else f"a folder, {side.mode}"
    table = f", {side.rows:,} rows of {len(side.columns or [])} columns" if side.rows else ""
    return f"{size_text(side.size)}{table}, sha256 {side.sha256[:12]}…, {side.mode}"


def _kind(change: Change) -> DiffKind:
    """Files are `binary` until their content has been examined."""
    kinds = {entry.kind for entry in (change.before, change.after) if entry}
    return "binary" if "file" in kinds else "link" if "link" in kinds else "folder"


def _side(path: str, entry: FileEntry | None, read: Read) -> Side | None:
    if entry is None:
        return None
    side = Side(
        size=entry.size,
        sha256=entry.digest.hex() if entry.digest else None,
        mode=f"{entry.mode:04o}",
        target=entry.target,
        not_kept=entry.why_not_kept,
    )
    if entry.digest and is_table(path):
        content = read(entry.digest, MAX_TABLE_SIZE)
        if content is not None:
            side.columns, side.rows = table_facts(path, content)
    return side


def _compare_contents(change: Change, read: Read, result: FileDiff) -> None:
    old, new = _content(change.before, read), _content(change.after, read)
    if old is None or new is None or is_binary(old[:HEAD]) or is_binary(new[:HEAD]):
        return
    if is_notebook(change.path):
        cells = compare_notebooks(old, new)
        if cells is not None:
            result.kind = "notebook"
            result.cells, found = cells
            _put(result, found)
            return
    try:
        texts = decode(old)[0], decode(new)[0]
    except CoworkError:  # it says that it is text, but it is not
        return
    result.kind = "table" if is_table(change.path) else "text"
    before, after = (text.replace("\r\n", "\n") for text in texts)
    _put(result, diff(change.path, before, after))


def _content(entry: FileEntry | None, read: Read) -> bytes | None:
    """Empty if there is no file, None if it cannot be read."""
    if entry is None or entry.kind != "file":
        return b""
    return read(entry.digest, MAX_TEXT_SIZE) if entry.digest else None


def _put(result: FileDiff, found: Diff) -> None:
    result.added, result.removed = found.added, found.removed
    result.diff, result.cut = found.text[:MAX_DIFF], len(found.text) > MAX_DIFF
