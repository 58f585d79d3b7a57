"""A proposed call with its parts, as it is decided about."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Literal

from ..domain.roles import Permission
from .paths import Target
from .pins import Pinned
from .shell import SimpleCommand


class Risk(IntEnum):
    """Potential damage; independent of anything the model says."""

    LOW = 0
    MEDIUM = 1
    HIGH = 2


@dataclass(frozen=True)
class CallPart:
    tool: str
    rules: tuple[str, ...]
    """Tools whose rules apply."""
    label: str
    risk: Risk
    permissions: frozenset[Permission] = frozenset({Permission.EXECUTE_COMMANDS})
    target: Target | None = None
    command: SimpleCommand | None = None
    protected: str | None = None
    """Why no rule can allow it."""
    always_ask_reason: str | None = None
    """Why it asks even inside an approved plan, unless a rule is about exactly it."""
    doubts: tuple[str, ...] = ()
    deny_only: bool = False
    """A mere possibility, such as a word that could be a path: it can deny or ask, not allow."""
    allowed_by: tuple[str, ...] = ()
    """The subset of `rules` that suffices to allow it; empty means all."""
    below: tuple[Target, ...] = ()
    """Files it may come across. A rule about any of them is about all of it."""
    host: str = ""
    """Only for network parts: the host a command talks to."""
    fingerprint: str = ""
    """Of a foreign tool's description. An exact rule is about this and nothing else."""
    role: str = ""
    """Only for delegation: the role that gets the task."""


@dataclass(frozen=True)
class Preview:
    kind: Literal["diff", "code", "text"]
    text: str
    rewrite: bool = False
    resource: str = ""
    """Display name where the path is not enough: cell 3 of a.ipynb."""


@dataclass(frozen=True)
class ProposedCall:
    """One call with the facts found on disk: what is decided about is what will run."""

    tool: str
    permissions: frozenset[Permission]
    parameters: Mapping[str, Any]
    parts: tuple[CallPart, ...]
    preview: Preview | None = None
    pinned: Pinned | None = None
    marks: Mapping[str, str] = field(default_factory=dict)
    """Current fingerprints of the files it would change, by path."""

    @property
    def risk(self) -> Risk:
        return max((part.risk for part in self.parts), default=Risk.LOW)

    @property
    def network(self) -> list[str]:
        """The hosts it talks to, in words; empty without network."""
        return [part.label for part in self.parts if part.host]

    @property
    def resource(self) -> str:
        files = [part.label for part in self.parts if part.target and part.tool == self.tool]
        return ", ".join(files) or self.parts[0].label

    @property
    def code(self) -> str:
        return self.preview.text if self.preview and self.preview.kind == "code" else ""

    @property
    def targets(self) -> set[str]:
        targets = (part.target for part in self.parts)
        return {spelling for target in targets if target for spelling in target.spellings}

    @property
    def digest(self) -> str:
        """Identifies everything that whoever approves the call decides about."""
        preview = self.preview.text if self.preview else ""
        tool = [self.tool, self.pinned.fingerprint if self.pinned else ""]
        facts = [tool, dict(self.parameters), sorted(self.marks.items()), preview]
        parts = [
            [part.label, *(part.target.spellings if part.target else ())] for part in self.parts
        ]
        text = json.dumps([facts, parts], sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
