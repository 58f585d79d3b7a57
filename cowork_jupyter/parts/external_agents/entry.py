"""One external agent, as the user's settings describe it."""

from __future__ import annotations

import os
import re
from typing import Annotated

from pydantic import AfterValidator

from ...workspace.sandbox.path_access import is_inside, shared_folders
from ..mcp.config import ServerEntry

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
