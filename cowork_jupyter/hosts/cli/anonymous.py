"""Takes out of a text whatever could name a person, a place or a file."""

from __future__ import annotations

import getpass
import os
import re
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ...domain.settings import Settings
from ...record import Redactor

HIDDEN = "[hidden]"
_MIN_NAME_LENGTH = 3
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\"]+")
_QUOTED = re.compile(r"'[^'\n]*'|“[^”\n]*”|`[^`\n]*`|\"[^\"\n]*\"")
_PATH = re.compile(r"(?<![\w.])(?:~|\.{1,2}|[A-Za-z]:)?[/\\][^\s,;'\"]+")


@dataclass(frozen=True)
class Anonymous:
    """Knows the names that must not get out."""

    redactor: Redactor
    places: Sequence[str]
    """Folders and files, the longest first."""
    names: re.Pattern[str]

    @classmethod
    def of(cls, settings: Settings, keys: Sequence[str]) -> Anonymous:
        """Those of this machine, its user and these settings."""
        known = [settings.workspace, settings.database, settings.data_dir, Path.cwd()]
        known += [path for path in (settings.config_dir, _home()) if path]
        known += [path.parent for path in known] + [path.resolve() for path in known]
        places = {str(path) for path in known if len(path.parts) > 1}
        words = {name for name in _names() if len(name) >= _MIN_NAME_LENGTH}
        ordered = sorted(map(re.escape, words), key=len, reverse=True)
        names = re.compile(rf"(?<!\w)(?:{'|'.join(ordered) or '(?!)'})(?!\w)", re.IGNORECASE)
        redactor = Redactor.of(settings, [*keys, *settings.keys.values()])
        return cls(redactor, sorted(places, key=len, reverse=True), names)

    def clean(self, text: str) -> str:
        """Without keys, folders of this user, and their name."""
        for place in self.places:
            text = text.replace(place, HIDDEN)
        return self.names.sub(HIDDEN, self.redactor.clean(text))

    def sentence(self, text: str) -> str:
        """The same, also without anything that is quoted, a path or an address."""
        text = self.clean(text)
        for pattern in (_ADDRESS, _QUOTED, _PATH):
            text = pattern.sub(HIDDEN, text)
        return text


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # some users have none
        return None


def _names() -> set[str]:
    """What the user and the machine are called."""
    found = {socket.gethostname(), socket.gethostname().partition(".")[0]}
    found |= {os.environ.get(name, "") for name in ("USER", "LOGNAME", "USERNAME")}
    with suppress(OSError, KeyError, ImportError):
        found.add(getpass.getuser())
    if home := _home():
        found.add(home.name)
    if user := os.environ.get("JUPYTERHUB_USER"):
        found.add(user)
    return found
