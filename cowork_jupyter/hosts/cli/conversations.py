"""Which conversation a command goes on with: each folder has its own, and named ones beside it.

A notebook's conversations belong to the notebook; a terminal's belong to the folder that it
works in. The store knows no folders, so a small file for each says which conversation it is.
"""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ...domain.errors import NotFound

if TYPE_CHECKING:
    from ...domain.contexts import Context
    from ...domain.roles import AgentRole
    from ...service import CoworkService


class FolderConversations:
    """The terminal's conversations in the service's workspace."""

    def __init__(self, service: CoworkService) -> None:
        self._service = service

    def find(self, name: str) -> Context | None:
        """The one of that name or id in this folder; without a name, the folder's own."""
        for known in (name, self._remembered(name)):
            try:
                if known:
                    return self._service.conversations.get(known)
            except NotFound:  # a name, not an id; or it was deleted in the panel
                continue
        return None

    def get(self, name: str) -> Context:
        """The same, or an error that says what is there to do."""
        found = self.find(name)
        if found is None:
            which = f"called '{name}' " if name else ""
            raise NotFound(
                f"There is no conversation {which}in {self._service.settings.workspace} yet. "
                "Start one with: jupyter cowork plan",
                code="no_conversation",
            )
        return found

    def open(self, name: str, role: AgentRole) -> Context:
        """The same, made if it is not there yet."""
        return self.find(name) or self.start(name, role)

    def start(self, name: str, role: AgentRole) -> Context:
        """A new one, which is the one of that name from now on."""
        made = self._service.conversations.create(title=name, role=role)
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            file.write(made.id)
        Path(file.name).replace(path)
        return made

    def _remembered(self, name: str) -> str:
        try:
            return self._path(name).read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""

    def _path(self, name: str) -> Path:
        settings = self._service.settings
        key = f"{settings.workspace.resolve()}\n{name}".encode("utf-8", "surrogateescape")
        return settings.data_dir / "terminal" / hashlib.sha256(key).hexdigest()[:32]
