"""Upkeep of the server process: idle culling, garbage collection, thread switching."""

from __future__ import annotations

import asyncio
import gc
import sys
from typing import TYPE_CHECKING, Any

from jupyter_server._tz import utcnow

from ...domain.operations import ModelCalled, Operation
from .tabs import real_path

if TYPE_CHECKING:
    from ...domain.contexts import Job
    from ...service.service import CoworkService


CHECK_SECONDS = 5.0
"""Short, as idle cullers wait for minutes."""
ACTIVITY_NAME = "cowork_jupyter"


class KeepAwake:
    """Makes a working job count as activity, for whatever culls idle servers and kernels.

    Jupyter, and through it JupyterHub, look at the last activity, and know only requests and
    kernels. A job that waits for its user is as idle as the user: it is stored and can be resumed.
    """

    def __init__(self, app: Any, service: CoworkService, loop: asyncio.AbstractEventLoop) -> None:
        """`loop` is Jupyter's own."""
        self._app = app
        self._service = service
        self._watching = asyncio.run_coroutine_threadsafe(self._watch(), loop)

    def stop(self) -> None:
        self._watching.cancel()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            if working := await asyncio.to_thread(self._service.jobs.working):
                self._app.web_app.settings["last_activity_times"][ACTIVITY_NAME] = utcnow()
                await self._touch_kernels(working)

    async def _touch_kernels(self, jobs: list[Job]) -> None:
        """Between two cells, a model may think for longer than a kernel may be idle."""
        from jupyter_core.utils import ensure_async

        folder = self._service.settings.workspace
        notebooks = {real_path(folder, job.notebook) for job in jobs if job.notebook}
        if not notebooks:
            return
        for session in await ensure_async(self._app.session_manager.list_sessions()):
            kernel_id = session["kernel"] and session["kernel"]["id"]
            if real_path(self._app.root_dir, session["path"]) not in notebooks:
                continue
            if kernel_id in self._app.kernel_manager:
                self._app.kernel_manager.get_kernel(kernel_id).last_activity = utcnow()


SWITCH_SECONDS = 0.001
"""How long a thread may compute while others wait; Python's 5 ms add up with several."""


class SharedInterpreter:
    """Freezes what was loaded out of the garbage collector's sight.

    Scanning all of it took a fifth of a second in which no thread ran. Only in the server: in a
    kernel, the objects are the user's.
    """

    def __init__(self) -> None:
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_SECONDS))
        gc.freeze()
        self._has_asked = False

    def receive(self, operation: Operation) -> None:
        """Freeze again after the first model call, which imports the client library."""
        if isinstance(operation, ModelCalled) and not self._has_asked:
            self._has_asked = True
            gc.freeze()
