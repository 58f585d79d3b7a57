from __future__ import annotations

import re
from typing import Annotated, Self

from pydantic import Field, model_validator

from ..domain.errors import Conflict, InvalidInput
from ..domain.plurals import count_of
from ..domain.roles import Permission
from ..policy.calls import Preview
from ..policy.visible import decode_hidden_characters
from ..workspace import PathHandle, Workspace, kind_of
from .base import ToolParameters, ToolResult, in_thread, tool
from .diff import Diff, diff
from .documents import is_notebook, suggest_if_missing
from .files import PathOf
from .text_files import HEAD, MAX_WHOLE_SIZE, UTF8, decode, is_binary

LARGE_REWRITE = 20
"""Lines that a change must remove, beside half of the file, to be called a rewrite."""


class CreateFile(ToolParameters):
    """Where, and what is in it."""

    path: PathOf
    content: str = ""


class UpdateFile(ToolParameters):
    """Either one passage and what replaces it, or the whole new content."""

    path: PathOf
    old_text: Annotated[
        str | None, Field(min_length=1, description="Exact text that occurs once in the file.")
    ] = None
    new_text: Annotated[str | None, Field(description="Text that replaces old_text.")] = None
    content: Annotated[
        str | None, Field(description="The whole new content, instead of old_text and new_text.")
    ] = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        ways = ("old_text", "new_text", "content")
        given = {way for way in ways if getattr(self, way) is not None}
        if given not in ({"old_text", "new_text"}, {"content"}):
            raise ValueError("pass either old_text and new_text, or only content")
        return self


class DeleteFile(ToolParameters):
    """Which file or empty folder."""

    path: PathOf


@in_thread
def preview_creation(parameters: CreateFile, workspace: Workspace) -> Preview:
    with workspace.locate(parameters.path) as place:
        return Preview("diff", diff(place.path, "", parameters.content).text)


@in_thread
def preview_update(parameters: UpdateFile, workspace: Workspace) -> Preview:
    with workspace.locate(parameters.path) as place:
        before, _ = decode(_content_to_edit(place))
        after = _apply_edit(parameters, before, place.path)
        change = diff(place.path, _plain_breaks(before), _plain_breaks(after))
    lines = before.count("\n") + 1
    rewrite = change.removed >= LARGE_REWRITE and change.removed * 2 > lines
    return Preview("diff", change.text, rewrite)


@tool(category="files", permissions=[Permission.CREATE_FILES], preview=preview_creation)
@in_thread
def create_file(parameters: CreateFile, workspace: Workspace) -> ToolResult:
    """Create a new text file and its parent folders. Never overwrites."""
    data = UTF8.encode(parameters.content)
    with workspace.locate(parameters.path) as place:
        if place.exists():
            raise Conflict(
                f"'{place.path}' already exists, and create_file never overwrites; "
                "change it with update_file.",
                code="exists",
            )
        place.create(data)
        change = diff(place.path, "", parameters.content)
        summary = f"created {place.path} ({count_of(change.added, 'line')})"
        return _change_result(place.path, change, summary)


@tool(
    category="files",
    permissions=[Permission.READ_FILES, Permission.WRITE_FILES],
    preview=preview_update,
)
@in_thread
def update_file(parameters: UpdateFile, workspace: Workspace) -> ToolResult:
    """Change a text file: replace one exact passage, or the whole content.

    Line endings, encoding and rights stay as they were.
    """
    with workspace.locate(parameters.path) as place:
        with suggest_if_missing(workspace, place.path):
            raw = _content_to_edit(place)
        before, encoding = decode(raw)
        after = _apply_edit(parameters, before, place.path)
        if after == before:
            return ToolResult(
                f"{place.path} already has this content; nothing was changed.",
                f"left {place.path} unchanged",
                {"paths": [], "diff": ""},
            )
        place.replace(encoding.encode(after))
        change = diff(place.path, _plain_breaks(before), _plain_breaks(after))
        return _change_result(place.path, change, f"changed {place.path} ({change.counts})")


def _content_to_edit(place: PathHandle) -> bytes:
    if is_notebook(place.path):
        raise InvalidInput(
            f"'{place.path}' is a notebook. Change it cell by cell with edit_cell, insert_cell, "
            "move_cell and delete_cell, so that it stays valid and an open tab keeps up.",
            code="is_notebook",
        )
    raw = place.read(MAX_WHOLE_SIZE + 1)
    if len(raw) > MAX_WHOLE_SIZE:
        raise InvalidInput(
            f"'{place.path}' is too large to edit as text. Use a command.", code="too_large"
        )
    if is_binary(raw[:HEAD]):
        raise InvalidInput(f"'{place.path}' is not a text file.", code="is_binary")
    return raw


def _apply_edit(parameters: UpdateFile, before: str, path: str) -> str:
    """The new text, with the file's own line breaks in everything new.

    Models read invisible characters spelled out, and may write them like that.
    """
    line_break = "\r\n" if before.count("\r\n") * 2 > before.count("\n") else "\n"

    def as_in_file(text: str) -> str:
        return _plain_breaks(decode_hidden_characters(text, before)).replace("\n", line_break)

    if parameters.content is not None:
        return as_in_file(parameters.content)
    start, end = _only_match(
        decode_hidden_characters(parameters.old_text or "", before), before, path
    )
    return before[:start] + as_in_file(parameters.new_text or "") + before[end:]


def _only_match(old: str, text: str, path: str) -> tuple[int, int]:
    """Span of the only occurrence of the passage, whichever line breaks it is written with."""
    lines = map(re.escape, _plain_breaks(old).split("\n"))
    passage = r"(?:\r\n|(?<!\r)\n)".join(lines)
    # A look-ahead, so that overlapping matches are all counted.
    spans = [match.span(1) for match in re.finditer(f"(?=({passage}))", text)]
    if not spans:
        raise InvalidInput(
            f"old_text is not in '{path}'.{_mismatch_hint(old, text)} Nothing was changed.",
            code="text_not_found",
        )
    if len(spans) > 1:
        raise InvalidInput(
            f"old_text is in '{path}' {len(spans)} times; add surrounding lines so that it "
            "matches only once. Nothing was changed.",
            code="text_ambiguous",
            details={"matches": len(spans)},
        )
    return spans[0]


def _mismatch_hint(old: str, text: str) -> str:
    words = old.split()
    loose = words and re.search(r"\s+".join(map(re.escape, words)), text)
    if not loose:
        return " Read the file again: it may have changed."
    line = text.count("\n", 0, loose.start()) + 1
    return f" It is at line {line} with other spaces or line breaks; copy it exactly."


@tool(category="files", permissions=[Permission.READ_FILES, Permission.DELETE_FILES])
@in_thread
def delete_file(parameters: DeleteFile, workspace: Workspace) -> ToolResult:
    """Delete a file, a symlink (not its target) or an empty folder."""
    with workspace.locate(parameters.path, follow=False) as place:
        with suggest_if_missing(workspace, place.path):
            kind = kind_of(place.stat().st_mode)
        place.rmdir() if kind == "folder" else place.unlink()
    what = {"folder": "empty folder ", "link": "symlink "}.get(kind, "")
    return ToolResult(
        f"Deleted {what}{place.path}.", f"deleted {place.path}", {"paths": [place.path]}
    )


def _change_result(path: str, change: Diff, summary: str) -> ToolResult:
    data = {"paths": [path], "diff": change.text, "added": change.added, "removed": change.removed}
    return ToolResult(f"{summary[0].upper()}{summary[1:]}.", summary, data)


def _plain_breaks(text: str) -> str:
    return text.replace("\r\n", "\n")
