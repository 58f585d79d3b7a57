"""Notebook files (format 4, JSON), and edits of them.

Cells of documents before 4.5 have no ids. They go by their place, `#3`; the source that an edit
expects then keeps it from landing in another cell.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
from collections.abc import Mapping
from typing import Any

from ...domain.errors import InvalidInput
from ...workspace import PathHandle, Workspace
from ..documents import is_notebook, suggest_if_missing
from ..text_files import MAX_WHOLE_SIZE
from .outputs import as_text, shorten_output
from .state import (
    CellState,
    Edit,
    EditResult,
    NotebookState,
    Outputs,
    no_such_cell,
    stale_cell_error,
)

Document = dict[str, Any]
BY_PLACE = "#"
"""Prefix of the ids of cells that have none."""


def parse_notebook(path: str, data: bytes) -> Document:
    """Raises InvalidInput unless it is a notebook that can be edited."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise InvalidInput(
            f"'{path}' is not a notebook: it is not a JSON object.", code="no_notebook"
        )
    return check_notebook(path, document)


def check_notebook(path: str, document: Document) -> Document:
    """Raises InvalidInput unless its cells can be told."""
    if document.get("nbformat") != 4:
        raise InvalidInput(
            f"'{path}' has an old or unknown notebook format. Ask the user to open it in "
            "JupyterLab and save it.",
            code="old_notebook",
        )
    cells = document.get("cells")
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise InvalidInput(f"'{path}' is not a notebook: it has no cells.", code="no_notebook")
    return document


def serialize_notebook(document: Document) -> bytes:
    """The file as Jupyter writes it."""
    text = json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True)
    return f"{text}\n".encode("utf-8", "replace")


def state_of(path: str, document: Document) -> NotebookState:
    states = tuple(_states(document))
    return NotebookState(path, states, _language(document), cowork=_ours(document))


def outputs_of(path: str, document: Document, cell_id: str) -> Outputs:
    raw = document["cells"][_index(path, _states(document), cell_id)]
    return tuple(shorten_output(output, pictures=True) for output in _raw_outputs(raw))


def new_cell_id() -> str:
    """An id as Jupyter generates them."""
    return secrets.token_hex(4)


def apply(path: str, document: Document, edit: Edit) -> str:
    """Carry out an edit on the document; returns the id of its cell afterwards."""
    if edit.kind == "metadata":
        document["metadata"] = {
            **_metadata(document),
            "cowork": {**_ours(document), **edit.metadata},
        }
        return edit.cell_id
    cells: list[dict[str, Any]] = document["cells"]
    states = _states(document)
    if edit.kind == "insert":
        place = _place_after(path, states, edit.after)
        minor = document.get("nbformat_minor")
        new: dict[str, Any] = {}
        if isinstance(minor, int) and minor >= 5:
            new["id"] = edit.cell_id
        _rewrite(new, edit)
        cells.insert(place, new)
    else:
        index = _index(path, states, edit.cell_id)
        place = index
        if edit.expected not in (None, states[index].source):
            raise stale_cell_error(path, states[index])
        if edit.kind == "edit":
            _rewrite(cells[index], edit)
        elif edit.kind == "outputs":
            outputs = [dict(output) for output in edit.outputs]
            cells[index] |= {"outputs": outputs, "execution_count": edit.execution_count}
        elif edit.kind == "delete":
            del cells[index]
            return edit.cell_id
        else:
            place = _place_after(path, states, edit.after)
            place -= place > index
            cells.insert(place, cells.pop(index))
    return _states(document)[place].id


def _states(document: Document) -> list[CellState]:
    return [_state(index, raw) for index, raw in enumerate(document["cells"])]


def _state(index: int, raw: dict[str, Any]) -> CellState:
    count = raw.get("execution_count")
    return CellState(
        id=str(raw.get("id") or f"{BY_PLACE}{index}"),
        cell_type=str(raw.get("cell_type", "")),
        source=as_text(raw.get("source")),
        execution_count=count if isinstance(count, int) else None,
        outputs=tuple(shorten_output(output) for output in _raw_outputs(raw)),
        tags=tags_of(_metadata(raw)),
    )


