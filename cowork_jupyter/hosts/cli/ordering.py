"""What `plan`, `act`, `review` and `export` have in common on the command line."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...domain.errors import InvalidInput

if TYPE_CHECKING:
    from ...domain.roles import AgentRole
    from ...domain.settings import Settings
    from ..config import Cowork


def add_conversation_options(parser: ArgumentParser) -> None:
    """Which conversation, in which folder."""
    parser.add_argument(
        *("-c", "--context"),
        metavar="NAME",
        default="",
        help="name or id of the conversation to continue; default: this folder's own",
    )
    parser.add_argument(
        "--workspace", metavar="DIR", help="folder to work in; default: the current one"
    )


def add_run_options(parser: ArgumentParser) -> None:
    """How to run."""
    parser.add_argument("-m", "--model", metavar="MODEL", help="model to use from now on")
    parser.add_argument("--prompt", metavar="ID", help="base prompt to use from now on")
    parser.add_argument("--new", action="store_true", help="start a new conversation")
    parser.add_argument(
        "--json", action="store_true", help="print only the events, each as one line of JSON"
    )


def text_of(given: str) -> str:
    """The text itself, or what comes in where `-` stands for it."""
    text = (sys.stdin.read() if given == "-" else given).strip()
    if not text:
        raise InvalidInput("Say what you want: the text is empty.")
    return text


def settings_for(config: Cowork, arguments: Namespace) -> Settings:
    """The settings in the folder that was named."""
    if arguments.workspace:
        config.workspace = arguments.workspace
    settings = config.settings(workspace=Path.cwd())
    if not settings.workspace.is_dir():
        raise InvalidInput(f"{settings.workspace} is not a folder.")
    return settings


def fulfil(
    config: Cowork,
    arguments: Namespace,
    role: AgentRole,
    text: str,
    policy: dict[str, Any] | None = None,
) -> int:
    """Run it to its end; gives the exit code."""
    from .session import CliRequest, carry_out

    order = CliRequest(
        role=role,
        text=text,
        conversation=arguments.context,
        new=arguments.new,
        model=arguments.model,
        prompt=arguments.prompt,
        policy=policy,
        as_json=arguments.json,
    )
    return carry_out(settings_for(config, arguments), order)
