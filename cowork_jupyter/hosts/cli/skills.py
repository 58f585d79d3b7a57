"""`jupyter cowork skills`: which skills agents know here, and switching them on and off."""

from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from .command import SUCCESS, print_problem
from .ordering import settings_for

if TYPE_CHECKING:
    from ...domain.settings import Settings
    from ...guidance.skills import Skill
    from ..config import Cowork
    from .command import Commands


def add_to(commands: Commands) -> None:
    """Declare the command."""
    what = "list the skills that agents can use here"
    parser = commands.add_parser(
        "skills", help=what, description=f"{what.capitalize()}, or switch one on or off."
    )
    switch = parser.add_mutually_exclusive_group()
    switch.add_argument("--on", metavar="NAME", help="let agents use it again")
    switch.add_argument("--off", metavar="NAME", help="stop telling agents about it")
    parser.add_argument(
        "--workspace", metavar="DIR", help="folder to work in; default: the current one"
    )
    parser.set_defaults(run=run)


def run(config: Cowork, arguments: Namespace) -> int:
    """Switch what is named, then list."""
    asyncio.run(_list(settings_for(config, arguments), arguments.on, arguments.off))
    return SUCCESS


async def _list(settings: Settings, on: str | None, off: str | None) -> None:
    from ...policy.visible import visible
    from ...wiring import build_service

    service = build_service(settings, interactive=False)
    try:
        if on or off:
            service.skills.switch(on or off or "", on=bool(on))
        listing = service.skills.listing()
    finally:
        await service.close()
    width = max((len(skill.name) for skill in listing.items), default=0)
    for skill in listing.items:
        said = f"{skill.name:<{width}}  {skill.source:<9}  {_state(skill):<11}"
        sys.stdout.write(f"{said}  {visible(skill.about.description)}\n")
    for problem in listing.problems:
        print_problem(problem.message)


def _state(skill: Skill) -> str:
    if not skill.trusted:
        return "not trusted"
    return "on" if skill.enabled else "off"
