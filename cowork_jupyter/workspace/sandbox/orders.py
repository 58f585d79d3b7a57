"""What the service asks the keeper to run, and how it is to be confined."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from .namespaces import Bind, Namespaces


@dataclass(frozen=True)
class ProcessLimits:
    """How much a command may use. The kernel counts the first two for each process."""

    memory: int
    """Bytes of memory of its own."""
    file_size: int
    """Bytes in a file that it writes."""
    processes: int
    """Processes and threads of the command together."""


@dataclass(frozen=True)
class Orders:
    """One command. Descriptors travel beside it."""

    arguments: list[str]
    environment: dict[str, str]
    limits: ProcessLimits
    root: str
    """The workspace's path."""
    folder: str = "."
    """Where to run, relative to the workspace."""
    namespaces: Namespaces = ""
    network: bool = True
    """Whether the new namespaces leave the network as it is."""
    binds: list[Bind] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    """Folders that are covered with an empty one in memory."""
    filter: str = ""
    """The system call filter, in hexadecimal."""
    watched: bool = False
    """Whether the filter asks about connections, which its guard then answers."""
    privileged: bool = False
    """True for a program that confines the command itself, and needs its rights for it."""

    def to_json(self) -> bytes:
        return json.dumps(vars(self) | {"limits": vars(self.limits)}).encode()

    @classmethod
    def from_json(cls, text: bytes) -> Orders:
        raw = json.loads(text)
        binds = [Bind(*bind) for bind in raw.pop("binds")]
        return cls(**raw | {"limits": ProcessLimits(**raw["limits"]), "binds": binds})


@dataclass(frozen=True)
class Descriptors:
    """What is handed over with the orders, in this order. -1 for what there is none of."""

    input: int
    output: int
    errors: int
    workspace: int
    folder: int
    ruleset: int = -1

    def sent(self) -> list[int]:
        """Those that there are."""
        held = [self.input, self.output, self.errors, self.workspace, self.folder, self.ruleset]
        return [descriptor for descriptor in held if descriptor >= 0]
