"""`jupyter cowork plan`, `act`, `review` and `check`: everything that runs something."""

from __future__ import annotations

import asyncio
import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from ...domain.errors import InvalidInput
from ...domain.roles import AgentRole
from .command import add_conversation_options, settings_for

if TYPE_CHECKING:
    from ..config import Cowork
    from .command import Commands


def add_plan(commands: Commands) -> None:
    parser = commands.add_parser(
        "plan",
        help="make a plan, read-only, and print it",
        description="Make a plan for a goal. The planner can only read; nothing is executed "
        "until you run `jupyter cowork act`.",
    )
    parser.add_argument("text", metavar="GOAL", help="the goal; - reads it from stdin")
    add_run_options(parser)
    add_conversation_options(parser)
    parser.set_defaults(run=run_plan)


def run_plan(config: Cowork, arguments: Namespace) -> int:
    return run_agent(config, arguments, AgentRole.PLANNER, text_of(arguments.text))


def add_act(commands: Commands) -> None:
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
    parser.set_defaults(run=run_act)


def run_act(config: Cowork, arguments: Namespace) -> int:
    from ...policy.settings_file import read_policy

    if arguments.new and arguments.text is None:
        raise InvalidInput("A new conversation has no plan to execute yet.")
    policy = read_policy(arguments.policy) if arguments.policy else None
    text = "" if arguments.text is None else text_of(arguments.text)
    return run_agent(config, arguments, AgentRole.ACTOR, text, policy)


def add_review(commands: Commands) -> None:
    parser = commands.add_parser(
        "review",
        help="review notebooks and Python files, read-only",
        description="Review notebooks and Python files. The reviewer only reads; without "
        "a model it goes by rules. The exit code is 1 if it asks for changes.",
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="a notebook or a Python file")
    add_run_options(parser)
    add_conversation_options(parser)
    parser.set_defaults(run=run_review)


def run_review(config: Cowork, arguments: Namespace) -> int:
    named = ", ".join(f"`{path}`" for path in arguments.files)
    return run_agent(config, arguments, AgentRole.REVIEWER, f"Review {named}.")


def add_check(commands: Commands) -> None:
    parser = commands.add_parser(
        "check",
        help="run a notebook in a new kernel and check its expectations",
        description="Run all code cells of a notebook in its own kernel, without a server, then "
        "check its pinned expectations. The notebook stays unchanged. The exit code is 0 if "
        "everything is as expected, 1 if a cell failed or an expectation is broken, and 2 for a "
        "usage error.",
    )
    parser.add_argument("notebook", metavar="NOTEBOOK", help="the notebook's file")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    parser.add_argument(
        "--workspace",
        metavar="DIR",
        help="folder that file paths are relative to; default: the current one if the notebook "
        "is in it, else the notebook's folder",
    )
    parser.set_defaults(run=run_check)


def run_check(config: Cowork, arguments: Namespace) -> int:
    from .checked_notebook import check_notebook

    return check_notebook(config, arguments)


def add_run_options(parser: ArgumentParser) -> None:
    parser.add_argument("-m", "--model", metavar="MODEL", help="model to use from now on")
    parser.add_argument("--prompt", metavar="ID", help="base prompt to use from now on")
    parser.add_argument("--new", action="store_true", help="start a new conversation")
    parser.add_argument(
        "--json", action="store_true", help="print only the events, each as one line of JSON"
    )


def text_of(argument: str) -> str:
    """`-` reads standard input."""
    text = (sys.stdin.read() if argument == "-" else argument).strip()
    if not text:
        raise InvalidInput("Say what you want: the text is empty.")
    return text


def run_agent(
    config: Cowork,
    arguments: Namespace,
    role: AgentRole,
    text: str,
    policy: dict[str, Any] | None = None,
) -> int:
    """Run to the end; return the exit code."""
    from .session import CliRequest, run_request

    request = CliRequest(
        role=role,
        text=text,
        conversation=arguments.context,
        new=arguments.new,
        model=arguments.model,
        prompt=arguments.prompt,
        policy=policy,
        as_json=arguments.json,
    )
    return asyncio.run(run_request(settings_for(config, arguments), request))
