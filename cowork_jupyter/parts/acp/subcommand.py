"""`jupyter cowork acp`: serve an editor on the standard streams."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from ...hosts.cli.command import FAILED, SUCCESS, print_problem

if TYPE_CHECKING:
    from ...hosts.cli.command import Commands
    from ...hosts.config import Cowork


def add_acp(commands: Commands) -> None:
    what = "let an editor drive the agent over the Agent Client Protocol (stdin and stdout)"
    parser = commands.add_parser("acp", help=what, description=f"{what[:1].upper()}{what[1:]}.")
    parser.set_defaults(run=run_acp)


def run_acp(config: Cowork, _arguments: Namespace) -> int:
    from ...domain.health import missing_extra

    if lack := missing_extra("acp"):
        print_problem(lack)
        return FAILED
    from .agent import serve

    serve(config.settings(workspace=Path.cwd()))
    return SUCCESS
