"""`jupyter cowork review`: have notebooks and Python files reviewed, by reading only."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from .ordering import add_conversation_options, add_run_options, fulfil

if TYPE_CHECKING:
    from ..config import Cowork
    from .command import Commands


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "review",
        help="review notebooks and Python files, read-only",
        description="Review notebooks and Python files. The reviewer only reads; without "
        "a model it goes by rules. The exit code is 1 if it asks for changes.",
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="a notebook or a Python file")
    add_run_options(parser)
    add_conversation_options(parser)
    parser.set_defaults(run=run)


def run(config: Cowork, arguments: Namespace) -> int:
    """Review."""
    from ...domain.roles import AgentRole

    named = ", ".join(f"`{path}`" for path in arguments.files)
    return fulfil(config, arguments, AgentRole.REVIEWER, f"Review {named}.")
