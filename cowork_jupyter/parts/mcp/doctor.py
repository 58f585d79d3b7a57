"""What `jupyter cowork doctor` says of the configured servers."""

from __future__ import annotations

import os

from ...domain.health import DoctorFinding, missing_extra
from ...domain.settings import Settings
from ...policy.rulebook import settings_offers
from ...policy.trust import Trust
from .config import ConfiguredServer, ConfiguredServers
from .secrets import VariableMissing, resolve

NAME = "mcp servers"


def examine_servers(settings: Settings) -> DoctorFinding:
    trust = Trust(settings.data_dir / "trust.json", settings.workspace)
    trust.add_finder(lambda: settings_offers(settings.workspace))
    found = ConfiguredServers(settings.workspace, settings.user_settings, trust).all()
    if not found:
        return DoctorFinding(NAME, True, "none configured")
    if any(server.in_use for server in found) and (lack := missing_extra("mcp")):
        return DoctorFinding(NAME, False, lack)
    problems = [_problem(server, settings) for server in found]
    listed = [
        _server_line(server, problem) for server, problem in zip(found, problems, strict=True)
    ]
    return DoctorFinding(NAME, not any(problems), "; ".join(listed))


def _server_line(server: ConfiguredServer, problem: str) -> str:
    kind = f" ({server.config.kind})" if server.config else ""
    off = server.why_not if server.why_not else "" if server.enabled else "disabled"
    return f"{server.name}{kind}{': ' if off or problem else ''}{off or problem}"


def _problem(configured: ConfiguredServer, settings: Settings) -> str:
    """What would keep it from starting; empty if nothing is known to."""
    if configured.config is None:
        return configured.why_not
    if not configured.in_use:
        return ""
    try:
        server = resolve(configured.config.entry, os.environ, str(settings.workspace))
    except VariableMissing as error:
        return str(error)
    if server.command and server.program() is None:
        return f"the program '{configured.config.entry.command}' is not installed"
    return ""
