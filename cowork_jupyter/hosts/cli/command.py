"""What the sub-commands share: exit codes, common options, settings and the service."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, _SubParsersAction
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ...domain.errors import InvalidInput
from ...policy.visible import visible

if TYPE_CHECKING:
    from ...domain.settings import Settings
    from ...service.service import CoworkService
    from ..config import Cowork

    Commands = _SubParsersAction[ArgumentParser]

SUCCESS = 0
FAILED = 1
USAGE_ERROR = 2
DENIED = 3
"""Something was not run because nobody could be asked; a policy file can allow it."""
INTERRUPTED = 130


def print_problem(problem: str) -> None:
    sys.stderr.write(f"cowork: {visible(problem)}\n")


def add_conversation_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        *("-c", "--context"),
        metavar="NAME",
        default="",
        help="name or id of the conversation to continue; default: this folder's own",
    )
    add_workspace_option(parser)


def add_workspace_option(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--workspace", metavar="DIR", help="folder to work in; default: the current one"
    )


def settings_for(config: Cowork, arguments: Namespace) -> Settings:
    if arguments.workspace:
        config.workspace = arguments.workspace
    settings = config.settings(workspace=Path.cwd())
    if not settings.workspace.is_dir():
        raise InvalidInput(f"{settings.workspace} is not a folder.")
    return settings


@asynccontextmanager
async def open_service(
    settings: Settings, *, interactive: bool = False
) -> AsyncIterator[CoworkService]:
    from ...service.wiring import build_service

    service = build_service(settings, interactive=interactive)
    try:
        yield service
    finally:
        await service.close()
