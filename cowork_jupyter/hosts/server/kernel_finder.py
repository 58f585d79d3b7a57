"""Find the kernel of a notebook among the server's sessions; start one if needed."""

from __future__ import annotations

import asyncio
import json
import os
import os.path
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_core.utils import ensure_async

from ...domain.errors import Conflict, InvalidInput
from ...tools.notebook.stored import locate_notebook
from ...workspace import Workspace
from .notebooks import ServerNotebooks
from .tabs import ForeignSessions, real_path


async def kernel_for(notebook: Path, kernels: Any) -> str | None:
    """The kernel name to start for a notebook; None leaves it to the server.

    Raises InvalidInput for one that is not installed: Jupyter would wait for a kernel that never
    starts.
    """
    name = await asyncio.to_thread(_named_in, notebook)
    if name is None:
        return None
    try:
        await ensure_async(kernels.kernel_spec_manager.get_kernel_spec(name))
    except KeyError:  # Jupyter's `NoSuchKernel`, or a gateway's equivalent
        raise InvalidInput(
            f"'{notebook.name}' needs the kernel '{name}', which is not installed here. "
            "Ask the user to install it or to choose another kernel for this notebook.",
            code="no_such_kernel",
        ) from None
    return name


async def python_for(notebook: Path, kernels: Any) -> str | None:
    """The interpreter of a notebook's kernel; None if it is not Python, unknown or remote."""
    try:
        name = await kernel_for(notebook, kernels) or kernels.default_kernel_name
        spec = await ensure_async(kernels.kernel_spec_manager.get_kernel_spec(name))
    except (InvalidInput, KeyError):
        return None
    if not isinstance(spec, KernelSpec):
        return None
    program = spec.argv[0] if spec.argv and spec.language == "python" else ""
    return program if os.path.isabs(program) else None  # noqa: PTH117 - a plain string


def _named_in(file: Path) -> str | None:
    try:
        name = json.loads(file.read_text("utf-8"))["metadata"]["kernelspec"]["name"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return str(name)


@dataclass(frozen=True)
class NotebookKernel:
    path: str
    kernel_id: str
    manager: Any


class KernelFinder:
    def __init__(
        self, sessions: Any, notebooks: ServerNotebooks, others: ForeignSessions, root: str
    ) -> None:
        self._sessions = sessions
        self._notebooks = notebooks
        self._others = others
        self._root = os.path.realpath(root)

    async def find(self, workspace: Workspace, path: str, *, start: bool = False) -> NotebookKernel:
        place, file = await asyncio.to_thread(_locate, workspace, path)
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
        """Start a private kernel; the caller must `end` it."""
        place, file = await asyncio.to_thread(_locate, workspace, path)
        notebook = self._among_files(place, file)
        kernel_id: str = await self._manager.start_kernel(
            kernel_name=await kernel_for(notebook, self._manager),
            path=notebook.relative_to(self._root).as_posix(),
        )
        return NotebookKernel(place, kernel_id, self._manager.get_kernel(kernel_id))

    async def end(self, kernel: NotebookKernel) -> None:
        await ensure_async(self._manager.shutdown_kernel(kernel.kernel_id, now=True))

    async def python(self, workspace: Workspace, path: str) -> str | None:
        """The interpreter that the notebook's kernel specification names."""
        place, file = await asyncio.to_thread(_locate, workspace, path)
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
        session = await self._sessions.create_session(
            path=notebook.relative_to(self._root).as_posix(),
            name=notebook.name,
            type="notebook",
            kernel_name=await kernel_for(notebook, self._manager),
        )
        self._others.add_own(session)

    def _among_files(self, place: str, file: str) -> Path:
        notebook = Path(file)
        if not notebook.is_relative_to(self._root):
            raise InvalidInput(f"'{place}' is not among the files of this server.", code="outside")
        return notebook


def _locate(workspace: Workspace, path: str) -> tuple[str, str]:
    with locate_notebook(workspace, path) as place:
        return place.path, real_path(workspace.root, place.path)
