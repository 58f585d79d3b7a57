"""How-tos for kinds of work, which agents open when they fit, and users call by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...service.parts import Part

if TYPE_CHECKING:
    from argparse import ArgumentParser, _SubParsersAction

    from ...agents.guidance import GuidanceFinder
    from ...domain.settings import Settings
    from ...policy.trust import Trust


def _guidance(settings: Settings, trust: Trust) -> GuidanceFinder:
    from .skill_tool import SkillGuidance
    from .skills import Skills, SkillSwitches

    switches = SkillSwitches(settings.user_settings)
    own = settings.data_dir / "skills"
    return SkillGuidance(Skills(settings.workspace, own, trust.is_trusted, switches))


def _add_commands(commands: _SubParsersAction[ArgumentParser]) -> None:
    from .subcommand import add_skills

    add_skills(commands)


PART = Part(guidance=_guidance, routes=f"{__name__}.routes", add_commands=_add_commands)
