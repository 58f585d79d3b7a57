"""Notebooks that programs without our extension have open, as far as Jupyter's sessions tell.

An editor on this server, or a Lab without us, shows a document that we cannot reach. What it
has is a session: a kernel for that notebook.
"""

from __future__ import annotations

import os.path
from typing import Any

from jupyter_core.utils import ensure_async

from .tabs import Tabs


class ForeignSessions:
    """The sessions of notebooks, without those that we have made for ourselves."""

    def __init__(self, manager: Any, tabs: Tabs, root: str) -> None:
        self._manager = manager
        self._tabs = tabs
        self._root = os.path.realpath(root)
        self._own: set[str] = set()

    def add_own(self, session: dict[str, Any]) -> None:
        """Remember a session that was made to run code, with nobody there to look at it."""
        self._own.add(session["id"])

    async def hold(self, file: str) -> bool:
        """Whether somebody has this file open, who is none of our tabs."""
        for session in await ensure_async(self._manager.list_sessions()):
            if session["type"] == "notebook" and self._file_of(session["path"]) == file:
                # A front end keeps a connection to its kernel. Without one, the session of a tab
                # that was ours is what it left behind; any other may be an editor that is away.
                abandoned = session["id"] in self._own or self._tabs.have_had(file, self._root)
                if session["kernel"].get("connections") or not abandoned:
                    return True
        return False

    def _file_of(self, path: str) -> str:
        return os.path.realpath(os.path.join(self._root, path))  # noqa: PTH118
