"""`jupyter cowork mcp`: serve other agents on the standard streams."""

from __future__ import annotations

import asyncio
import os
import signal
from argparse import Namespace
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...domain.roles import AgentRole
from ...hosts.cli.command import INTERRUPTED, SUCCESS, open_service

if TYPE_CHECKING:
    from ...domain.settings import Settings
    from ...hosts.cli.command import Commands
    from ...hosts.config import Cowork
    from ...service.service import CoworkService


def add_mcp(commands: Commands) -> None:
    parser = commands.add_parser(
        "mcp",
        help="let other agents use the tools over MCP (stdin and stdout)",
        description="Offer the tools of this folder and its notebooks to other agents over the "
        "Model Context Protocol (stdin and stdout). What no rule allows asks you in the other "
        "agent's client, or is denied where that cannot ask. Everything is recorded and can be "
        "rolled back.",
    )
    parser.add_argument(
        "--role",
        metavar="ROLE",
        default=AgentRole.PLANNER.value,
        help="role that limits the calls (default: planner, which only reads)",
    )
    parser.add_argument("--policy", metavar="FILE", help="rules for the calls, in JSON or TOML")
    parser.set_defaults(run=run_mcp)


def run_mcp(config: Cowork, arguments: Namespace) -> int:
    from ...policy.settings_file import read_policy
    from .tool_host import check_installed

    check_installed()
    policy = read_policy(arguments.policy) if arguments.policy else None
    settings = config.settings(workspace=Path.cwd())
    asyncio.run(_serve(settings, arguments.role, policy))
    return SUCCESS


async def _serve(settings: Settings, role: str, policy: dict[str, Any] | None) -> None:
    from .guests import guests_of
    from .protocol import serve

    async with open_service(settings) as service:
        _close_on_signal(service)
        chosen = service.role_catalog.chosen(role)
        await serve(guests_of(service, chosen, policy=policy))


def _close_on_signal(service: CoworkService) -> None:
    """Exit hard afterwards: the SDK's thread that reads the stream cannot be stopped."""
    endings: list[asyncio.Task[None]] = []

    async def end() -> None:
        await service.close()
        os._exit(INTERRUPTED)

    def begin() -> None:
        if not endings:
            endings.append(asyncio.create_task(end()))

    with suppress(NotImplementedError):  # on Windows
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, begin)
