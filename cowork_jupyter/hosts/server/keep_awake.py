"""A job that works counts as activity, for whatever ends idle servers and kernels.

Jupyter, and JupyterHub through it, look at when something happened last, and know only requests
and kernels. A job that waits for its user is idle like the user: it is stored, and can be resumed.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from jupyter_server._tz import utcnow

from .paths import real_path

if TYPE_CHECKING:
    from ...domain.contexts import Job
    from ...service import CoworkService

SECONDS = 5.0
"""Between two looks. Whoever ends what is idle waits for minutes."""
NAME = "cowork_jupyter"


class KeepAwake:
    """Looks after one server, from its first use of the service on."""

    def __init__(self, app: Any, service: CoworkService, loop: asyncio.AbstractEventLoop) -> None:
        """`loop` is Jupyter's own."""
        self._app = app
        self._service = service
        self._watching = asyncio.run_coroutine_threadsafe(self._watch(), loop)

    def stop(self) -> None:
        self._watching.cancel()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(SECONDS)
            if working := await asyncio.to_thread(self._service.jobs.working):
                self._app.web_app.settings["last_activity_times"][NAME] = utcnow()
                await self._touch_kernels(working)

    async def _touch_kernels(self, jobs: list[Job]) -> None:
        """Between two cells a model may think for longer than a kernel may be idle."""
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
