"""`jupyter cowork init`: a first AGENTS.md from what the workspace is."""

from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from .command import SUCCESS
from .ordering import settings_for

if TYPE_CHECKING:
    from ...domain.settings import Settings
    from ..config import Cowork
    from .command import Commands


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "init",
        help="write a first AGENTS.md for a folder",
        description="Write AGENTS.md, which agents follow, from the folder's contents: data files "
        "with their columns, notebooks, environment, conventions. This needs no model, and an "
        "existing file stays unchanged.",
    )
    parser.add_argument("--show", action="store_true", help="print it instead of writing it")
    parser.add_argument(
        "--workspace", metavar="DIR", help="folder to work in; default: the current one"
    )
    parser.set_defaults(run=run)


def run(config: Cowork, arguments: Namespace) -> int:
    """Write it, or show it."""
    settings = settings_for(config, arguments)
    path, text = asyncio.run(_started(settings, show=arguments.show))
    said = text if arguments.show else f"Wrote {path}. Agents follow it from now on; edit it."
    sys.stdout.write(f"{said}\n")
    return SUCCESS


async def _started(settings: Settings, *, show: bool) -> tuple[str, str]:
    from ...wiring import build_service

    service = build_service(settings, interactive=False)
    try:
        return service.start_instructions(show=show)
    finally:
        await service.close()
