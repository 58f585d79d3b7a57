"""Documents that are open in a browser, as checkpoints see them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ..domain.errors import Conflict
from .entries import FileEntry
from .lazy_store import LazyCheckpointStore


class DocumentChanged(Conflict):
    """An open document is not any more what it was thought to hold; nothing was written."""

    code = "document_changed"
    retryable = True


class OpenDocuments(Protocol):
    """Whoever knows which documents are open, and what they hold."""

    def is_open(self, path: str) -> bool:
        """Whether a browser has it open."""

    async def read_unsaved(self, path: str) -> bytes | None:
        """What the file would hold if it were saved now; None if it is not open, or is saved."""

    async def write(self, path: str, present: bytes | None, content: bytes) -> bool:
        """Give the open document this content, where the user sees it.

        What is the same in `present` and in the content is not touched. False if none is open;
        `DocumentChanged` if it holds another text than `present`.
        """

    async def is_open_elsewhere(self, path: str) -> bool:
        """Whether a program has it open that cannot be told of a change."""


class NoDocuments:
    """Nothing is open."""

    def is_open(self, path: str) -> bool:  # noqa: ARG002
        return False

    async def read_unsaved(self, path: str) -> bytes | None:  # noqa: ARG002
        return None

    async def write(self, path: str, present: bytes | None, content: bytes) -> bool:  # noqa: ARG002
        """Nothing to write to."""
        return False

    async def is_open_elsewhere(self, path: str) -> bool:  # noqa: ARG002
        return False


async def captured(
    lazy_store: LazyCheckpointStore, documents: OpenDocuments, paths: Iterable[str]
) -> dict[str, FileEntry | None]:
    """Keep what is at these paths; of open documents, what is in the tab."""
    entries = await lazy_store.ask(lambda state: state.capture(paths))
    for path, entry in list(entries.items()):
        if entry is None or entry.kind == "file":
            content = await documents.read_unsaved(path)
            if content is not None:
                entries[path] = await _kept(lazy_store, content, entry)
    return entries


async def _kept(
    lazy_store: LazyCheckpointStore, content: bytes, like: FileEntry | None
) -> FileEntry:
    return await lazy_store.ask(lambda state: state.keep(content, like))
