"""`jupyter cowork init`: a first `AGENTS.md` for a folder."""

from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from ...hosts.cli.command import (
    SUCCESS,
    add_workspace_option,
    open_service,
    settings_for,
)

if TYPE_CHECKING:
    from ...domain.settings import Settings
    from ...hosts.cli.command import Commands
    from ...hosts.config import Cowork


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
    from .first_instructions import write_first_instructions

    async with open_service(settings) as service:
        return write_first_instructions(service, show=show)
