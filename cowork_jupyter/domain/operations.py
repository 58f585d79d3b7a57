"""Operations: what an operator logs and counts.

They hold ids, numbers and our own names, but nothing that a user, a model or a file says: whoever
runs the server may read them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import ClassVar, Literal

from .contexts import JobKind, JobStatus
from .roles import AgentRole

Reason = Literal[
    "ceiling",
    "rule",
    "protected",
    "doubt",
    "network",
    "always_asks",
    "kernel",
    "no_sandbox",
    "cannot_write",
    "reads",
    "plan",
    "not_forbidden",
    "not_allowed_yet",
    "user",
    "nobody_to_ask",
]

OK = "ok"
"""Status of a success; otherwise it is an error code."""
UNKNOWN_TOOL = "unknown"

_PLAIN = re.compile(r"[^\s\"=]+")
_MAX_VALUE = 100


@dataclass(frozen=True)
class Operation:
    words: ClassVar[str]

    def line(self) -> str:
        """As logfmt: words, then `key=value`; unknown values are omitted."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        sentence = self.words.format_map(values)
        rest = {name: value for name, value in values.items() if f"{{{name}}}" not in self.words}
        return " ".join([sentence, *_pairs(rest)])


def _pairs(values: dict[str, object]) -> Iterator[str]:
    for name, value in values.items():
        if value is None or value == "":
            continue
        text = f"{value:.3f}" if isinstance(value, float) else str(value)[:_MAX_VALUE]
        yield f"{name}={text if _PLAIN.fullmatch(text) else json.dumps(text)}"


Observe = Callable[[Operation], None]
"""Called from any thread; must be quick and not raise."""


def ignore_operation(operation: Operation) -> None:
    """The default observer."""


@dataclass(frozen=True)
class JobBegun(Operation):
    words = "job {id} started"
    id: str
    kind: JobKind | None
    role: AgentRole | None
    context: str


@dataclass(frozen=True)
class JobEnded(Operation):
    """Little is known about a job that another process started."""

    words = "job {id} ended"
    id: str
    status: JobStatus
    kind: JobKind | None
    role: AgentRole | None
    context: str
    seconds: float | None
    tokens: int | None


@dataclass(frozen=True)
class ModelCalled(Operation):
    words = "model called"
    model: str
    status: str
    """`ok`, an error code, or `stopped`: enough was read, or the job was cancelled."""
    seconds: float
    attempts: int
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    job: str = ""


@dataclass(frozen=True)
class ToolCalled(Operation):
    words = "tool {id} ended"
    id: str
    tool: str
    status: str
    seconds: float
    """Without the wait for permission."""
    job: str


@dataclass(frozen=True)
class Decided(Operation):
    """A call that asks is decided about again by whoever was asked."""

    words = "decision {id} {verdict}"
    id: str
    verdict: Literal["allow", "ask", "deny"]
    tool: str
    reason: Reason
    scope: str
    """Of the rule, or of the user's answer."""
    job: str


@dataclass(frozen=True)
class CheckpointTaken(Operation):
    words = "checkpoint {id} taken"
    id: str
    files: int
    bytes: int
    seconds: float
    job: str | None


@dataclass(frozen=True)
class RolledBack(Operation):
    words = "rollback {id} done"
    id: str
    """The checkpoint of the rollback itself."""
    of: str
    restored: int
    removed: int
    skipped: int
    seconds: float


@dataclass(frozen=True)
class McpServerChanged(Operation):
    words = "mcp server {state}"
    state: Literal["started", "ended", "failed"]
    server: str
    kind: str
    seconds: float
    tools: int | None = None


@dataclass(frozen=True)
class McpSampled(Operation):
    words = "mcp sampling ended"
    server: str
    status: str
    seconds: float
