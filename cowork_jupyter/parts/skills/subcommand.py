"""`jupyter cowork skills`: what agents can follow in a folder."""

from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from ...hosts.cli.command import (
    SUCCESS,
    add_workspace_option,
    open_service,
    print_problem,
    settings_for,
)
from ...policy.visible import visible

if TYPE_CHECKING:
    from ...domain.settings import Settings
    from ...hosts.cli.command import Commands
    from ...hosts.config import Cowork
    from .skills import Skill


def add_skills(commands: Commands) -> None:
    what = "list the skills that agents can use here"
    parser = commands.add_parser(
        "skills", help=what, description=f"{what.capitalize()}, or switch one on or off."
    )
    switch = parser.add_mutually_exclusive_group()
    switch.add_argument("--on", metavar="NAME", help="let agents use it again")
    switch.add_argument("--off", metavar="NAME", help="stop telling agents about it")
    add_workspace_option(parser)
    parser.set_defaults(run=run_skills)


def run_skills(config: Cowork, arguments: Namespace) -> int:
    asyncio.run(_list_skills(settings_for(config, arguments), arguments.on, arguments.off))
    return SUCCESS


async def _list_skills(settings: Settings, on: str | None, off: str | None) -> None:
    from .skill_tool import SkillGuidance

    async with open_service(settings) as service:
        skills = service.guidance.of(SkillGuidance).catalogue
        if on or off:
            skills.switch(on or off or "", on=bool(on))
        listing = skills.listing()
    width = max((len(skill.name) for skill in listing.items), default=0)
    for skill in listing.items:
        said = f"{skill.name:<{width}}  {skill.source:<9}  {_skill_state(skill):<11}"
        sys.stdout.write(f"{said}  {visible(skill.about.description)}\n")
    for problem in listing.problems:
        print_problem(problem.message)


def _skill_state(skill: Skill) -> str:
    if not skill.trusted:
        return "not trusted"
    return "on" if skill.enabled else "off"
