"""Trust in a workspace: what a folder brings along is inert until the user has accepted it.

Trust is per item and by content: whatever is changed or added later is not trusted, and is offered
again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

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
        self._file = file
        self._workspace = os.path.realpath(workspace)
        self._finders: list[Callable[[], Iterable[Offer]]] = []
        self._seen: tuple[tuple[int, ...] | None, frozenset[str]] = (None, frozenset())

    def look_at(self, finder: Callable[[], Iterable[Offer]]) -> None:
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
        try:
            facts = self._file.stat()
            mark = (facts.st_ino, facts.st_size, facts.st_mtime_ns)
        except OSError:
            return frozenset()
        if mark != self._seen[0]:
            self._seen = (mark, frozenset(self._read().get(self._workspace, [])))
        return self._seen[1]

    def _read(self) -> dict[str, list[str]]:
        try:
            content = json.loads(self._file.read_text("utf-8"))
        except (OSError, ValueError):  # not there, or broken: then nothing is trusted
            return {}
        return content if isinstance(content, dict) else {}

    def _save(self, digests: set[str]) -> None:
        content = {**self._read(), self._workspace: sorted(digests)}
        self._file.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._file.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(json.dumps(content), "utf-8")
        temporary.replace(self._file)
        self._seen = (None, frozenset())


def fingerprint_of(offers: Iterable[Offer]) -> str:
    return _digest(*sorted(offer.digest for offer in offers))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()
