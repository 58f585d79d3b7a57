"""The guide: the conversation so far in, its next reply out. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..domain.connection import BUILT_IN
from ..domain.roles import AgentRole
from . import actor, planner
from .conversation import Surroundings, read_run, read_surroundings
from .script import Reply, Script

NAME = BUILT_IN


class Guide:
    """Answers in the protocol that models are asked to answer in."""

    def reply(
        self,
        messages: Sequence[dict[str, Any]],
        role: AgentRole,
        tools: Sequence[str] | None = None,
    ) -> str:
        """The next tool call, plan, question or text.

        `tools` are those that may be used; without them, those that the system prompt names.
        """
        here = read_surroundings(messages)
        if tools is not None:
            here = Surroundings(frozenset(tools), here.notebook)
        script = Script(read_run(messages), here)
        try:
            return planner.plan(script) if "plan" in role.spec.formats else actor.act(script)
        except Reply as reply:
            return reply.text
