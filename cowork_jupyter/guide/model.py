"""The guide in the place of a model: asked the same way, answering in the same pieces."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator

from ..domain.connection import BUILT_IN
from ..domain.contexts import Usage
from ..llm.chunks import Chunk, Conversation, Finished, ModelRequest, TextChunk, UsageChunk
from . import actor, planner, reviewing
from .script import GuideReply, Script, read_run
from .texts import what_i_can_do

NAME = BUILT_IN


class Guide:
    def reply(self, conversation: Conversation) -> str:
        """The next tool call, plan, question, review, step result, or text."""
        script = Script(read_run(conversation), conversation)
        formats = conversation.role.spec.formats
        try:
            if "plan" in formats:
                return planner.plan(script)
            if "review" in formats:
                return reviewing.review(script)
            return script.done(actor.act(script))
        except GuideReply as reply:
            return reply.text


_PIECE = re.compile(r"\S+\s*|\s+")


class GuideModel:
    base_url = ""
    name = NAME
    is_guide = True

    def __init__(self) -> None:
        self._guide = Guide()

    async def aclose(self) -> None:
        pass

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk, None]:
        """It reads the conversation, not the prompt, and spends no tokens."""
        known = request.conversation
        if known:  # a review of a long notebook takes a second or two, in which others go on
            reply = await asyncio.to_thread(self._guide.reply, known())
        else:
            reply = what_i_can_do(is_step=False)
        for piece in _PIECE.findall(reply):
            yield TextChunk(piece)
        yield Finished("stop")
        yield UsageChunk(Usage())
