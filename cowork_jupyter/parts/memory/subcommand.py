"""`jupyter cowork memory`: what is remembered about a folder."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from typing import TYPE_CHECKING

from ...domain.errors import NotFound
from ...hosts.cli.command import (
    SUCCESS,
    open_service,
    settings_for,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...domain.settings import Settings
    from ...hosts.cli.command import Commands
    from ...hosts.config import Cowork
    from ...service.service import CoworkService


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
    from ...hosts.cli.screen import Screen

    Screen().result(asyncio.run(_change_memory(settings_for(config, arguments), arguments)))
    return SUCCESS


async def _change_memory(settings: Settings, arguments: Namespace) -> str:
    from .memory import WorkspaceMemory

    async with open_service(settings) as service:
        if arguments.keep or arguments.drop:
            _decide(service, keep=arguments.keep)
        elif arguments.forget is not None:
            service.guidance.of(WorkspaceMemory).forget(arguments.forget)
        return "\n\n".join(_overview(service))


def _decide(service: CoworkService, *, keep: bool) -> None:
    from .proposals import proposals

    newest = next(iter(service.of(proposals).waiting()), None)
    if newest is None:
        raise NotFound("There is nothing new to remember.", code="no_proposal")
    if keep:
        service.of(proposals).keep(newest.job_id, newest.fingerprint)
    else:
        service.of(proposals).drop(newest.job_id)


def _overview(service: CoworkService) -> Iterator[str]:
    from .memory import WorkspaceMemory
    from .proposals import proposals

    known = service.guidance.of(WorkspaceMemory).read()
    yield known.text or "Nothing is remembered about this folder yet."
    if not service.guidance.of(WorkspaceMemory).is_on:
        yield "Memory is off: Cowork.memory is 'off'."
    elif not known.trusted:
        yield "Not followed until you trust it: look at it in the Cowork panel."
    for proposal in service.of(proposals).waiting()[:1]:
        yield f"Remember this? (--keep or --drop)\n\n{proposal.diff}"
