"""`jupyter cowork init`, `skills` and `memory`: what agents are told in a folder."""

from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from ...domain.errors import NotFound
from ...policy.visible import visible
from .command import SUCCESS, add_workspace_option, open_service, print_problem, settings_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...domain.settings import Settings
    from ...guidance.skills import Skill
    from ...service.service import CoworkService
    from ..config import Cowork
    from .command import Commands


def add_init(commands: Commands) -> None:
    parser = commands.add_parser(
        "init",
        help="write a first AGENTS.md for a folder",
        description="Write AGENTS.md, which agents follow, from the folder's contents: data files "
        "with their columns, notebooks, environment, conventions. This needs no model, and an "
        "existing file stays unchanged.",
    )
    parser.add_argument("--show", action="store_true", help="print it instead of writing it")
    add_workspace_option(parser)
    parser.set_defaults(run=run_init)


def run_init(config: Cowork, arguments: Namespace) -> int:
    settings = settings_for(config, arguments)
    path, text = asyncio.run(_start_instructions(settings, show=arguments.show))
    said = text if arguments.show else f"Wrote {path}. Agents follow it from now on; edit it."
    sys.stdout.write(f"{said}\n")
    return SUCCESS


async def _start_instructions(settings: Settings, *, show: bool) -> tuple[str, str]:
    async with open_service(settings) as service:
        return service.start_instructions(show=show)


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
    async with open_service(settings) as service:
        if on or off:
            service.skills.switch(on or off or "", on=bool(on))
        listing = service.skills.listing()
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


def add_memory(commands: Commands) -> None:
    parser = commands.add_parser(
        "memory",
        help="show what is remembered about a folder, keep more, or forget",
        description="Show what is remembered about a folder, in its .cowork/memory.md, and what "
        "the newest run would add. Nothing is remembered unless you keep it.",
    )
    does = parser.add_mutually_exclusive_group()
    does.add_argument("--keep", action="store_true", help="remember what the newest run would add")
    does.add_argument("--drop", action="store_true", help="do not offer that again")
    does.add_argument(
        "--forget", nargs="?", const="", metavar="TEXT", help="forget it, or lines with this text"
    )
    parser.add_argument("--workspace", metavar="DIR", help="folder; default: the current one")
    parser.set_defaults(run=run_memory)


def run_memory(config: Cowork, arguments: Namespace) -> int:
    from .screen import Screen

    Screen().result(asyncio.run(_change_memory(settings_for(config, arguments), arguments)))
    return SUCCESS


async def _change_memory(settings: Settings, arguments: Namespace) -> str:
    async with open_service(settings) as service:
        if arguments.keep or arguments.drop:
            _decide(service, keep=arguments.keep)
        elif arguments.forget is not None:
            service.memory.forget(arguments.forget)
        return "\n\n".join(_overview(service))


def _decide(service: CoworkService, *, keep: bool) -> None:
    newest = next(iter(service.proposals.waiting()), None)
    if newest is None:
        raise NotFound("There is nothing new to remember.", code="no_proposal")
    if keep:
        service.proposals.keep(newest.job_id, newest.fingerprint)
    else:
        service.proposals.drop(newest.job_id)


def _overview(service: CoworkService) -> Iterator[str]:
    known = service.memory.read()
    yield known.text or "Nothing is remembered about this folder yet."
    if not service.memory.is_on:
        yield "Memory is off: Cowork.memory is 'off'."
    elif not known.trusted:
        yield "Not followed until you trust it: look at it in the Cowork panel."
    for proposal in service.proposals.waiting()[:1]:
        yield f"Remember this? (--keep or --drop)\n\n{proposal.diff}"
