from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from ..domain.errors import CoworkError, NotFound
from ..domain.roles import Permission
from ..workspace import IgnoreRules, ListedEntry, Workspace
from .base import ToolContext, ToolParameters, ToolResult, tool
from .close_names import not_found
from .sizes import size_text

MAX_ENTRIES = 500
MAX_IN_SUBFOLDER = 100


class ListDirectory(ToolParameters):
    """Which folder, and how deep to look."""

    path: Annotated[str, Field(description="Folder, relative to the workspace.")] = "."
    depth: Annotated[int, Field(ge=1, le=3)] = 1


@tool(category="files", permissions=[Permission.READ_FILES], idempotent=True)
async def list_directory(parameters: ListDirectory, context: ToolContext) -> ToolResult:
    """List a folder with sizes, folders first, up to three levels deep.

    What .gitignore names is marked and not looked into.
    """
    return await asyncio.to_thread(_list_directory, parameters, context.workspace)


def _list_directory(parameters: ListDirectory, workspace: Workspace) -> ToolResult:
    with workspace.locate(parameters.path) as place:
        try:
            entries = place.entries()
        except NotFound:
            raise not_found(workspace, place.path) from None
    listing = _Listing(workspace)
    lines = list(listing.lines(place.path, entries, parameters.depth))
    text = "\n".join(lines) or "[the folder is empty]"
    data = {
        "paths": [place.path],
        "entries": len(entries),
        "shown": listing.listed_count,
        "files": listing.files,
    }
    return ToolResult(text, f"listed {place.path} ({len(entries)} entries)", data)


class _Listing:
    """One listing, which stops at MAX_ENTRIES."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._rules = IgnoreRules(workspace)
        self.listed_count = 0
        self.files: list[str] = []
        """Paths of listed files that git does not ignore."""

    def lines(
        self, folder: str, entries: list[ListedEntry], depth: int, level: int = 0
    ) -> Iterator[str]:
        room = MAX_ENTRIES - self.listed_count
        visible_entries = _folders_first(entries)[: min(room, MAX_IN_SUBFOLDER) if level else room]
        self.listed_count += len(visible_entries)
        indent = "  " * level
        for entry in visible_entries:
            path = entry.name if folder == "." else f"{folder}/{entry.name}"
            is_folder = entry.kind == "folder"
            ignored = self._rules.ignores(path, is_folder=is_folder)
            yield f"{indent}{_described(entry)}{'  (ignored by git)' if ignored else ''}"
            if entry.kind == "file" and not ignored:
                self.files.append(path)
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


def _folders_first(entries: list[ListedEntry]) -> list[ListedEntry]:
    return sorted(entries, key=lambda entry: (entry.kind != "folder", entry.name))


def _described(entry: ListedEntry) -> str:
    match entry.kind:
        case "folder":
            return f"{entry.name}/"
        case "file":
            return f"{entry.name}  {size_text(entry.size)}"
        case "link":
            return f"{entry.name}  (symlink)"
        case _:
            return f"{entry.name}  (pipe, socket or device)"
