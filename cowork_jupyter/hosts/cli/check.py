"""`jupyter cowork check`: run a notebook and hold it to its expectations, for CI."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..config import Cowork
    from .command import Commands


def add_to(commands: Commands) -> None:
    """Declare the command."""
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
    parser.set_defaults(run=run)


def run(config: Cowork, arguments: Namespace) -> int:
    """Check it."""
    from .checked_notebook import check_notebook

    return check_notebook(config, arguments)
