"""The agent side of the Agent Client Protocol, served on the standard streams."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from acp import PROTOCOL_VERSION, Client, RequestError, schema
from acp.core import AgentSideConnection

from ..._version import __version__
from ...domain.settings import Settings
from ...service.service import CoworkService
from ...service.wiring import build_service
from .options import ROLE
from .prompts import read_prompt
from .session import AcpSession
from .session_state import as_request_errors
from .wire import DELETE, SdkAdapter, Wire, take_streams

logger = logging.getLogger(__name__)

MakeService = Callable[[Path], CoworkService]
McpServers = list[Any] | None

PAGE_SIZE = 50
"""Sessions per answer to `session/list`."""
_INVALID, _NO_METHOD, _NOT_FOUND = -32602, -32601, -32002


class CoworkAgent:
    """Serves one client. Sessions are contexts, folders are workspaces."""

    def __init__(self, make_service: MakeService, home: Path) -> None:
        """`home` is the folder for requests that name none."""
        self._make_service = make_service
        self._home = home
        self._services: dict[Path, CoworkService] = {}
        self._sessions: dict[str, AcpSession] = {}
        self._forms = False
        self._tasks: set[asyncio.Task[None]] = set()

    def on_connect(self, conn: Client) -> None:
        self._client = conn

    async def close(self) -> None:
        """Stop everything, including what is opened meanwhile; running jobs become interrupted."""
        while self._sessions:
            await self._sessions.popitem()[1].close()
        while self._services:
            await self._services.popitem()[1].close()

    async def initialize(
        self,
        protocol_version: int,  # noqa: ARG002 (we speak one, and the client decides)
        client_capabilities: schema.ClientCapabilities | None = None,
        **_: Any,
    ) -> schema.InitializeResponse:
        elicitation = client_capabilities.elicitation if client_capabilities else None
        self._forms = elicitation is not None and elicitation.form is not None
        with as_request_errors():
            service = self._any_service()
            sees = service.factory.llm.vision.sees(service.connections.current().name)
        return schema.InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(embedded_context=True, image=sees),
                session_capabilities=schema.SessionCapabilities(
                    list=schema.SessionListCapabilities(),
                    resume=schema.SessionResumeCapabilities(),
                    close=schema.SessionCloseCapabilities(),
                    delete=schema.SessionDeleteCapabilities(),
                ),
            ),
            agent_info=schema.Implementation(
                name="cowork-jupyter", title="Cowork for Jupyter", version=__version__
            ),
            auth_methods=[],
        )

    # Sessions

    async def new_session(
        self, cwd: str, mcp_servers: McpServers = None, **_: Any
    ) -> schema.NewSessionResponse:
        with as_request_errors():
            service = self._service(cwd)
            context_id = service.conversations.create().id
            session = await self._open(service, context_id, mcp_servers)
            return schema.NewSessionResponse(session_id=context_id, **self._choices(session))

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: McpServers = None, **_: Any
    ) -> schema.LoadSessionResponse:
        """Open an existing conversation and replay it from its beginning."""
        with as_request_errors():
            session = await self._reopen(cwd, session_id, mcp_servers)
            await session.replay()
            return schema.LoadSessionResponse(**self._choices(session))

    async def resume_session(
        self, cwd: str, session_id: str, mcp_servers: McpServers = None, **_: Any
    ) -> schema.ResumeSessionResponse:
        """Like `load_session`, without the replay."""
        with as_request_errors():
            session = await self._reopen(cwd, session_id, mcp_servers)
            return schema.ResumeSessionResponse(**self._choices(session))

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **_: Any
    ) -> schema.ListSessionsResponse:
        """Newest first: all conversations whose folder is known, or those of one folder."""
        if cursor is not None and not (cursor.isascii() and cursor.isdigit()):
            raise RequestError(_INVALID, f"cursor: '{cursor}' is not valid.")
        folder = str(_absolute(cwd).resolve()) if cwd else None
        with as_request_errors():
            conversations = self._any_service().conversations
            page = conversations.page(int(cursor) if cursor else None, PAGE_SIZE, workspace=folder)
            places = {context.id: conversations.workspace_of(context.id) for context in page.items}
        sessions = [
            schema.SessionInfo(
                session_id=context.id,
                cwd=places[context.id],
                title=context.title or None,
                updated_at=context.updated_at,
            )
            for context in page.items
            if places[context.id]
        ]
        after = str(page.next) if page.next is not None else None
        return schema.ListSessionsResponse(sessions=sessions, next_cursor=after)

    async def close_session(self, session_id: str, **_: Any) -> schema.CloseSessionResponse:
        """Stop the session's run and release it. The conversation stays."""
        session = self._session(session_id)
        with as_request_errors():
            await session.cancel()
        await session.close()
        self._sessions.pop(session_id, None)
        return schema.CloseSessionResponse()

    async def delete_session(self, session_id: str, **_: Any) -> schema.DeleteSessionResponse:
        """For some minutes the conversation can be restored in the panel."""
        if session_id in self._sessions:
            await self.close_session(session_id)
        with as_request_errors():
            await self._any_service().conversations.delete(session_id)
        return schema.DeleteSessionResponse()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Methods that the SDK does not route yet."""
        if method != DELETE:
            raise RequestError(_NO_METHOD, f"There is no method '_{method}'.")
        request = schema.DeleteSessionRequest.model_validate(params)
        done = await self.delete_session(request.session_id)
        return done.model_dump(by_alias=True, exclude_none=True)

    # Turns and options

    async def prompt(
        self, session_id: str, prompt: Sequence[Any], **_: Any
    ) -> schema.PromptResponse:
        session, said = self._session(session_id), read_prompt(prompt)
        with as_request_errors():
            return schema.PromptResponse(stop_reason=await session.prompt(said))

    async def cancel(self, session_id: str, **_: Any) -> None:
        with as_request_errors():
            await self._session(session_id).cancel()

    async def set_config_option(
        self, session_id: str, config_id: str, value: str | bool, **_: Any
    ) -> schema.SetSessionConfigOptionResponse:
        """Choose the role or the model."""
        session = self._session(session_id)
        with as_request_errors():
            await session.options.choose(config_id, value)
            choices = session.options.all()
        return schema.SetSessionConfigOptionResponse(config_options=[*choices])

    async def set_session_mode(
        self, session_id: str, mode_id: str, **_: Any
    ) -> schema.SetSessionModeResponse:
        """Choose the role, for clients that do not know options."""
        session = self._session(session_id)
        with as_request_errors():
            await session.options.choose(ROLE, mode_id)
        return schema.SetSessionModeResponse()

    def _service(self, cwd: str) -> CoworkService:
        folder = _absolute(cwd)
        if not folder.is_dir():
            raise RequestError(_INVALID, f"cwd: '{cwd}' is not the absolute path of a folder.")
        folder = folder.resolve()
        if folder not in self._services:
            self._services[folder] = self._make_service(folder)
        return self._services[folder]

    def _any_service(self) -> CoworkService:
        """All services share one store and one model."""
        return next(iter(self._services.values()), None) or self._service(str(self._home))

    async def _reopen(self, cwd: str, session_id: str, mcp_servers: McpServers) -> AcpSession:
        service = self._service(cwd)
        service.conversations.get(session_id)
        return await self._open(service, session_id, mcp_servers)

    async def _open(
        self, service: CoworkService, context_id: str, mcp_servers: McpServers
    ) -> AcpSession:
        before = self._sessions.pop(context_id, None)
        if before is not None:
            await before.close()
        await service.factory.llm.known.look()  # load the list of models
        ignored_servers = [str(server.name) for server in mcp_servers or []]
        session = AcpSession(
            service, context_id, self._client, forms=self._forms, ignored_servers=ignored_servers
        )
        self._sessions[context_id] = session
        session.open()
        return session

    def _session(self, session_id: str) -> AcpSession:
        if session_id not in self._sessions:
            what = f"There is no session '{session_id}'. Open one with session/new or session/load."
            raise RequestError(_NOT_FOUND, what)
        return self._sessions[session_id]

    def _choices(self, session: AcpSession) -> dict[str, Any]:
        """Modes and options for the answer that opens a session.

        The commands follow later: a client knows a session only once it has the answer.
        """
        choices = {"modes": session.options.modes(), "config_options": [*session.options.all()]}
        task = asyncio.create_task(session.greet())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return choices


def _absolute(cwd: str) -> Path:
    folder = Path(cwd)
    if not folder.is_absolute():
        raise RequestError(_INVALID, f"cwd: '{cwd}' is not the absolute path of a folder.")
    return folder


def serve(settings: Settings) -> None:
    """Serve on the standard streams until the client closes them; nothing else is printed there."""
    incoming, outgoing = take_streams()

    def make_service(workspace: Path) -> CoworkService:
        return build_service(replace(settings, workspace=workspace))

    async def speak() -> None:
        _close_on_signal()
        agent = CoworkAgent(make_service, settings.workspace)
        wire = cast("Any", SdkAdapter(Wire(incoming, outgoing)))
        connection = AgentSideConnection(
            cast("Any", agent),
            wire,
            listening=False,
            use_unstable_protocol=True,  # these parts are stable in the protocol by now
        )
        try:
            await connection.listen()
        finally:
            await asyncio.shield(agent.close())
            await connection.close()

    with suppress(KeyboardInterrupt, asyncio.CancelledError):
        asyncio.run(speak())


def _close_on_signal() -> None:
    task = asyncio.current_task()
    assert task is not None
    with suppress(NotImplementedError):  # on Windows
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
