"""External agents, spoken to over ACP, as sub-agents: they work under a role of ours.

What they ask of us (files, terminals, permissions) goes through the same tools, gate, rules and
checkpoints as what our own agents do. They are the user's own programs, though, and those of
version 2 of the protocol ask us for no files at all: what one does by itself is not confined. The
checkpoint around its run and the audit hold all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...service.parts import Part

if TYPE_CHECKING:
    from ...agents.external import ExternalAgents
    from ...domain.settings import Settings


def _agents(settings: Settings) -> ExternalAgents:
    from .configured import ConfiguredAgents

    return ConfiguredAgents(settings.user_settings)


PART = Part(external_agents=_agents)
