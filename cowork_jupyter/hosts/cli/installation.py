"""What is installed here: packages, extensions, ports, and which security promises hold."""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from jupyter_core.paths import jupyter_config_path, jupyter_path
from packaging.requirements import Requirement
from traitlets.config import Config

from ..._version import __version__
from ...domain.errors import CoworkError
from ...domain.health import DoctorFinding, Problem
from ...domain.settings import Settings
from ...llm.keys import has_keyring
from ...policy.visible import visible
from ...workspace.sandbox.guarantees import Guarantee
from ...workspace.sandbox.sandbox import Sandbox
from ...workspace.sandbox.trial import try_out
from ..jupyter_problems import lab_problems, taken_port_problems

_PROMISES = "Security promises, and whether they held on this machine when tried just now:"


@dataclass(frozen=True)
class Promise:
    """A security promise. If it does not hold, the text says what is so instead and what helps."""

    text: str
    holds: bool


def finding_of(name: str, problems: Iterable[Problem], when_fine: str) -> DoctorFinding:
    messages = [problem.message for problem in problems]
    return DoctorFinding(name, not messages, " ".join(messages) or when_fine)


def print_findings(
    findings: Sequence[DoctorFinding], promises: Sequence[Promise], *, as_json: bool
) -> None:
    if as_json:
        report = {
            "ok": all(finding.ok for finding in findings),
            "checks": [asdict(finding) for finding in findings],
            "promises": [asdict(promise) for promise in promises],
        }
        text = json.dumps(report, indent=2)
    else:
        width = max(len(finding.name) for finding in findings)
        checks = [
            f"{_mark(finding.ok)} {finding.name:<{width}}  {visible(finding.message)}"
            for finding in findings
        ]
        kept = [f"{_mark(promise.holds)} {visible(promise.text)}" for promise in promises]
        text = "\n".join([*checks, "", _PROMISES, *kept])
    sys.stdout.write(text + "\n")


def _mark(good: bool) -> str:
    return "✓" if good else "✗"


_DISTRIBUTION = "cowork-jupyter"
_REINSTALL = f"Run: pip install --force-reinstall {_DISTRIBUTION}"


def examine_installation(jupyter: Config) -> list[DoctorFinding]:
    return [
        DoctorFinding(
            "version", True, f"{_DISTRIBUTION} {__version__}, Python {platform.python_version()}"
        ),
        _packages(),
        finding_of("jupyterlab", lab_problems(), f"JupyterLab {version_of('jupyterlab')}"),
        _lab_extension(),
        _server_extension(),
        _port(jupyter),
    ]


def _packages() -> DoctorFinding:
    wanted = [Requirement(text) for text in requires(_DISTRIBUTION) or ()]
    unmet = [
        need for requirement in wanted if _is_needed(requirement) and (need := _unmet(requirement))
    ]
    if unmet:
        return DoctorFinding("packages", False, f"{'; '.join(unmet)}. {_REINSTALL}")
    extras = sorted(_installed_extras(wanted))
    return DoctorFinding("packages", True, f"all installed; extras: {', '.join(extras) or 'none'}")


def _is_needed(requirement: Requirement, extra: str = "") -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def _unmet(requirement: Requirement) -> str | None:
    installed = version_of(requirement.name)
    if installed is None:
        return f"{requirement.name} is missing"
    if not requirement.specifier.contains(installed, prereleases=True):
        return f"{requirement.name} is {installed}, but {requirement.specifier} is required"
    return None


def _installed_extras(wanted: list[Requirement]) -> Iterator[str]:
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


def version_of(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _lab_extension() -> DoctorFinding:
    """Jupyter loads the first one that it finds, so that must be ours, of this version."""
    for folder in jupyter_path("labextensions", _DISTRIBUTION):
        try:
            package = json.loads((Path(folder) / "package.json").read_text(encoding="utf-8"))
        except OSError:
            continue
        except ValueError:
            package = {}
        if package.get("version") == __version__:
            return DoctorFinding("lab extension", True, f"found in {folder}")
        what = f"{folder} has version {package.get('version')}, not {__version__}."
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
    return finding_of("port", taken_port_problems(port), f"port {port} is free")


def security_promises(settings: Settings) -> list[Promise]:
    """All that depend on the machine or its settings, those of the sandbox first."""
    sandbox = Sandbox(settings)
    return [
        *_tried_promises(sandbox, settings),
        *(Promise(text, False) for text in sandbox.missing_guarantees()),
        *_network_promises(sandbox, settings),
        _promise(
            "Commands are checked by the shell that runs them.",
            _bash_runs(),
            "Commands cannot be checked without bash, so every command asks. Install bash.",
        ),
        _promise(
            "The server extension is enabled, so kernels do not get Cowork's key.",
            is_server_extension_enabled(),
            "Kernels get COWORK_API_KEY, because the server extension is not enabled. "
            "Run: jupyter server extension enable cowork_jupyter",
        ),
        Promise(f"Keys typed into the panel: {_key_storage()}.", True),
    ]


def _bash_runs() -> bool:
    try:
        return subprocess.run(["bash", "-c", "exit 7"], check=False).returncode == 7  # noqa: S607
    except OSError:
        return False


def _tried_promises(sandbox: Sandbox, settings: Settings) -> Iterator[Promise]:
    """Only what held when it was attacked just now."""
    promised = sandbox.guarantees()
    try:
        broken = try_out(settings) if promised else set[Guarantee]()
    except (OSError, CoworkError) as error:
        yield Promise(
            f"The sandbox could not be tried, so nothing is promised of it: {error}", False
        )
        return
    for name, text in promised.items():
        problem = f"A command tried just now, and this does not hold: {text}"
        yield _promise(text, name not in broken, problem)


def _network_promises(sandbox: Sandbox, settings: Settings) -> Iterator[Promise]:
    """If the network cannot be taken away, the sandbox itself reports that as missing."""
    if sandbox.capabilities.kind != "none" and sandbox.capabilities.no_network:
        yield _promise(
            "No command has network access unless you gave it to that call.",
            settings.sandbox_network != "allow",
            "Every command of the actor has network access, because c.Cowork.sandbox_network is "
            "'allow'. Set it to 'ask'.",
        )


def _key_storage() -> str:
    if has_keyring():
        return "the system's keyring stores them"
    return "they are kept until the server stops, because no keyring works here"


def _promise(text: str, holds: bool, otherwise: str) -> Promise:
    return Promise(text if holds else otherwise, holds)
