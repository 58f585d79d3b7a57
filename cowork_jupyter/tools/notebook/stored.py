"""Notebooks as plain files of the workspace, for hosts without a browser."""

from __future__ import annotations

import asyncio
import threading

from ...domain.errors import InvalidInput, NotFound
from ...workspace import Place, Workspace
from ..documents import is_notebook, not_found
from ..text_files import MAX_WHOLE_SIZE
from .editing import Document, apply, outputs_of, parsed, state_of, written
from .state import Changed, Edit, NotebookState, Outputs

SMALL = 4 * 1024 * 1024
"""Bytes of a file that is fast to read and parse."""

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
    ) -> Changed:
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


def _change(workspace: Workspace, path: str, edit: Edit) -> Changed:
    with _one_at_a_time, locate_notebook(workspace, path) as place:
        document = _document(place)
        cell_id = apply(place.path, document, edit)
        place.replace(written(document))
        return Changed(place.path, cell_id)


def _document(place: Place) -> Document:
    data = place.read(MAX_WHOLE_SIZE + 1)
    if len(data) > MAX_WHOLE_SIZE:
        raise InvalidInput(
            f"'{place.path}' is too large. Ask the user to clear its outputs.", code="too_large"
        )
    return parsed(place.path, data)


def locate_notebook(workspace: Workspace, path: str) -> Place:
    """Raises unless it is an existing notebook."""
    place = workspace.locate(path)
    try:
        if not is_notebook(place.path):
            raise InvalidInput(
                f"'{place.path}' is not a notebook (.ipynb). Use read_file and update_file.",
                code="no_notebook",
            )
        place.stat()
    except NotFound:
        place.close()
        raise not_found(workspace, place.path) from None
    except BaseException:
        place.close()
        raise
    return place
