"""The server extension: reads the configuration and lays out the routes.

Jupyter imports this at every start, so it imports nothing heavy: the service, its models and all
they need come with the first request (a test pins this).
"""

from __future__ import annotations

import asyncio
import logging
import os.path
import threading
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from jupyter_server.extension.application import ExtensionApp
from tornado.ioloop import IOLoop
from traitlets import TraitError

from ..._version import __version__
from ...service.parts import installed_parts
from ..config import Cowork, log_below, private_paths_of
from ..service_thread import ServiceThread, run_in
from .activity import ActivityFeed
from .handler import ApiHandler
from .kernel_tokens import KernelTokens
from .sockets import EventsSocket, PageSocket
from .tabs import Tab, Tabs, real_path, workspace_path

if TYPE_CHECKING:
    from collections.abc import Collection, Coroutine, Iterator, Sequence

    from jupyter_server.serverapp import ServerApp

    from ...domain.cell_commands import CellCommand
    from ...domain.health import Problem
    from ...domain.settings import Settings
    from ...service.parts import ServerObserver
    from ...service.service import CoworkService
    from .cell_marks import CellMarks
    from .housekeeping import KeepAwake
    from .kernels import ServerKernels


T = TypeVar("T")


class CoworkExtension(ExtensionApp):
    name = "cowork_jupyter"
    version = __version__
    description = "Cowork: an agent that plans first and acts after you approve."
    extension_url = "/lab"
    load_other_extensions = True
    classes = [Cowork]
    handlers = [
        (r"/cowork/context/([^/]+)/events/ws", EventsSocket),
        (r"/cowork/ws", PageSocket),
        *(handler for part in installed_parts() for handler in part.handlers()),
        (r"/cowork/.*", ApiHandler),  # all that is nothing else
    ]

    kind: Literal["server"] = "server"
    kernel_tokens: KernelTokens
    activity: ActivityFeed
    tabs: Tabs
    observers: Sequence[ServerObserver] = ()
    _service: CoworkService | None = None
    _is_loaded = False
    _making = threading.Lock()
    _kernels: ServerKernels | None = None
    _marks: CellMarks | None = None
    _awake: KeepAwake | None = None

    @property
    def _app(self) -> ServerApp:
        assert self.serverapp is not None
        return self.serverapp

    def initialize_settings(self) -> None:
        app = self._app
        log_below(app.log)
        self.kernel_tokens = KernelTokens(
            app.kernel_manager, lambda: app.connection_url, self._own_key
        )
        self.kernel_tokens.wrap_kernel_start()
        self.activity = ActivityFeed()
        self.tabs = Tabs()
        if self._has_record():
            self._announce_record()
        assert app.event_logger is not None
        app.event_logger.add_listener(
            schema_id=app.contents_manager.event_schema_id, listener=self._on_file_event
        )

    @cached_property
    def thread(self) -> ServiceThread:
        """The service's thread. First accessed in Jupyter's loop, which is remembered here."""
        self._loop: asyncio.AbstractEventLoop = IOLoop.current().asyncio_loop  # type: ignore[attr-defined]
        return ServiceThread()

    async def in_jupyter(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work on Jupyter's own objects, which belong to its loop."""
        return await run_in(self._loop, work)

    async def load(self) -> None:
        """Build the service and import the routes in the service's thread, once."""

        async def load() -> None:
            from ...api import api  # noqa: F401 (its endpoints register themselves)

            assert self.service
            self._is_loaded = True

        if not self._is_loaded:
            await self.thread.run(load())

    @property
    def service(self) -> CoworkService:
        with self._making:
            return self._service or self._build_service()

    def _build_service(self) -> CoworkService:
        from ...service.wiring import build_service
        from .housekeeping import KeepAwake, SharedInterpreter
        from .kernels import ServerKernels
        from .notebooks import ServerNotebooks
        from .tabs import ForeignSessions

        assert self.thread
        app, loop = self._app, self._loop
        settings = self._settings(app.root_dir)
        others = ForeignSessions(app.session_manager, self.tabs, app.root_dir)
        notebooks = ServerNotebooks(
            self.tabs, others, app.contents_manager, app.root_dir, settings.workspace, loop
        )
        self._kernels = ServerKernels(
            app.session_manager, notebooks, others, app.root_dir, settings.stall_seconds, loop
        )
        makers = (part.server_observer for part in installed_parts())
        self.observers = [make(app, loop) for make in makers if make]
        self._service = build_service(
            settings,
            notebooks=notebooks,
            kernels=self._kernels,
            observers=[
                *(self.activity, self.marks),
                *(observer.on_event for observer in self.observers),
            ],
            operators=[
                *(observer.on_operation for observer in self.observers),
                SharedInterpreter().receive,
            ],
        )
        self._awake = KeepAwake(app, self._service, loop)
        self._announce_record()
        return self._service

    def mark_cells(self, tab: Tab, opened: Collection[str]) -> None:
        if opened and (self._service is not None or self._has_record()):
            self.marks.opened(tab, opened)

    async def _on_file_event(self, logger: Any, schema_id: str, data: dict[str, Any]) -> None:  # noqa: ARG002
        if data["action"] == "rename" and (self._service is not None or self._has_record()):
            await self.load()
            old, new = (self._in_workspace(data[key]) for key in ("source_path", "path"))
            await self.thread.run(self.service.move_file(old, new))

    def _in_workspace(self, path: str) -> str:
        """Translate a server path to the path that the record uses."""
        return workspace_path(self._app.root_dir, path, self.service.settings.workspace)

    def is_elsewhere(self, notebook: str, path: str) -> bool:
        """Whether the notebook exists in the workspace and is not the file at `path`."""
        home = real_path(self.service.settings.workspace, notebook)
        return os.path.exists(home) and home != real_path(self._app.root_dir, path)  # noqa: PTH110

    async def notebook_of(self, kernel_id: str) -> str | None:
        return await self.in_jupyter(self._notebook_of(kernel_id))

    async def _notebook_of(self, kernel_id: str) -> str | None:
        from jupyter_core.utils import ensure_async

        for session in await ensure_async(self._app.session_manager.list_sessions()):
            if session["kernel"] and session["kernel"]["id"] == kernel_id:
                return os.path.join(self._app.root_dir, session["path"])  # noqa: PTH118
        return None

    async def take_command(
        self, kernel_id: str, notebook: str, cell_id: str, wanted: Collection[CellCommand]
    ) -> bool:
        """Whether a tab reports such a cell in this kernel's own notebook.

        Never while an agent's code runs in the kernel: that is not a person.
        """
        return await self.in_jupyter(self._take_command(kernel_id, notebook, cell_id, wanted))

    async def _take_command(
        self, kernel_id: str, notebook: str, cell_id: str, wanted: Collection[CellCommand]
    ) -> bool:
        root, file = self._app.root_dir, real_path(self.service.settings.workspace, notebook)
        own = await self.notebook_of(kernel_id)
        assert self._kernels is not None
        if own is None or real_path(root, own) != file:
            return False
        if self._kernels.runs_agent_code(kernel_id):
            return False
        tabs = self.tabs.showing(file, root)
        return any(tab.person_runs.take(path, cell_id, wanted) for tab, path in tabs)

    async def is_unattended(self, kernel_id: str, notebook: str | None) -> bool:
        return await self.in_jupyter(self._is_unattended(kernel_id, notebook))

    async def _is_unattended(self, kernel_id: str, notebook: str | None) -> bool:
        """Agent code never counts as the kernel's own."""
        assert self._kernels is not None
        if self._kernels.runs_agent_code(kernel_id):
            return False
        root, workspace = self._app.root_dir, self.service.settings.workspace
        own = await self._notebook_of(kernel_id)
        files = [own and real_path(root, own), notebook and real_path(workspace, notebook)]
        return not any(self.tabs.showing(file, root) for file in files if file)

    def _announce_record(self) -> None:
        """Tell pages that something may wait for the user; until then they need not ask."""
        page_config = self._app.web_app.settings.setdefault("page_config_data", {})
        page_config["coworkRecord"] = True

    def _has_record(self) -> bool:
        """Whether an agent has ever worked here."""
        from ...domain.errors import CoworkError

        try:
            return self._settings(self._app.root_dir).database.exists()
        except CoworkError:  # reported with the first request
            return False

    @property
    def marks(self) -> CellMarks:
        if self._marks is None:
            from .cell_marks import CellMarks

            self._marks = CellMarks(self.tabs, self._app.root_dir, self)
        return self._marks

    def _settings(self, workspace: str) -> Settings:
        from ...domain.errors import Unavailable

        try:
            settings = Cowork(parent=self).settings(workspace=workspace)
            return replace(settings, private={**settings.private, **private_paths_of(self._app)})
        except TraitError as error:
            raise Unavailable(
                f"Cowork cannot use its settings: {error} Correct them and restart Jupyter.",
                code="bad_settings",
                retryable=False,
            ) from None

    def _own_key(self) -> str:
        """Our own API key; empty if the settings cannot be read."""
        try:
            return Cowork(parent=self).api_key
        except TraitError:
            return ""

    async def stop_extension(self) -> None:
        """Store running jobs as interrupted before the server ends."""
        if self._service is None or not self.thread.is_alive:
            return
        if self._awake is not None:
            self._awake.stop()
        await self.thread.run(self._service.close())
        assert self._kernels is not None
        await self._kernels.close()
        await asyncio.to_thread(self.thread.close)
        log_below(logging.getLogger())

    def problems(self) -> Iterator[Problem]:
        from ..jupyter_problems import lab_problems, moved_port_problems

        yield from lab_problems()
        yield from moved_port_problems(*self.ports)

    @property
    def ports(self) -> tuple[int, int]:
        """The requested port, and the actual one."""
        requested = self._app.config.ServerApp.get("port", None)
        by_default: Any = self._app.trait_defaults("port")
        return int(requested or by_default), self._app.port
