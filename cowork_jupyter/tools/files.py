"""Read-only tools for files and folders."""

from __future__ import annotations

import io
import stat
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, BinaryIO, Self

from pydantic import Field, model_validator

from ..domain.errors import CoworkError, Forbidden, InvalidInput
from ..domain.plurals import count_of
from ..domain.roles import Permission
from ..workspace import IgnoreRules, ListedEntry, PathHandle, Workspace, kind_of
from .base import ToolParameters, ToolResult, in_thread, tool
from .documents import is_notebook, render_cells, suggest_if_missing, try_cells
from .text_files import (
    HEAD,
    MAX_WHOLE_SIZE,
    Encoding,
    Lines,
    bom_of,
    decode,
    is_binary,
    kind_of_binary,
    read_lines,
    size_text,
)

MAX_BYTES = 1024 * 1024
"""Size of one result, which the store keeps whole; it is truncated for the model elsewhere."""

PathOf = Annotated[str, Field(description="Path relative to the workspace.")]
LineNumber = Annotated[int, Field(ge=1)]


class ReadFile(ToolParameters):
    """Which file, and which lines of it."""

    path: PathOf
    start_line: LineNumber | None = None
    end_line: LineNumber | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.end_line is not None and self.end_line < (self.start_line or 1):
            raise ValueError("end_line must not be before start_line")
        return self


class GetFileInfo(ToolParameters):
    """Which file or folder."""

    path: PathOf


@tool(category="files", permissions=[Permission.READ_FILES], idempotent=True)
@in_thread
def read_file(parameters: ReadFile, workspace: Workspace) -> ToolResult:
    """Read a text file, or some of its lines (counted from 1). Shows notebooks as their cells.

    Long files come in parts; the answer then says how to read on.
    """
    with (
        workspace.locate(parameters.path) as place,
        suggest_if_missing(workspace, place.path),
        place.open() as file,
    ):
        return _read_open(parameters, place.path, file)


def _read_open(parameters: ReadFile, path: str, file: BinaryIO) -> ToolResult:
    head = file.read(HEAD)
    if is_binary(head):
        size = file.seek(0, io.SEEK_END)
        kind = kind_of_binary(head)
        text = f"{path} is not text but a {kind} of {size_text(size)}; its content is not shown."
        data = {"paths": [path], "binary": True, "size": size, "kind": kind}
        return ToolResult(text, f"looked at {path} ({kind})", data)
    notes: list[str] = []
    announced = bom_of(head)
    encoding, source = _as_lines(path, head, file, notes)
    start = parameters.start_line or 1
    end = parameters.end_line or sys.maxsize
    lines = read_lines(source, start, end, MAX_BYTES)
    if start > max(lines.total, 1):
        raise InvalidInput(
            f"'{path}' has only {count_of(lines.total, 'line')}.", code="no_such_line"
        )
    text, encoding = decode(lines.data, encoding)
    if encoding.name != "utf-8":
        notes.append(f"read as {encoding.label}")
    notes.extend(_how_to_read_on(lines))
    return ToolResult(
        text=_with_notes(text.replace("\r\n", "\n"), notes),
        summary=_summary(path, lines),
        data={
            "paths": [path],
            "first_line": lines.first,
            "last_line": lines.last,
            "total_lines": lines.total,
            "encoding": (announced if announced.is_wide else encoding).name,
        },
    )


def _as_lines(
    path: str, head: bytes, file: BinaryIO, notes: list[str]
) -> tuple[Encoding, BinaryIO]:
    """The file with one-byte line breaks, and its encoding."""
    encoding = bom_of(head)
    if is_notebook(path):
        cells = try_cells(head + file.read(MAX_WHOLE_SIZE))
        if cells is not None:
            notes.append(
                "the notebook's cells as saved on disk; read_notebook also shows outputs "
                "and unsaved edits"
            )
            return bom_of(b""), io.BytesIO(render_cells(cells).encode("utf-8", "replace"))
    if encoding.is_wide:
        notes.append(f"read as {encoding.label}")
        text, _ = decode(head + file.read(MAX_WHOLE_SIZE))
        return bom_of(b""), io.BytesIO(text.encode())
    file.seek(len(encoding.bom))
    return encoding, file


def _how_to_read_on(lines: Lines) -> list[str]:
    notes = []
    if lines.cut_in_line:
        notes.append(f"line {lines.last} is very long; only its first {MAX_BYTES:,} bytes")
    if lines.first > 1 or lines.last < lines.total:
        notes.append(f"lines {lines.first}–{lines.last} of {lines.total}")
    if lines.last < lines.total:
        notes.append(f"continue with start_line={lines.last + 1}")
    return notes


def _with_notes(text: str, notes: list[str]) -> str:
    if not text and not notes:
        return "[the file is empty]"
    separator = "" if text.endswith("\n") or not text else "\n"
    return f"{text}{separator}[{'; '.join(notes)}]" if notes else text


