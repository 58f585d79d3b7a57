"""`AGENTS.md` and its like: what agents are told in a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...service.parts import Part

if TYPE_CHECKING:
    from argparse import ArgumentParser, _SubParsersAction

    from ...agents.guidance import GuidanceFinder
    from ...domain.settings import Settings
    from ...policy.trust import Trust


def _guidance(settings: Settings, trust: Trust) -> GuidanceFinder:
    from .instructions import InstructionFinder

    user = settings.user_settings.parent
    return InstructionFinder(user, settings.workspace, trust.is_trusted)


def _add_commands(commands: _SubParsersAction[ArgumentParser]) -> None:
    from .subcommand import add_init

    add_init(commands)


PART = Part(guidance=_guidance, routes=f"{__name__}.routes", add_commands=_add_commands)
