"""An editor: the SDK's own client, the real agent process, and a user at the keyboard."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from acp import schema
from acp.client import ClientSideConnection
from acp.connection import StreamDirection, StreamEvent
from acp.helpers import text_block
from acp.stdio import spawn_agent_process

from .published import Conversation, Frame

AGENT = [str(Path(sys.executable).with_name("jupyter-cowork")), "acp"]
ALLOW, REJECT = "allow_once", "reject_once"

Decide = Callable[[schema.ToolCallUpdate, list[schema.PermissionOption]], Any]


def by_kind(kind: str) -> Decide:
    """A user who always takes the first option of a kind."""

    def decide(_call: schema.ToolCallUpdate, options: list[schema.PermissionOption]) -> Any:
        chosen = next(option for option in options if option.kind == kind)
        return schema.AllowedOutcome(outcome="selected", option_id=chosen.option_id)

    return decide


class Editor:
    """What the protocol calls a client."""

    connection: ClientSideConnection

    def __init__(self) -> None:
        self.conversation = Conversation()
        self.decide: Decide = by_kind(ALLOW)
        self.fill_in: Callable[[Any], Any] = lambda _form: None
        self.asked: list[tuple[schema.ToolCallUpdate, list[schema.PermissionOption]]] = []

    # What the agent calls

    def on_connect(self, conn: Any) -> None:
        self.connection = conn

    async def session_update(self, **_: Any) -> None:
        """Seen in the frames."""

    async def request_permission(
        self, tool_call: schema.ToolCallUpdate, options: list[schema.PermissionOption], **_: Any
    ) -> schema.RequestPermissionResponse:
        self.asked.append((tool_call, options))
        decided = self.decide(tool_call, options)
        outcome = await decided if hasattr(decided, "__await__") else decided
        return schema.RequestPermissionResponse(outcome=outcome)

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> Any:
        return self.fill_in(mode)

    # What the user does

    async def start(self, *, forms: bool = False) -> schema.InitializeResponse:
        form = schema.ElicitationCapabilities(form=schema.ElicitationFormCapabilities())
        can = schema.ClientCapabilities(elicitation=form if forms else None)
        return await self.connection.initialize(protocol_version=1, client_capabilities=can)

    async def open(self, folder: Path, **more: Any) -> str:
        new = await self.connection.new_session(cwd=str(folder), mcp_servers=[], **more)
        return new.session_id

    async def say(self, session: str, *said: Any) -> str:
        """One turn; gives the stop reason."""
        blocks = [text_block(one) if isinstance(one, str) else one for one in said]
        answer = await self.connection.prompt(session_id=session, prompt=blocks)
        return answer.stop_reason

    # What the user sees

    def seen(self, session: str, kind: str = "") -> list[Frame]:
        """Updates of a session, of one kind if given."""
        found = self.conversation.updates(session)
        return [one for one in found if kind in ("", one["sessionUpdate"])]

    def text(self, session: str, kind: str = "agent_message_chunk") -> str:
        """All words of a kind."""
        return "".join(one["content"]["text"] for one in self.seen(session, kind))

    def plan(self, session: str) -> list[Frame]:
        """The entries of the plan as it was told last."""
        entries: list[Frame] = self.seen(session, "plan")[-1]["entries"]
        return entries


def agent_environment(home: Path, model_url: str) -> dict[str, str]:
    """The environment of an agent whose settings, store and model are the test's own."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("COWORK_", "OPENAI_", "JUPYTER"))
    }
    folders = {f"JUPYTER_{what}_DIR": str(home / what) for what in ("CONFIG", "DATA", "RUNTIME")}
    model = {"COWORK_BASE_URL": model_url, "COWORK_MODEL": "scripted"}
    return {**inherited, **folders, **model, "HOME": str(home)}


@asynccontextmanager
async def editor_with_agent(home: Path, model_url: str, *options: str) -> AsyncIterator[Editor]:
    """The editor, connected to an agent of its own; every frame is held against the schema."""
    editor = Editor()

    def observe(event: StreamEvent) -> None:
        by = "agent" if event.direction is StreamDirection.INCOMING else "client"
        editor.conversation.add(cast("Any", by), event.message)

    with (home / "agent.log").open("ab") as log:
        async with spawn_agent_process(
            cast("Any", editor),
            *AGENT,
            *options,
            env=agent_environment(home, model_url),
            transport_kwargs={"stderr": log.fileno(), "shutdown_timeout": 60},
            observers=[observe],
            use_unstable_protocol=True,
        ) as (_, process):
            await editor.start()
            yield editor
    assert process.returncode == 0, (home / "agent.log").read_text()
    editor.conversation.check()
