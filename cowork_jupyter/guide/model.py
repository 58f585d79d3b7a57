"""The guide in the place of a model: asked the same way, answering in the same pieces."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator

from ..domain.contexts import Usage
from ..domain.roles import AgentRole
from ..llm.chunks import Chunk, Finished, Request, TextChunk, UsageChunk
from .conversation import text_of
from .guide import NAME, Guide

_ROLE = re.compile(r"You are operating in ([A-Z]+) role")
_PIECE = re.compile(r"\S+\s*|\s+")


class GuideModel:
    """What `llm.client.Model` is for a server, for the guide inside the package."""

    base_url = ""
    name = NAME

    def __init__(self) -> None:
        self._guide = Guide()

    async def aclose(self) -> None:
        """There is nothing to close."""

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """The guide's reply, word by word. It spends no tokens."""
        reply = self._guide.reply(request.messages, role_of(request))
        for piece in _PIECE.findall(reply):
            yield TextChunk(piece)
        yield Finished("stop")
        yield UsageChunk(Usage())


def role_of(request: Request) -> AgentRole:
    """The role that the system prompt gives; actor if it gives none, as for stored contexts."""
    prompt = text_of(request.messages[0]) if request.messages else ""
    found = _ROLE.search(prompt)
    return AgentRole(found[1].lower()) if found else AgentRole.ACTOR