def _summary(path: str, lines: Lines) -> str:
    if lines.first == 1 and lines.last == lines.total:
        return f"read {path} ({count_of(lines.total, 'line')})"
    return f"read lines {lines.first}–{lines.last} of {path}"


@tool(category="files", permissions=[Permission.READ_FILES], idempotent=True)
@in_thread
def get_file_info(parameters: GetFileInfo, workspace: Workspace) -> ToolResult:
    """Get a file's or folder's kind, size, modification time and permissions, not its content."""
    with workspace.locate(parameters.path, follow=False) as place:
        with suggest_if_missing(workspace, place.path):
            info = place.stat()
        kind = kind_of(info.st_mode)
        facts: dict[str, Any] = {
            "path": place.path,
            "kind": kind,
            "size": size_text(info.st_size),
            "bytes": info.st_size,
            "modified": datetime.fromtimestamp(info.st_mtime, UTC).isoformat(timespec="seconds"),
            "rights": stat.filemode(info.st_mode),
        }
        facts |= _more_facts(place, kind, workspace, parameters.path)
    text = "\n".join(f"{name}: {value}" for name, value in facts.items())
    return ToolResult(text, f"looked at {place.path}", {"paths": [place.path], "info": facts})


def _more_facts(place: PathHandle, kind: str, workspace: Workspace, path: str) -> dict[str, Any]:
    if kind == "folder":
        return {"entries": len(place.entries())}
    if kind == "link":
        return {"leads to": _target(workspace, path)}
    if kind != "file":
        return {}
    head = place.read(HEAD)
    if is_binary(head):
        return {"content": kind_of_binary(head)}
    return {"content": "notebook" if is_notebook(place.path) else "text"}


def _target(workspace: Workspace, link: str) -> str:
    try:
        with workspace.locate(link) as target:
            return target.path if target.exists() else f"{target.path} (missing)"
    except Forbidden:
        return "somewhere outside the workspace"


MAX_ENTRIES = 500
MAX_IN_SUBFOLDER = 100


class ListDirectory(ToolParameters):
    """Which folder, and how deep to look."""

    path: Annotated[str, Field(description="Folder, relative to the workspace.")] = "."
    depth: Annotated[int, Field(ge=1, le=3)] = 1


@tool(category="files", permissions=[Permission.READ_FILES], idempotent=True)
@in_thread
def list_directory(parameters: ListDirectory, workspace: Workspace) -> ToolResult:
    """List a folder with sizes, folders first, up to three levels deep.

    What .gitignore names is marked and not looked into.
    """
    with workspace.locate(parameters.path) as place, suggest_if_missing(workspace, place.path):
        entries = place.entries()
    listing = _Listing(workspace)
    lines = list(listing.lines(place.path, entries, parameters.depth))
    text = "\n".join(lines) or "[the folder is empty]"
    data = {
        "paths": [place.path],
        "entries": len(entries),
        "shown": listing.listed_count,
        "files": list(listing.files),
        "states": listing.files,
    }
    return ToolResult(
        text, f"listed {place.path} ({count_of(len(entries), 'entry', 'entries')})", data
    )


class _Listing:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._rules = IgnoreRules(workspace)
        self.listed_count = 0
        self.files: dict[str, tuple[int, float]] = {}
        """Size and modification time of listed files that git does not ignore."""

    def lines(
        self, folder: str, entries: list[ListedEntry], depth: int, level: int = 0
    ) -> Iterator[str]:
        room = MAX_ENTRIES - self.listed_count
        visible_entries = sorted(entries, key=_folders_first)[
            : min(room, MAX_IN_SUBFOLDER) if level else room
        ]
        self.listed_count += len(visible_entries)
        indent = "  " * level
        for entry in visible_entries:
            path = entry.name if folder == "." else f"{folder}/{entry.name}"
            is_folder = entry.kind == "folder"
            ignored = self._rules.ignores(path, is_folder=is_folder)
            yield f"{indent}{_described(entry)}{'  (ignored by git)' if ignored else ''}"
            if entry.kind == "file" and not ignored:
                self.files[path] = (entry.size, entry.modified)
            if is_folder and depth > 1 and not ignored and entry.name != ".git":
                yield from self.lines(path, self._entries(path), depth - 1, level + 1)
        if len(visible_entries) < len(entries):
            more = len(entries) - len(visible_entries)
            yield f"{indent}[{more:,} more in {folder}, not shown; list a sub-folder or use grep]"

    def _entries(self, folder: str) -> list[ListedEntry]:
        try:
            with self._workspace.locate(folder) as place:
                return place.entries()
        except CoworkError:  # unreadable folders are listed without their content
            return []


def _folders_first(entry: ListedEntry) -> tuple[bool, str]:
    return entry.kind != "folder", entry.name


def _described(entry: ListedEntry) -> str:
    about = {
        "folder": "/",
        "file": f"  {size_text(entry.size)}",
        "link": "  (symlink)",
        "special": "  (pipe, socket or device)",
    }
    return entry.name + about[entry.kind]
