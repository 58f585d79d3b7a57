"""What the service asks the launcher process to run, and how to confine it."""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass, field

from .namespaces import Bind, Namespaces


@dataclass(frozen=True)
class ProcessLimits:
    """The kernel applies memory and file size per process."""

    memory: int
    file_size: int
    processes: int
    """Processes and threads of the command together."""


@dataclass(frozen=True)
class CommandSpec:
    """One command. Descriptors are sent beside it."""

    arguments: list[str]
    environment: dict[str, str]
    limits: ProcessLimits
    root: str
    folder: str = "."
    namespaces: Namespaces = ""
    network: bool = True
    """Whether the new namespaces keep the network."""
    binds: list[Bind] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    """Folders that are covered with an empty tmpfs."""
    filter: str = ""
    """The seccomp filter, in hexadecimal."""
    watched: bool = False
    """Whether the filter's listener (the guard) decides about connections."""
    privileged: bool = False
    """True for a program that confines the command itself, and needs its rights for it."""

    def to_json(self) -> bytes:
        return json.dumps(vars(self) | {"limits": vars(self.limits)}).encode()

    @classmethod
    def from_json(cls, text: bytes) -> CommandSpec:
        raw = json.loads(text)
        binds = [Bind(*bind) for bind in raw.pop("binds")]
        return cls(**raw | {"limits": ProcessLimits(**raw["limits"]), "binds": binds})


@dataclass(frozen=True)
class Descriptors:
    """Sent with the spec, in this order; -1 if absent."""

    input: int
    output: int
    errors: int
    workspace: int
    folder: int
    ruleset: int = -1

    def sent(self) -> list[int]:
        return [descriptor for descriptor in astuple(self) if descriptor >= 0]
