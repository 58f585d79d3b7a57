"""A call as it is decided about: everything in it, and what the disk said."""

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
    """How much a part could do; nothing the model says goes into it."""

    LOW = 0
    MEDIUM = 1
    HIGH = 2


@dataclass(frozen=True)
class CallPart:
    """One thing that a call does."""

    tool: str
    """The tool whose call this is part of."""
    rules: tuple[str, ...]
    """Names of the tools whose rules are about it."""
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
    """A mere possibility, such as a word that could be a path: it can deny, or ask, not allow."""
    allowed_by: tuple[str, ...] = ()
    """Those of `rules` that are enough to allow it; all of them, unless it says which."""
    below: tuple[Target, ...] = ()
    """Files that it may come across. A rule about any of them is about all of it."""
    host: str = ""
    """Set for the network alone: whom a command talks to."""
    fingerprint: str = ""
    """What a foreign tool says of itself. An exact rule is about this and nothing else."""


@dataclass(frozen=True)
class Preview:
    """What a call would do, for somebody who has to approve it."""

    kind: Literal["diff", "code", "text"]
    text: str
    rewrite: bool = False
    """Whether most of what is there would be replaced."""
    resource: str = ""
    """What it is about, as people call it, where its path does not say it: cell 3 of a.ipynb."""


@dataclass(frozen=True)
class ProposedCall:
    """One call with what the disk said about it: what is decided about is what will run."""

    tool: str
    permissions: frozenset[Permission]
    parameters: Mapping[str, Any]
    parts: tuple[CallPart, ...]
    preview: Preview | None = None
    pinned: Pinned | None = None
    """Set for a tool that is not ours."""
    marks: Mapping[str, str] = field(default_factory=dict)
    """How the files that it would change are now, by their paths."""

    @property
    def risk(self) -> Risk:
        """That of its riskiest part."""
        return max((part.risk for part in self.parts), default=Risk.LOW)

    @property
    def network(self) -> list[str]:
        """That it uses the network and whom it talks to, in words; empty if it does not."""
        return [part.label for part in self.parts if part.host]

    @property
    def resource(self) -> str:
        """What it is about: its files, or how its first part calls itself."""
        files = [part.label for part in self.parts if part.target and part.tool == self.tool]
        return ", ".join(files) or self.parts[0].label

    @property
    def code(self) -> str:
        """What it would run in a kernel, as it was found where the call says."""
        return self.preview.text if self.preview and self.preview.kind == "code" else ""

    @property
    def targets(self) -> set[str]:
        """All spellings of the files that it is about."""
        targets = (part.target for part in self.parts)
        return {spelling for target in targets if target for spelling in target.spellings}

    @property
    def digest(self) -> str:
        """Stands for all that somebody who approves the call has decided about."""
        preview = self.preview.text if self.preview else ""
        tool = [self.tool, self.pinned.fingerprint if self.pinned else ""]
        facts = [tool, dict(self.parameters), sorted(self.marks.items()), preview]
        parts = [
            [part.label, *(part.target.spellings if part.target else ())] for part in self.parts
        ]
        text = json.dumps([facts, parts], sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
