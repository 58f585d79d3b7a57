"""What `jupyter cowork doctor` looks at."""

from __future__ import annotations

import json
import platform
import sqlite3
import sys
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_core.paths import jupyter_config_path, jupyter_path
from traitlets.config import Config

from .._version import __version__
from ..config import Cowork
from ..connections import Connections
from ..domain.errors import CoworkError
from ..domain.health import Problem
from ..domain.settings import Settings
from ..health import folder_problems
from ..llm.reachable import HOW_TO_CONNECT, look
from ..surroundings import lab_problems, taken_port_problems
from ..workspace.sandbox.sandbox import Sandbox
from .command import FAILED, SUCCESS

if TYPE_CHECKING:
    from .command import Commands


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    name: str
    ok: bool
    message: str


def add_to(commands: Commands) -> None:
    """Declare the command."""
    what = "check this installation and say for each part what is right or what to do"
    parser = commands.add_parser("doctor", help=what, description=f"{what.capitalize()}.")
    parser.add_argument("--json", action="store_true", help="print one JSON object, not lines")
    parser.set_defaults(run=run)


def run(config: Cowork, arguments: Namespace) -> int:
    """Examine, print, and tell by the exit code whether all is well."""
    findings = examine(config, config.config)
    print_findings(findings, as_json=arguments.json)
    return SUCCESS if all(finding.ok for finding in findings) else FAILED


def examine(config: Cowork, jupyter: Config) -> list[Finding]:
    """Look at everything; what is wrong in one place hides nothing in another."""
    settings = config.settings(workspace=Path.cwd())
    return [
        Finding(
            "version", True, f"cowork-jupyter {__version__}, Python {platform.python_version()}"
        ),
        _judged("jupyterlab", lab_problems(), f"JupyterLab {version('jupyterlab')}"),
        _lab_extension(),
        _server_extension(),
        _model(settings),
        _sandbox(settings),
        _judged("folders", folder_problems(settings), _folders(settings)),
        _checkpoints(settings),
        _port(jupyter),
    ]


def print_findings(findings: list[Finding], *, as_json: bool) -> None:
    """Show them to a person or to a program."""
    if as_json:
        ok = all(finding.ok for finding in findings)
        text = json.dumps({"ok": ok, "checks": [asdict(finding) for finding in findings]}, indent=2)
    else:
        width = max(len(finding.name) for finding in findings)
        text = "\n".join(
            f"{'✓' if finding.ok else '✗'} {finding.name:<{width}}  {finding.message}"
            for finding in findings
        )
    sys.stdout.write(text + "\n")


def _judged(name: str, problems: Iterator[Problem], when_fine: str) -> Finding:
    found = [problem.message for problem in problems]
    return Finding(name, not found, " ".join(found) or when_fine)


def _folders(settings: Settings) -> str:
    return f"workspace {settings.workspace}, conversations in {settings.database.parent}"


def _checkpoints(settings: Settings) -> Finding:
    """Reads all that is kept and checks it; a store that is not there yet is not made."""
    from ..checkpoints import checkpoint_folder, verified

    folder = checkpoint_folder(settings)
    if not folder.exists():
        return Finding("checkpoints", True, "none yet")
    try:
        found = verified(settings)
    except (CoworkError, OSError, sqlite3.Error) as error:
        return Finding(
            "checkpoints",
            False,
            f"The store in {folder} cannot be read: {error}. Moving it away loses the way back to "
            "earlier states, and nothing else.",
        )
    if found.problems:
        return Finding("checkpoints", False, f"{' '.join(found.problems)} ({folder})")
    size = f"{found.used / 1e6:,.0f} of at most {settings.checkpoint_total_limit / 1e6:,.0f} MB"
    return Finding("checkpoints", True, f"{found.checkpoints}, all whole; {size} in {folder}")


def _lab_extension() -> Finding:
    for folder in jupyter_path("labextensions", "cowork-jupyter"):
        if (Path(folder) / "package.json").is_file():
            return Finding("lab extension", True, f"found in {folder}")
    return Finding(
        "lab extension",
        False,
        "JupyterLab will not show the panel. Run: pip install --force-reinstall cowork-jupyter",
    )


def _server_extension() -> Finding:
    from jupyter_server.extension.config import ExtensionConfigManager

    manager = ExtensionConfigManager(read_config_path=jupyter_config_path())
    if manager.enabled("cowork_jupyter"):
        return Finding("server extension", True, "enabled")
    return Finding("server extension", False, "Run: jupyter server extension enable cowork_jupyter")


def _sandbox(settings: Settings) -> Finding:
    """What confines commands, what that promises here, and what it cannot."""
    sandbox = Sandbox(settings)
    wanted = settings.sandbox in ("auto", "none", sandbox.kind)
    asked_for = "" if wanted else f"{settings.sandbox} was asked for and is not here. "
    missing = [f"Not here: {what}" for what in sandbox.missing()]
    told = " ".join([*sandbox.promises(), *missing])
    return Finding("sandbox", wanted, f"{asked_for}{sandbox.kind}: {told}")


def _model(settings: Settings) -> Finding:
    state = look(Connections(settings).current())
    where = f"answers at {state.base_url}" if state.base_url else f"answers. {HOW_TO_CONNECT}"
    return Finding("model", state.ready, state.why_not or f"{state.name} {where}")


def _port(jupyter: Config) -> Finding:
    from jupyter_server.serverapp import list_running_servers

    port = int(jupyter.ServerApp.get("port", None) or 8888)
    for server in list_running_servers():
        if server["port"] == port:
            return Finding("port", True, f"a Jupyter server runs on port {port}")
    return _judged("port", taken_port_problems(port), f"port {port} is free")
