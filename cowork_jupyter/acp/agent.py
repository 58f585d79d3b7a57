"""The agent's side of the protocol: each method of it, on the service."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from acp import PROTOCOL_VERSION, Client, RequestError, schema

from .._version import __version__
from ..domain.roles import AgentRole
from ..service import CoworkService
from .problems import told_to_the_client
from .session import AcpSession

logger = logging.getLogger(__name__)

MakeService = Callable[[Path], CoworkService]
McpServers = list[Any] | None


class CoworkAgent:
    """Serves one client. Sessions are contexts, modes are roles, folders are workspaces."""

    def __init__(self, make_service: MakeService) -> None:
        self._make_service = make_service
        self._services: dict[Path, CoworkService] = {}
        self._sessions: dict[str, AcpSession] = {}
        self._forms = False
        self._soon: set[asyncio.Task[None]] = set()

    def on_connect(self, conn: Client) -> None:
        """Whom to tell and to ask."""
        self._client = conn

    async def close(self) -> None:
        """Stop everything, also what is opened meanwhile; what ran is stored as interrupted."""
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
        """Agree on a version, and say what we can do."""
        elicitation = client_capabilities.elicitation if client_capabilities else None
        self._forms = elicitation is not None and elicitation.form is not None
        return schema.InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(embedded_context=True),
            ),
            agent_info=schema.Implementation(
                name="cowork-jupyter", title="Cowork for Jupyter", version=__version__
            ),
            auth_methods=[],
        )

    async def new_session(
        self, cwd: str, mcp_servers: McpServers = None, **_: Any
    ) -> schema.NewSessionResponse:
        """A new conversation in a folder."""
        with told_to_the_client():
            service = self._service(cwd)
            context = service.conversations.create()
            session = await self._open(service, context.id, mcp_servers)
        self._after_answer(session)
        return schema.NewSessionResponse(session_id=context.id, modes=_modes(service, context.role))

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: McpServers = None, **_: Any
    ) -> schema.LoadSessionResponse:
        """A conversation that there is already, told from its beginning."""
        with told_to_the_client():
            service = self._service(cwd)
            context = service.conversations.get(session_id)
            session = await self._open(service, session_id, mcp_servers)
            await session.replay()
        self._after_answer(session)
        return schema.LoadSessionResponse(modes=_modes(service, context.role))

    async def prompt(
        self, session_id: str, prompt: Sequence[Any], **_: Any
    ) -> schema.PromptResponse:
        session, text = self._session(session_id), prompt_text(prompt)
        if not text.strip():
            raise RequestError(-32602, "This prompt has no text.")
        with told_to_the_client():
            return schema.PromptResponse(stop_reason=await session.prompt(text))

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Stop the turn that is going on."""
        with told_to_the_client():
            await self._session(session_id).cancel()

    async def set_session_mode(
        self, session_id: str, mode_id: str, **_: Any
    ) -> schema.SetSessionModeResponse:
        """Switch the role."""
        session = self._session(session_id)
        known = {role.value: role for role in session.roles()}
        if mode_id not in known:
            modes = ", ".join(known)
            raise RequestError(-32602, f"There is no mode '{mode_id}'. Choose one of: {modes}.")
        with told_to_the_client():
            await session.set_role(known[mode_id])
        return schema.SetSessionModeResponse()

    def _service(self, cwd: str) -> CoworkService:
        folder = Path(cwd)
        if not folder.is_absolute() or not folder.is_dir():
            raise RequestError(-32602, f"cwd: '{cwd}' is not the absolute path of a folder.")
        folder = folder.resolve()
        if folder not in self._services:
            self._services[folder] = self._make_service(folder)
        return self._services[folder]

    async def _open(
        self, service: CoworkService, context_id: str, mcp_servers: McpServers
    ) -> AcpSession:
        before = self._sessions.pop(context_id, None)
        if before is not None:
            await before.close()
        unused = [str(server.name) for server in mcp_servers or []]
        session = AcpSession(service, context_id, self._client, forms=self._forms, unused=unused)
        self._sessions[context_id] = session
        session.open()
        return session

    def _session(self, session_id: str) -> AcpSession:
        if session_id not in self._sessions:
            what = f"There is no session '{session_id}'. Open one with session/new or session/load."
            raise RequestError(-32002, what)
        return self._sessions[session_id]

    def _after_answer(self, session: AcpSession) -> None:
        """A client knows a session only once it has the answer; then it is told the rest."""
        task = asyncio.create_task(session.greet())
        self._soon.add(task)
        task.add_done_callback(self._soon.discard)


def prompt_text(blocks: Sequence[Any]) -> str:
    """What the user said, with the files they pointed at."""
    return "\n\n".join(filter(None, (_block_text(block) for block in blocks)))


def _block_text(block: Any) -> str:
    match block:
        case schema.TextContentBlock():
            return block.text
        case schema.ResourceContentBlock():
            return f"[{block.title or block.name}]({block.uri})"
        case schema.EmbeddedResourceContentBlock(resource=schema.TextResourceContents() as given):
            return f"{given.uri}:\n```\n{given.text}\n```"
    raise RequestError(-32602, f"This agent does not accept content of type '{block.type}'.")


def _modes(service: CoworkService, role: AgentRole) -> schema.SessionModeState:
    return schema.SessionModeState(
        current_mode_id=role.value,
        available_modes=[
            schema.SessionMode(id=one.value, name=one.spec.label, description=one.spec.description)
            for one in service.role_catalog.all()
        ],
    )
