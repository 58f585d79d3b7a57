"""The guide in the place of a model: asked the same way, answering in the same pieces."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from typing import Any

from ...domain.contexts import Usage
from ...domain.settings import BUILT_IN
from ...domain.suggestions import SuggestionDone, SuggestionRequest
from ...llm.chunks import Chunk, Conversation, Finished, ModelRequest, TextChunk, UsageChunk
from ...llm.client import ModelTraits
from . import agent, review
from .script import GuideReply, Memory, Script, read_run
from .texts import what_i_can_do

NAME = BUILT_IN


class Guide:
    def __init__(self) -> None:
        self._memory = Memory()

    def reply(self, conversation: Conversation) -> str:
        """The next tool call, plan, question, review, step result, or text."""
        script = Script(read_run(conversation), conversation, self._memory)
        formats = conversation.role.spec.formats
        try:
            if "plan" in formats:
                return agent.plan(script)
            if "review" in formats:
                return review.review(script)
            return script.done(agent.act(script))
        except GuideReply as reply:
            return reply.text


_PIECE = re.compile(r"\S+\s*|\s+")


def propose_fix(
    request: SuggestionRequest, variables: tuple[Any, ...], files: tuple[str, ...]
) -> SuggestionDone:
    from .fixes import FailingCell, propose  # takes a while to import

    assert request.error is not None
    failed = FailingCell(
        source=request.source,
        error=request.error,
        cell_id=request.cell_id,
        cells=tuple(request.cells),
        variables=variables,
        files=files,
        tried=frozenset(request.tried),
    )
    fix = propose(failed)
    usage = Usage(model=NAME)
    return SuggestionDone(source=fix.source or "", explanation=fix.why, usage=usage)


class GuideModel:
    base_url = ""
    name = NAME
    traits = ModelTraits(reads_prompt=False, spends_tokens=False, propose_fix=propose_fix)

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
            reply = what_i_can_do()
        for piece in _PIECE.findall(reply):
            yield TextChunk(piece)
        yield Finished("stop")
        yield UsageChunk(Usage())