def tags_of(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    tags = metadata.get("tags")
    return tuple(map(str, tags)) if isinstance(tags, list) else ()


def _raw_outputs(raw: dict[str, Any]) -> list[dict[str, Any]]:
    outputs = raw.get("outputs")
    listed = outputs if isinstance(outputs, list) else []
    return [output for output in listed if isinstance(output, dict)]


def _metadata(document: Document) -> dict[str, Any]:
    metadata = document.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _ours(document: Document) -> dict[str, Any]:
    kept = _metadata(document).get("cowork")
    return kept if isinstance(kept, dict) else {}


def _language(document: Document) -> str:
    metadata = _metadata(document)
    for holder in ("language_info", "kernelspec"):
        facts = metadata.get(holder)
        if isinstance(facts, dict):
            name = facts.get("language") or facts.get("name")
            if name:
                return str(name)
    return ""


def _index(path: str, states: list[CellState], cell_id: str) -> int:
    for index, cell in enumerate(states):
        if cell.id == cell_id:
            return index
    raise no_such_cell(path, cell_id)


def _place_after(path: str, states: list[CellState], after: str | None) -> int:
    return 0 if after is None else _index(path, states, after) + 1


def _rewrite(cell: dict[str, Any], edit: Edit) -> None:
    """Set source and type; drop what the new type does not have, add what it must have."""
    if cell.get("cell_type") != edit.cell_type:
        for name in ("outputs", "execution_count", "attachments"):
            cell.pop(name, None)
        if edit.cell_type == "code":
            cell |= {"outputs": [], "execution_count": None}
        cell["cell_type"] = edit.cell_type
        cell.setdefault("metadata", {})
    cell["source"] = edit.source.splitlines(keepends=True)


SMALL = 4 * 1024 * 1024

_one_at_a_time = threading.Lock()
"""Two edits of one file must not both start from the same state."""


class NotebookFiles:
    async def read(self, workspace: Workspace, path: str) -> NotebookState:
        return await asyncio.to_thread(_read, workspace, path)

    async def glance(self, workspace: Workspace, path: str) -> NotebookState | None:
        """None for a large file."""
        return await asyncio.to_thread(_glance, workspace, path)

    async def outputs(self, workspace: Workspace, path: str, cell_id: str) -> Outputs:
        return await asyncio.to_thread(_outputs, workspace, path, cell_id)

    async def change(
        self,
        workspace: Workspace,
        path: str,
        edit: Edit,
        *,
        under_open: bool = False,  # noqa: ARG002 (who has it open cannot be known here)
    ) -> EditResult:
        return await asyncio.to_thread(_change, workspace, path, edit)


def _read(workspace: Workspace, path: str) -> NotebookState:
    with locate_notebook(workspace, path) as place:
        return state_of(place.path, _document(place))


def _glance(workspace: Workspace, path: str) -> NotebookState | None:
    with locate_notebook(workspace, path) as place:
        return state_of(place.path, _document(place)) if place.stat().st_size <= SMALL else None


def _outputs(workspace: Workspace, path: str, cell_id: str) -> Outputs:
    with locate_notebook(workspace, path) as place:
        return outputs_of(place.path, _document(place), cell_id)


def _change(workspace: Workspace, path: str, edit: Edit) -> EditResult:
    with _one_at_a_time, locate_notebook(workspace, path) as place:
        document = _document(place)
        cell_id = apply(place.path, document, edit)
        place.replace(serialize_notebook(document))
        return EditResult(place.path, cell_id)


def _document(place: PathHandle) -> Document:
    data = place.read(MAX_WHOLE_SIZE + 1)
    if len(data) > MAX_WHOLE_SIZE:
        raise InvalidInput(
            f"'{place.path}' is too large. Ask the user to clear its outputs.", code="too_large"
        )
    return parse_notebook(place.path, data)


def locate_notebook(workspace: Workspace, path: str) -> PathHandle:
    """Raises unless it is an existing notebook."""
    place = workspace.locate(path)
    try:
        if not is_notebook(place.path):
            raise InvalidInput(
                f"'{place.path}' is not a notebook (.ipynb). Use read_file and update_file.",
                code="no_notebook",
            )
        with suggest_if_missing(workspace, place.path):
            place.stat()
    except BaseException:
        place.close()
        raise
    return place
