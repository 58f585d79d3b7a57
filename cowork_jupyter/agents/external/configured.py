"""Which external agents there are: those in the user's own settings, never a folder's."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, ValidationError

from ...domain.roles import AgentRole
from ...mcp.client.config import ServerEntry
from ...policy.settings_file import SettingsFile
from ...workspace.sandbox.home import shared_folders
from ...workspace.sandbox.places import is_inside

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
_WORDS = re.compile(r"[a-z]+")

_STATE = {
    "claude": ("~/.claude", "~/.claude.json"),
    "codex": ("~/.codex",),
    "gemini": ("~/.gemini",),
    "goose": ("~/.config/goose", "~/.local/share/goose", "~/.local/state/goose"),
    "opencode": (
        *("~/.config/opencode", "~/.local/share/opencode"),
        *("~/.local/state/opencode", "~/.cache/opencode"),
    ),
    "qwen": ("~/.qwen",),
}
"""Where known agents keep their settings, logins and sessions, by a word of the command."""


def _check_place(place: str) -> str:
    path, home = os.path.normpath(os.path.expanduser(place)), os.path.expanduser("~")  # noqa: PTH111
    if not path.startswith("/"):
        raise ValueError("must be an absolute path, or start with ~")
    if is_inside(home, path) or path in shared_folders([home]):
        raise ValueError(
            "must not be or contain your home folder, nor what many programs share, such as "
            "~/.config: name only what the agent needs"
        )
    return path


class AgentEntry(ServerEntry):
    """One agent, as written."""

    writes: list[Annotated[str, AfterValidator(_check_place)]] | None = None
    """Files and folders that it may change beside the workspace: its settings and sessions. By
    default what is known of it."""
    sandbox: bool = True

    @property
    def state(self) -> frozenset[str]:
        if self.writes is not None:
            return frozenset(self.writes)
        words = {word for part in (self.command, *self.args) for word in _WORDS.findall(part)}
        known = (place for word in _STATE.keys() & words for place in _STATE[word])
        return frozenset(map(os.path.expanduser, known))


class ExternalAgents:
    """`{"agents": {"name": {"command", "args", …}}}`, as it is in the file now."""

    def __init__(self, settings: Path | None = None) -> None:
        self._file = SettingsFile(settings) if settings else None

    def all(self) -> dict[str, AgentEntry]:
        found = self._file.content().get("agents", {}) if self._file else {}
        entries = found.items() if isinstance(found, dict) else ()
        read = {name: _read_entry(raw) for name, raw in entries if _NAME.fullmatch(name)}
        return {name: entry for name, entry in read.items() if entry is not None}

    def facts(self, role: AgentRole) -> dict[str, str]:
        names = ", ".join(self.all())
        ways = [
            'delegate takes one as "agent"' if role.spec.delegates_to else "",
            'a step with "agent": "NAME" is executed by that agent'
            if "plan" in role.spec.formats
            else "",
        ]
        how = "; ".join(way for way in ways if way)
        return {"external agents": f"{names} ({how})"} if names and how else {}


def _read_entry(raw: object) -> AgentEntry | None:
    try:
        entry = AgentEntry.model_validate(raw)
    except ValidationError:
        return None
    return entry if entry.command and not entry.disabled else None
