"""What the doctor says of MCP servers. It starts none: that is for when they are used."""

from __future__ import annotations

import os
from importlib.util import find_spec

from ..domain.settings import Settings
from ..mcp.client.configured import Configured, ConfiguredServers
from ..mcp.client.connection import NOT_INSTALLED
from ..mcp.client.secrets import VariableMissing, resolve
from ..policy.rulebook import settings_offers
from ..policy.trust import Trust
from .finding import DoctorFinding

NAME = "mcp servers"


def examine_servers(settings: Settings) -> DoctorFinding:
    """Which there are, which are not used, and what keeps one from starting."""
    trust = Trust(settings.data_dir / "trust.json", settings.workspace)
    trust.look_at(lambda: settings_offers(settings.workspace))
    found = ConfiguredServers(settings.workspace, settings.user_settings, trust).all()
    if not found:
        return DoctorFinding(NAME, True, "none configured")
    if any(one.in_use for one in found) and find_spec("mcp") is None:
        return DoctorFinding(NAME, False, NOT_INSTALLED)
    problems = [_problem(one, settings) for one in found]
    listed = [_told(one, problem) for one, problem in zip(found, problems, strict=True)]
    return DoctorFinding(NAME, not any(problems), "; ".join(listed))


def _told(one: Configured, problem: str) -> str:
    kind = f" ({one.config.kind})" if one.config else ""
    off = one.why_not if one.why_not else "" if one.enabled else "disabled"
    return f"{one.name}{kind}{': ' if off or problem else ''}{off or problem}"


def _problem(one: Configured, settings: Settings) -> str:
    """What would keep it from starting; empty if nothing is known to."""
    if one.config is None:
        return one.why_not
    if not one.in_use:
        return ""
    try:
        server = resolve(one.config.entry, os.environ, str(settings.workspace))
    except VariableMissing as error:
        return str(error)
    if server.command and server.program() is None:
        return f"the program '{one.config.entry.command}' is not installed"
    return ""
