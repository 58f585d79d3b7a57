"""What the user trusts: what a folder brings along, and the tools of MCP servers.

What a folder brings is inert until the user has accepted it, per item and by content: whatever is
changed or added later is not trusted, and is offered again.

A tool of an MCP server is whatever the server says today. Its fingerprint is pinned when the user
first lets it run. If its name, description or parameters change, it asks again, and only a rule
about exactly the new form, which the user is then offered, allows it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..domain.errors import Conflict

Kind = Literal[
    "rule", "mcp_server", "workflow", "prompt", "instructions", "skill", "memory", "role"
]


@dataclass(frozen=True)
class Offer:
    kind: Kind
    name: str
    detail: str
    """The whole content, so that the user sees what they trust."""

    @property
    def digest(self) -> str:
        return _digest(self.kind, self.name, self.detail)


class Trust:
    """What the user trusts in one workspace. Stored outside it, so that it cannot trust itself."""

    def __init__(self, file: Path, workspace: Path) -> None:
        self._file = _JsonFile(file)
        self._workspace = os.path.realpath(workspace)
        self._finders: list[Callable[[], Iterable[Offer]]] = []
        self._seen: tuple[tuple[int, ...] | None, frozenset[str]] = (None, frozenset())

    def add_finder(self, finder: Callable[[], Iterable[Offer]]) -> None:
        self._finders.append(finder)

    def offers(self) -> list[Offer]:
        return [offer for finder in self._finders for offer in finder()]

    def is_trusted(self, offer: Offer) -> bool:
        return offer.digest in self.taken()

    def waiting(self) -> list[Offer]:
        taken = self.taken()
        return [offer for offer in self.offers() if offer.digest not in taken]

    def fingerprint(self) -> str:
        return fingerprint_of(self.offers())

    def accept(self, fingerprint: str) -> None:
        """Trust everything the fingerprint stands for; raises Conflict if it has changed."""
        offers = self.offers()  # once: what is compared is what is taken
        if fingerprint != fingerprint_of(offers):
            raise Conflict(
                "What comes with this folder has changed. Review it again.",
                code="changed_since_shown",
            )
        self._save({offer.digest for offer in offers})

    def add(self, offer: Offer) -> None:
        """Trust what the user has made themselves."""
        self._save({*self.taken(), offer.digest})

    def revoke(self) -> None:
        self._save(set())

    def taken(self) -> frozenset[str]:
        """Digests of what is trusted; the same object until that changes."""
        mark = self._file.mark()
        if mark is None:
            return frozenset()
        if mark != self._seen[0]:
            self._seen = (mark, frozenset(self._file.read().get(self._workspace, [])))
        return self._seen[1]

    def _save(self, digests: set[str]) -> None:
        self._file.write({**self._file.read(), self._workspace: sorted(digests)})
        self._seen = (None, frozenset())


def fingerprint_of(offers: Iterable[Offer]) -> str:
    return _digest(*sorted(offer.digest for offer in offers))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()


MAX_KEPT = 20_000
"""Characters of a tool's description that are stored, to show what has changed."""


@dataclass(frozen=True)
class Pinned:
    fingerprint: str
    state: Literal["new", "same", "changed"]


class Pins:
    """One file for all workspaces, outside of them, so that none can pin its own tools."""

    def __init__(self, file: Path) -> None:
        self._file = _JsonFile(file)
        self._seen: tuple[tuple[int, ...] | None, dict[str, dict[str, str]]] = (None, {})

    def look_up(self, tool: str, fingerprint: str) -> Pinned:
        pinned = self._pins().get(tool)
        if pinned is None:
            return Pinned(fingerprint, "new")
        return Pinned(fingerprint, "same" if pinned["fingerprint"] == fingerprint else "changed")

    def description(self, tool: str) -> str:
        return self._pins().get(tool, {}).get("words", "")

    def pin(self, tool: str, fingerprint: str, description: str = "") -> None:
        pinned = {"fingerprint": fingerprint, "words": description[:MAX_KEPT]}
        if self._pins().get(tool) == pinned:
            return
        self._file.write({**self._read(), tool: pinned})

    def _pins(self) -> dict[str, dict[str, str]]:
        mark = self._file.mark()
        if mark is None:
            return {}
        if mark != self._seen[0]:
            self._seen = (mark, self._read())
        return self._seen[1]

    def _read(self) -> dict[str, dict[str, str]]:
        return {
            name: pinned
            for name, pinned in self._file.read().items()
            if isinstance(pinned, dict) and isinstance(pinned.get("fingerprint"), str)
        }


class _JsonFile:
    """An object outside of all workspaces; empty if it is not there, or broken."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def mark(self) -> tuple[int, ...] | None:
        """Changes when the file does; None without one."""
        try:
            facts = self._path.stat()
        except OSError:
            return None
        return facts.st_ino, facts.st_size, facts.st_mtime_ns

    def read(self) -> dict[str, Any]:
        try:
            content = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    def write(self, content: dict[str, Any]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(json.dumps(content), "utf-8")
        temporary.replace(self._path)
