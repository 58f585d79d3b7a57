"""Notebooks through the tab that has them open, else through Jupyter's contents manager.

An open notebook is never written on disk: its tab has the newest text, possibly unsaved. The same
holds with real-time collaboration, where the tab's document is the shared one.

A tab receives only the differences, by cell. It decides nothing: it checks that its cells still
have the text that the content was based on, then applies the instructions; what they do not name
stays, such as outputs that came meanwhile.
"""

from __future__ import annotations

import asyncio
import os.path
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import nbformat
from jupyter_core.utils import ensure_async
from tornado import web

from ...checkpoints import DocumentChanged
from ...domain.errors import Conflict, CoworkError, Forbidden, InvalidInput, NotFound, Unavailable
from ...tools.documents import is_notebook
from ...tools.notebook.state import (
    CellState,
    Edit,
    EditResult,
    NotebookState,
    OpenElsewhere,
    Outputs,
    no_such_cell,
    stale_cell_error,
)
from ...tools.notebook.stored import (
    Document,
    NotebookFiles,
    apply,
    check_notebook,
    locate_notebook,
    outputs_of,
    parse_notebook,
    state_of,
    tags_of,
)
from ...workspace import Workspace
from ..service_thread import in_own_loop
from .handler import message_of
from .tabs import ForeignSessions, TabGone, TabRefused, Tabs, TabSilent


@dataclass(frozen=True)
class _Location:
    path: str
    """Relative to the workspace."""
    file: str
    """Real path."""


