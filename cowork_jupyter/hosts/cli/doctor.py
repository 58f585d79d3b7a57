"""`jupyter cowork doctor`: check the installation."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from .command import FAILED, SUCCESS

if TYPE_CHECKING:
    from ..config import Cowork
    from .command import Commands


def add_to(commands: Commands) -> None:
    what = "check this installation and say how to fix what is wrong"
    parser = commands.add_parser("doctor", help=what, description=f"{what.capitalize()}.")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object instead of lines"
    )
    parser.add_argument(
        "--bundle",
        metavar="FILE.zip",
        type=Path,
        help="write an archive for a bug report instead, with none of your data in it",
    )
    parser.set_defaults(run=run)


def run(config: Cowork, arguments: Namespace) -> int:
    """A promise that does not hold is no fault of the installation: what it would prevent asks
    instead.
    """
    from .doctor_checks import examine
    from .installation import print_findings, security_promises

    findings = examine(config, config.config)
    settings = config.settings(workspace=Path.cwd())
    promises = security_promises(settings)
    if arguments.bundle:
        from .bundle import write_bundle

        write_bundle(arguments.bundle, settings, config.config, findings, promises)
        sys.stdout.write(f"Wrote {arguments.bundle}. Look through it before you send it.\n")
        return SUCCESS
    print_findings(findings, promises, as_json=arguments.json)
    return SUCCESS if all(finding.ok for finding in findings) else FAILED
