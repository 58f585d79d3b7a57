"""The guide: the conversation so far in, its next reply out. Pure."""

from __future__ import annotations

from ..domain.connection import BUILT_IN
from ..llm.chunks import Conversation
from . import actor, planner
from .conversation import read_run
from .script import GuideReply, Script

NAME = BUILT_IN


class Guide:
    """Answers in the protocol that models are asked to answer in."""

    def reply(self, conversation: Conversation) -> str:
        """The next tool call, plan, question, result of a step, or text."""
        script = Script(read_run(conversation), conversation)
        plans = "plan" in conversation.role.spec.formats
        try:
            return planner.plan(script) if plans else script.done(actor.act(script))
        except GuideReply as reply:
            return reply.text
