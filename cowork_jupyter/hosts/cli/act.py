"""`jupyter cowork act`: do something, or carry out the plan there is."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from ...domain.errors import InvalidInput
from .ordering import add_conversation_options, add_run_options, fulfil, text_of

if TYPE_CHECKING:
    from ..config import Cowork
    from .command import Commands


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "act",
        help="do what the text says, or execute the current plan",
        description="Do what the text says. Without text, approve and execute the "
        "conversation's current plan. Where no rule decides, you are asked in the terminal; if "
        "nobody can be asked, the call is denied.",
    )
    parser.add_argument(
        "text",
        metavar="TEXT",
        nargs="?",
        help="what to do; - reads it from stdin; omit it to execute the current plan",
    )
    parser.add_argument("--policy", metavar="FILE", help="rules for this run, in JSON or TOML")
    add_run_options(parser)
    add_conversation_options(parser)
    parser.set_defaults(run=run)


def run(config: Cowork, arguments: Namespace) -> int:
    """Act."""
    from ...domain.roles import AgentRole
    from ...policy.policy_file import read_policy

    if arguments.new and arguments.text is None:
        raise InvalidInput("A new conversation has no plan to execute yet.")
    policy = read_policy(arguments.policy) if arguments.policy else None
    text = "" if arguments.text is None else text_of(arguments.text)
    return fulfil(config, arguments, AgentRole.ACTOR, text, policy)
