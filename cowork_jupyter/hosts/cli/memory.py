"""`jupyter cowork memory`: what is remembered of a folder."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from typing import TYPE_CHECKING

from ...domain.errors import NotFound
from .command import SUCCESS
from .ordering import settings_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...domain.settings import Settings
    from ...service import CoworkService
    from ..config import Cowork
    from .command import Commands


def add_to(commands: Commands) -> None:
    """Declare the command."""
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
    parser.set_defaults(run=run)


def run(config: Cowork, arguments: Namespace) -> int:
    """Do it, and show how it stands then."""
    from .screen import Screen

    Screen().result(asyncio.run(_done(settings_for(config, arguments), arguments)))
    return SUCCESS


async def _done(settings: Settings, arguments: Namespace) -> str:
    from ...wiring import build_service

    service = build_service(settings, interactive=False)
    try:
        if arguments.keep or arguments.drop:
            _decide(service, keep=arguments.keep)
        elif arguments.forget is not None:
            service.memory.forget(arguments.forget)
        return "\n\n".join(_overview(service))
    finally:
        await service.close()


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
