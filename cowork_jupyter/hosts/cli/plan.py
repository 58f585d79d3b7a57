"""`jupyter cowork plan`: let the planner, who can only read, make a plan."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from .ordering import add_conversation_options, add_run_options, fulfil, text_of

if TYPE_CHECKING:
    from ..config import Cowork
    from .command import Commands


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "plan",
        help="make a plan, read-only, and print it",
        description="Make a plan for a goal. The planner can only read; nothing is executed "
        "until you run `jupyter cowork act`.",
    )
    parser.add_argument("text", metavar="GOAL", help="the goal; - reads it from stdin")
    add_run_options(parser)
    add_conversation_options(parser)
    parser.set_defaults(run=run)


def run(config: Cowork, arguments: Namespace) -> int:
    """Plan."""
    from ...domain.roles import AgentRole

    return fulfil(config, arguments, AgentRole.PLANNER, text_of(arguments.text))
