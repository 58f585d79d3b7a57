"""`jupyter cowork doctor`: is everything as it should be?"""

from __future__ import annotations

import shutil
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..domain.settings import Settings
from ..llm.keys import has_keyring
from ..workspace.sandbox.sandbox import Sandbox
from .command import FAILED, SUCCESS
from .finding import Promise
from .installation import is_server_extension_enabled


def promises_here(settings: Settings) -> list[Promise]:
    """All that depend on the machine or on its settings, those of the sandbox first."""
    sandbox = Sandbox(settings)
    return [
        *(Promise(text, True) for text in sandbox.promises()),
        *(Promise(text, False) for text in sandbox.missing()),
        *_of_the_network(sandbox, settings),
        _promise(
            "Commands are checked by the shell that runs them.",
            shutil.which("bash") is not None,
            "Commands cannot be checked without bash, so every command asks. Install bash.",
        ),
        _promise(
            "Kernels that this Jupyter starts do not get Cowork's key.",
            is_server_extension_enabled(),
            "Kernels get COWORK_API_KEY, because the server extension is not enabled. "
            "Run: jupyter server extension enable cowork_jupyter",
        ),
        Promise(f"Keys typed into the panel are in no file of ours; {_kept_by()}.", True),
    ]


def _of_the_network(sandbox: Sandbox, settings: Settings) -> Iterator[Promise]:
    """Where it cannot be taken away, the sandbox says so itself."""
    if sandbox.powers.kind != "none" and sandbox.powers.no_network:
        yield _promise(
            "No command has network access unless you gave it to that call.",
            settings.sandbox_network != "allow",
            "Every command of the actor has network access, because c.Cowork.sandbox_network is "
            "'allow'. Set it to 'ask'.",
        )


def _kept_by() -> str:
    if has_keyring():
        return "the system's keyring stores them"
    return "they are kept until the server stops, because no keyring works here"


def _promise(text: str, holds: bool, otherwise: str) -> Promise:
    return Promise(text if holds else otherwise, holds)


if TYPE_CHECKING:
    from ..config import Cowork
    from .command import Commands


def add_to(commands: Commands) -> None:
    """Declare the command."""
    what = "check this installation and say how to fix what is wrong"
    parser = commands.add_parser("doctor", help=what, description=f"{what.capitalize()}.")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object instead of lines"
    )
    parser.set_defaults(run=run)


def run(config: Cowork, arguments: Namespace) -> int:
    """Examine, print, and tell by the exit code whether all is well.

    A promise that does not hold is no fault of the installation: what it would keep out asks.
    """
    from .doctor import promises_here
    from .doctor_checks import examine
    from .finding import print_findings

    findings = examine(config, config.config)
    promises = promises_here(config.settings(workspace=Path.cwd()))
    print_findings(findings, promises, as_json=arguments.json)
    return SUCCESS if all(finding.ok for finding in findings) else FAILED
