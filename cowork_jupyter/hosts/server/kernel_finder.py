"""Which kernel of this server belongs to a notebook; one is started if need be."""

from __future__ import annotations

import asyncio
import os.path
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_core.utils import ensure_async

from ...domain.errors import Conflict, InvalidInput
from ...tools.notebook.stored import locate_notebook
from ...workspace import Workspace
from .kernel_choice import kernel_for, python_for
from .notebooks import ServerNotebooks
from .open_elsewhere import ForeignSessions
from .paths import real_path


@dataclass(frozen=True)
class NotebookKernel:
    """A notebook that has a kernel."""

    path: str
    kernel_id: str
    manager: Any


class KernelFinder:
    """Looks in the server's sessions."""

    def __init__(
        self, sessions: Any, notebooks: ServerNotebooks, others: ForeignSessions, root: str
    ) -> None:
        self._sessions = sessions
        self._notebooks = notebooks
        self._others = others
        self._root = os.path.realpath(root)

    async def find(self, workspace: Workspace, path: str, *, start: bool = False) -> NotebookKernel:
        place, file = await asyncio.to_thread(_located, workspace, path)
        kernel_id = await self._kernel_of(file)
        if kernel_id is None and start:
            await self._start(workspace, place, file)
            kernel_id = await self._kernel_of(file)
        if kernel_id is None:
            raise Conflict(
                f"No kernel is running for '{place}'. Run code with start_kernel to start one. "
                "The variables of an earlier kernel are gone.",
                code="no_kernel",
            )
        return NotebookKernel(place, kernel_id, self._manager.get_kernel(kernel_id))

    async def start_apart(self, workspace: Workspace, path: str) -> NotebookKernel:
        """A kernel that nobody else has, until somebody calls `end`."""
        place, file = await asyncio.to_thread(_located, workspace, path)
        notebook = self._among_files(place, file)
        kernel_id: str = await self._manager.start_kernel(
            kernel_name=await kernel_for(notebook, self._manager),
            path=notebook.relative_to(self._root).as_posix(),
        )
        return NotebookKernel(place, kernel_id, self._manager.get_kernel(kernel_id))

    async def end(self, kernel: NotebookKernel) -> None:
        await ensure_async(self._manager.shutdown_kernel(kernel.kernel_id, now=True))

    async def python(self, workspace: Workspace, path: str) -> str | None:
        """The one that the notebook's kernel specification names."""
        place, file = await asyncio.to_thread(_located, workspace, path)
        return await python_for(self._among_files(place, file), self._manager)

    @property
    def _manager(self) -> Any:
        return self._sessions.kernel_manager

    async def _kernel_of(self, file: str) -> str | None:
        for session in reversed(await ensure_async(self._sessions.list_sessions())):
            if session["kernel"] and real_path(self._root, session["path"]) == file:
                kernel_id: str = session["kernel"]["id"]
                return kernel_id
        return None

    async def _start(self, workspace: Workspace, place: str, file: str) -> None:
        """In the tab that has the notebook open, or for whoever opens it next."""
        if await self._notebooks.start_kernel(workspace, place):
            return
        notebook = self._among_files(place, file)
        made = await self._sessions.create_session(
            path=notebook.relative_to(self._root).as_posix(),
            name=notebook.name,
            type="notebook",
            kernel_name=await kernel_for(notebook, self._manager),
        )
        self._others.add_own(made)

    def _among_files(self, place: str, file: str) -> Path:
        notebook = Path(file)
        if not notebook.is_relative_to(self._root):
            raise InvalidInput(f"'{place}' is not among the files of this server.", code="outside")
        return notebook


def _located(workspace: Workspace, path: str) -> tuple[str, str]:
    with locate_notebook(workspace, path) as place:
        return place.path, real_path(workspace.root, place.path)
