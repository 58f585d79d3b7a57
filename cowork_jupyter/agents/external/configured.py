"""Which external agents there are: those in the user's own settings, never a folder's."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import ValidationError

from ...domain.roles import AgentRole
from ...mcp.client.entry import ServerEntry
from ...policy.settings_file import SettingsFile

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")


class ExternalAgents:
    """`{"agents": {"name": {"command", "args", "env"}}}`, as it stands in the file now."""

    def __init__(self, settings: Path | None = None) -> None:
        self._file = SettingsFile(settings) if settings else None

    def all(self) -> dict[str, ServerEntry]:
        """Those that can be started, by name."""
        found = self._file.content().get("agents", {}) if self._file else {}
        entries = found.items() if isinstance(found, dict) else ()
        read = {name: _read(raw) for name, raw in entries if _NAME.fullmatch(name)}
        return {name: entry for name, entry in read.items() if entry is not None}

    def facts(self, role: AgentRole) -> dict[str, str]:
        """What a role that can hand work to them is told."""
        names = ", ".join(self.all())
        ways = [
            'delegate takes one as "agent"' if role.spec.delegates_to else "",
            'a step with "agent": "NAME" is executed by that agent'
            if "plan" in role.spec.formats
            else "",
        ]
        how = "; ".join(way for way in ways if way)
        return {"external agents": f"{names} ({how})"} if names and how else {}


def _read(raw: object) -> ServerEntry | None:
    try:
        entry = ServerEntry.model_validate(raw)
    except ValidationError:
        return None
    return entry if entry.command and not entry.disabled else None
