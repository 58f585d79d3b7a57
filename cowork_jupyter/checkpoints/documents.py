"""Documents that are open in a browser, as checkpoints see them."""

from __future__ import annotations

from typing import Protocol


class OpenDocuments(Protocol):
    """Whoever knows which documents are open, and what they hold."""

    async def read_unsaved(self, path: str) -> bytes | None:
        """What the file would hold if it were saved now; None if it is not open, or is saved."""

    async def write(self, path: str, content: bytes) -> bool:
        """Give the open document this content, where the user sees it; False if none is open."""


class NoDocuments:
    """Nothing is open."""

    async def read_unsaved(self, path: str) -> bytes | None:  # noqa: ARG002
        """Nothing is."""
        return None

    async def write(self, path: str, content: bytes) -> bool:  # noqa: ARG002
        """Nothing to write to."""
        return False
