"""`jupyter cowork acp`: the agent for editors and other clients of the Agent Client Protocol."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import Cowork
from .command import FAILED, SUCCESS, print_problem

if TYPE_CHECKING:
    from .command import Commands


def add_to(commands: Commands) -> None:
    """Declare the command."""
    what = "let an editor drive the agent over the Agent Client Protocol (stdin and stdout)"
    parser = commands.add_parser("acp", help=what, description=f"{what[:1].upper()}{what[1:]}.")
    parser.set_defaults(run=run)


def run(config: Cowork, _arguments: Namespace) -> int:
    """Serve until the client closes the stream."""
    from ...domain.health import lack_of

    if lack := lack_of("acp"):
        print_problem(lack)
        return FAILED
    from ..acp.serving import serve

    serve(config.settings(workspace=Path.cwd()))
    return SUCCESS