class ServerNotebooks:
    """Reads and changes notebooks; for checkpoints also what is unsaved in open ones."""

    def __init__(
        self,
        tabs: Tabs,
        others: ForeignSessions,
        contents: Any,
        root: str,
        workspace: Path,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self.loop = loop or asyncio.get_running_loop()
        self._tabs = tabs
        self._others = others
        self._contents = contents
        self._root = os.path.realpath(root)
        self._workspace = workspace
        self._files = NotebookFiles()
        self._write_lock = asyncio.Lock()

    # For tools

    @in_own_loop
    async def read(self, workspace: Workspace, path: str) -> NotebookState:
        location = await self._find(workspace, path)
        answer = await self._ask_tab(location, "read")
        if answer is not None:
            return _state(location.path, answer)
        contents_path = await self._contents_path(location)
        if contents_path is None:
            return await self._files.read(workspace, path)
        return state_of(location.path, await self._load(location, contents_path))

    @in_own_loop
    async def glance(self, workspace: Workspace, path: str) -> NotebookState | None:
        """Like `read`, but None unless it is cheap: few outputs in the tab, or a small file."""
        location = await self._find(workspace, path)
        answer = await self._ask_tab(location, "glance")
        if answer is not None:
            return _state(location.path, answer)
        return await self._files.glance(workspace, path)

    @in_own_loop
    async def outputs(self, workspace: Workspace, path: str, cell_id: str) -> Outputs:
        location = await self._find(workspace, path)
        answer = await self._ask_tab(location, "outputs", cell_id=cell_id)
        if answer is not None:
            return tuple(answer["outputs"])
        contents_path = await self._contents_path(location)
        if contents_path is None:
            return await self._files.outputs(workspace, path, cell_id)
        return outputs_of(location.path, await self._load(location, contents_path), cell_id)

    @in_own_loop
    async def change(
        self, workspace: Workspace, path: str, edit: Edit, *, under_open: bool = False
    ) -> EditResult:
        """Raises OpenElsewhere while a program other than our tabs has it open."""
        location = await self._find(workspace, path)
        answer = await self._ask_tab(location, "change", edit=asdict(edit))
        if answer is not None:
            return EditResult(location.path, edit.cell_id, True, bool(answer.get("unsaved")))
        if not under_open and await self._others.have_open(location.file):
            raise OpenElsewhere(location.path)
        contents_path = await self._contents_path(location)
        if contents_path is None:
            return await self._files.change(workspace, path, edit)
        async with self._write_lock:
            document = await self._load(location, contents_path)
            cell_id = apply(location.path, document, edit)
            await self._save(location, contents_path, document)
        return EditResult(location.path, cell_id)

    # For kernels

    @in_own_loop
    async def run(self, workspace: Workspace, path: str, cell_id: str, expected: str) -> str | None:
        """Let the tab run a cell, as its user would; return the id of the request it sent.

        None if no tab has the notebook open.
        """
        location = await self._find(workspace, path)
        answer = await self._ask_tab(location, "run", cell_id=cell_id, expected=expected)
        return str(answer["request"]) if answer else None

    @in_own_loop
    async def start_kernel(self, workspace: Workspace, path: str) -> bool:
        """Return False if no tab has the notebook open."""
        location = await self._find(workspace, path)
        return await self._ask_tab(location, "start_kernel") is not None

    # For checkpoints

    @in_own_loop
    async def read_unsaved(self, path: str) -> bytes | None:
        """What saving would write now; None if the notebook is not open, or is saved."""
        location = self._location_of(path)
        answer = await self._ask_tab(location, "content") if location else None
        if answer is None or not answer.get("unsaved"):
            return None
        return await asyncio.to_thread(serialize, answer["content"])

    def is_open(self, path: str) -> bool:
        location = self._location_of(path)
        return location is not None and bool(self._tabs.showing(location.file, self._root))

    @in_own_loop
    async def write(self, path: str, present: bytes | None, content: bytes) -> bool:
        """Replace the open document's content; return False if none is open.

        Also False if it has that content already: then the file was changed under an open tab.
        """
        location = self._location_of(path)
        if location is None or not self.is_open(path):
            return False
        try:
            target = join_lines(parse_notebook(path, content))
            before = None if present is None else join_lines(parse_notebook(path, present))
        except CoworkError:
            return False
        try:
            arguments = replacement(before, target)
            return await self._ask_tab(location, "replace", **arguments) is not None
        except DocumentChanged as refusal:
            if refusal.details["texts"] == texts(target):
                return False
            raise

    @in_own_loop
    async def is_open_elsewhere(self, path: str) -> bool:
        """Whether a program other than our tabs has it open."""
        location = self._location_of(path)
        if location is None or self.is_open(path):
            return False
        return await self._others.have_open(location.file)

    # Locations

    def _location_of(self, path: str) -> _Location | None:
        if not is_notebook(path):
            return None
        return _Location(path, os.path.realpath(self._workspace / path))

    async def _find(self, workspace: Workspace, path: str) -> _Location:
        """Resolve a path that this call may use; the file must exist."""
        try:
            return await asyncio.to_thread(_locate, workspace, path)
        except NotFound:
            gone = self._location_of(path)
            if gone and self._tabs.showing(gone.file, self._root):
                raise Conflict(
                    f"'{path}' was deleted or moved, but a browser tab still shows it. Ask the "
                    "user whether to save it again.",
                    code="deleted",
                ) from None
            raise

    async def _contents_path(self, location: _Location) -> str | None:
        """The contents manager's path; None if it is outside its root or hidden."""
        if not location.file.startswith(f"{self._root.rstrip('/')}/"):
            return None
        path = location.file[len(self._root.rstrip("/")) + 1 :]
        return None if await self._is_hidden(path) else path

    async def _is_hidden(self, path: str) -> bool:
        if self._contents.allow_hidden:
            return False
        return bool(await ensure_async(self._contents.is_hidden(path)))

    # Tabs

    async def _ask_tab(
        self, location: _Location, question: str, **more: Any
    ) -> dict[str, Any] | None:
        """The answer of the last used tab; None if no tab has the notebook open."""
        changes = question in ("change", "replace", "run")
        for tab, path in self._tabs.showing(location.file, self._root):
            try:
                return await tab.ask(question, path, **more)
            except TabGone:
                if changes:
                    raise _tab_lost(location.path, "went away") from None
            except TabSilent:
                raise (_tab_lost if changes else _tab_silent)(
                    location.path, "does not answer"
                ) from None
            except TabRefused as refusal:
                if refusal.code != "not_open":  # closed or renamed a moment ago
                    raise _tab_refused(location.path, refusal) from None
        return None

    # Contents manager

    async def _load(self, location: _Location, contents_path: str) -> Document:
        _check_place(location)
        try:
            model = await ensure_async(self._contents.get(contents_path, type="notebook"))
        except web.HTTPError as error:
            raise _contents_error(location.path, error) from error
        document: Document = model["content"]
        return check_notebook(location.path, document)

    async def _save(self, location: _Location, contents_path: str, document: Document) -> None:
        model = {"type": "notebook", "format": "json", "content": document}
        _check_place(location)
        try:
            await ensure_async(self._contents.save(model, contents_path))
        except web.HTTPError as error:
            raise _contents_error(location.path, error) from error


def _locate(workspace: Workspace, path: str) -> _Location:
    with locate_notebook(workspace, path) as place:
        return _Location(place.path, str(workspace.root / place.path))


def _check_place(location: _Location) -> None:
    """The contents manager follows symlinks, so no new one may have appeared. It also creates
    missing files: a notebook that was renamed meanwhile must not come back.
    """
    if os.path.realpath(location.file) != location.file or not os.path.exists(location.file):  # noqa: PTH110
        raise Conflict(
            f"'{location.path}' is no longer where it was. Read it, then try again.",
            code="changed_since_decided",
            retryable=True,
        )


def _state(path: str, answer: dict[str, Any]) -> NotebookState:
    """The tab has shortened the outputs already."""
    return NotebookState(
        path=path,
        cells=tuple(_cell(raw) for raw in answer["cells"]),
        language=str(answer.get("language") or ""),
        is_open=True,
        unsaved=bool(answer.get("unsaved")),
        active=str(answer["active"]) if answer.get("active") else None,
        selected=str(answer.get("selected") or ""),
        cowork=kept if isinstance(kept := answer.get("cowork"), dict) else {},
    )


def _cell(raw: dict[str, Any]) -> CellState:
    return CellState(
        id=str(raw["id"]),
        cell_type=str(raw["cell_type"]),
        source=str(raw["source"]),
        execution_count=raw.get("execution_count"),
        outputs=tuple(raw.get("outputs") or ()),
        tags=tags_of(raw),
    )


def _tab_lost(path: str, what: str) -> Unavailable:
    return Unavailable(
        f"The browser tab that has '{path}' open {what}, so it is unknown whether the change "
        "was made. Read the notebook again before you continue.",
        code="tab_lost",
    )


def _tab_silent(path: str, what: str) -> Unavailable:
    return Unavailable(
        f"The browser tab that has '{path}' open {what}. Ask the user to look at that tab or "
        "close it.",
        code="tab_silent",
    )


def _tab_refused(path: str, refusal: TabRefused) -> CoworkError:
    answer = refusal.answer
    if refusal.code == DocumentChanged.code:
        return DocumentChanged(f"'{path}' has changed.", details={"texts": answer["texts"]})
    if refusal.code == "stale_cell":
        return stale_cell_error(path, _cell(answer["cell"]))
    if refusal.code == "no_such_cell":
        return no_such_cell(path, str(answer.get("cell_id", "")))
    if refusal.code == "no_kernel":
        return Conflict(
            f"The tab that has '{path}' open has no kernel. Choose one there.",
            code="no_kernel",
            advice="Ask the user to choose a kernel in that tab.",
        )
    if refusal.code == "read_only":
        return Forbidden(f"'{path}' is open read-only.", code="read_only")
    return Unavailable(f"The tab that has '{path}' open refused: {refusal}", code="tab")


def _contents_error(path: str, error: web.HTTPError) -> CoworkError:
    reason = message_of(error) or error.reason or str(error)
    return InvalidInput(f"Jupyter says about '{path}': {reason}", code="contents")


def replacement(present: Document | None, target: Document) -> dict[str, Any]:
    """`present` is what the tab should hold; None if unknown, and then not checked."""
    expected = None if present is None else texts(present)
    if present is None or not (_has_ids(present) and _has_ids(target)):
        return {"expected": expected, "content": target}
    present_cells = {cell["id"]: cell for cell in present["cells"]}
    return {
        "expected": expected,
        "cells": [_difference(present_cells.get(cell["id"]), cell) for cell in target["cells"]],
        "metadata": _keys(present.get("metadata") or {}, target.get("metadata") or {}),
    }


def texts(document: Document) -> list[dict[str, Any]]:
    """What a tab compares: its cells without outputs and metadata."""
    names = ("id", "cell_type", "source")
    return [{name: cell[name] for name in names if name in cell} for cell in document["cells"]]


def join_lines(document: Document) -> Document:
    """Join multi-line strings, which files may keep line by line, as tabs do."""
    nodes: Any = nbformat
    return dict(nodes.v4.rwbase.rejoin_lines(nodes.from_dict(document)))


def serialize(content: dict[str, Any]) -> bytes:
    """The bytes that Jupyter's contents manager would write."""
    nodes: Any = nbformat
    text: str = nodes.writes(nodes.from_dict(content), version=nodes.NO_CONVERT)
    return (text if text.endswith("\n") else f"{text}\n").encode()


def _has_ids(document: Document) -> bool:
    return all("id" in cell for cell in document["cells"])


def _difference(present: dict[str, Any] | None, cell: dict[str, Any]) -> dict[str, Any]:
    """The whole cell if it or its type is new; else its id and the fields that differ."""
    if present is None or present["cell_type"] != cell["cell_type"]:
        return cell
    fields = present.keys() | cell.keys()
    differing = {name: cell.get(name) for name in fields if present.get(name) != cell.get(name)}
    return {"id": cell["id"], **differing}


def _keys(present: dict[str, Any], target: dict[str, Any]) -> dict[str, Any]:
    changed = {key: value for key, value in target.items() if present.get(key, ...) != value}
    return {"set": changed, "delete": sorted(present.keys() - target.keys())}
