"""Is everything installed, in versions that fit, and where Jupyter looks for it?"""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from jupyter_core.paths import jupyter_config_path, jupyter_path
from packaging.requirements import Requirement
from traitlets.config import Config

from ..._version import __version__
from ..jupyter_problems import lab_problems, taken_port_problems
from .finding import DoctorFinding, judged

_DISTRIBUTION = "cowork-jupyter"
_REINSTALL = f"Run: pip install --force-reinstall {_DISTRIBUTION}"


def examine_installation(jupyter: Config) -> list[DoctorFinding]:
    """What pip and Jupyter know about us."""
    return [
        DoctorFinding(
            "version", True, f"{_DISTRIBUTION} {__version__}, Python {platform.python_version()}"
        ),
        _packages(),
        judged("jupyterlab", lab_problems(), f"JupyterLab {_version_of('jupyterlab')}"),
        _lab_extension(),
        _server_extension(),
        _port(jupyter),
    ]


def _packages() -> DoctorFinding:
    """Whether all that we need is there; then also which extras are."""
    wanted = [Requirement(text) for text in requires(_DISTRIBUTION) or ()]
    unmet = [
        need for requirement in wanted if _is_needed(requirement) and (need := _unmet(requirement))
    ]
    if unmet:
        return DoctorFinding("packages", False, f"{'; '.join(unmet)}. {_REINSTALL}")
    extras = sorted(_extras_there(wanted))
    return DoctorFinding("packages", True, f"all installed; extras: {', '.join(extras) or 'none'}")


def _is_needed(requirement: Requirement, extra: str = "") -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def _unmet(requirement: Requirement) -> str | None:
    found = _version_of(requirement.name)
    if found is None:
        return f"{requirement.name} is missing"
    if not requirement.specifier.contains(found, prereleases=True):
        return f"{requirement.name} is {found}, but {requirement.specifier} is required"
    return None


def _extras_there(wanted: list[Requirement]) -> Iterator[str]:
    """Extras of which everything is installed."""
    names = {
        name
        for requirement in wanted
        for name in re.findall(r"extra == .(\w+)", str(requirement.marker))
    }
    for name in names:
        own = [
            requirement
            for requirement in wanted
            if not _is_needed(requirement) and _is_needed(requirement, name)
        ]
        if own and not any(_unmet(requirement) for requirement in own):
            yield name


def _version_of(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _lab_extension() -> DoctorFinding:
    """The first that Jupyter finds is the one it loads, so that one must be ours of today."""
    for folder in jupyter_path("labextensions", _DISTRIBUTION):
        try:
            found = json.loads((Path(folder) / "package.json").read_text(encoding="utf-8"))
        except OSError:
            continue
        except ValueError:
            found = {}
        if found.get("version") == __version__:
            return DoctorFinding("lab extension", True, f"found in {folder}")
        what = f"{folder} has version {found.get('version')}, not {__version__}."
        return DoctorFinding("lab extension", False, f"{what} {_REINSTALL}")
    what = "JupyterLab will not show the panel."
    return DoctorFinding("lab extension", False, f"{what} {_REINSTALL}")


def is_server_extension_enabled() -> bool:
    """Whether the next Jupyter server loads us."""
    from jupyter_server.extension.config import ExtensionConfigManager

    manager = ExtensionConfigManager(read_config_path=jupyter_config_path())
    return bool(manager.enabled("cowork_jupyter"))


def _server_extension() -> DoctorFinding:
    if is_server_extension_enabled():
        return DoctorFinding("server extension", True, "enabled")
    return DoctorFinding(
        "server extension", False, "Run: jupyter server extension enable cowork_jupyter"
    )


def _port(jupyter: Config) -> DoctorFinding:
    from jupyter_server.serverapp import list_running_servers

    port = int(jupyter.ServerApp.get("port", None) or 8888)
    for server in list_running_servers():
        if server["port"] == port:
            return DoctorFinding("port", True, f"a Jupyter server is running on port {port}")
    return judged("port", taken_port_problems(port), f"port {port} is free")
