"""Operations: what an operator logs and counts of a service.

They hold ids, numbers and names of ours, and nothing that a user, a model or a file says: whatever
is written of an operation may be read by whoever runs the server.
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
"""Why a call was decided about in this way."""

OK = "ok"
"""The status of what went well; else it is an error's code."""
UNKNOWN_TOOL = "unknown"
"""Stands for whatever a model calls that is not there."""

_PLAIN = re.compile(r"[^\s\"=]+")
_MAX_VALUE = 100


@dataclass(frozen=True)
class Operation:
    """One thing that was done: a line in the log."""

    words: ClassVar[str]
    """What was done, with the fields that name it."""

    def line(self) -> str:
        """As logfmt: words, then `key=value`; what is not known is left out."""
        known = {field.name: getattr(self, field.name) for field in fields(self)}
        said = self.words.format_map(known)
        rest = {name: value for name, value in known.items() if f"{{{name}}}" not in self.words}
        return " ".join([said, *_pairs(rest)])


def _pairs(values: dict[str, object]) -> Iterator[str]:
    for name, value in values.items():
        if value is None or value == "":
            continue
        text = f"{value:.3f}" if isinstance(value, float) else str(value)[:_MAX_VALUE]
        yield f"{name}={text if _PLAIN.fullmatch(text) else json.dumps(text)}"


Observe = Callable[[Operation], None]
"""Hears of operations, from any thread; it must be quick, and not raise."""


def unobserved(operation: Operation) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True)
class JobBegun(Operation):
    """A job begins, or goes on."""

    words = "job {id} started"
    id: str
    kind: JobKind | None
    role: AgentRole | None
    context: str


@dataclass(frozen=True)
class JobEnded(Operation):
    """A job has ended. Of one that another process began, little is known."""

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
    """The model was asked, and has answered or failed."""

    words = "model called"
    model: str
    status: str
    """`ok`, an error's code, or `stopped`: enough was read, or the job was cancelled."""
    seconds: float
    attempts: int
    prompt_tokens: int | None = None
    """As the model's server says; some say nothing."""
    completion_tokens: int | None = None
    job: str = ""


@dataclass(frozen=True)
class ToolCalled(Operation):
    """A tool has run, or was not let run."""

    words = "tool {id} ended"
    id: str
    tool: str
    status: str
    seconds: float
    """While it ran; waiting for leave is left out."""
    job: str


@dataclass(frozen=True)
class Decided(Operation):
    """A call was decided about. One that asks is decided about again by whoever was asked."""

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
    """A state of the workspace was kept."""

    words = "checkpoint {id} taken"
    id: str
    files: int
    bytes: int
    seconds: float
    job: str | None


@dataclass(frozen=True)
class RolledBack(Operation):
    """Files were put back as they were before a checkpoint."""

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
    """An MCP server runs, was stopped, or did not start or died."""

    words = "mcp server {state}"
    state: Literal["started", "ended", "failed"]
    server: str
    kind: str
    seconds: float
    """That it took to start, or that it lived."""
    tools: int | None = None


@dataclass(frozen=True)
class McpSampled(Operation):
    """An MCP server has asked our model something."""

    words = "mcp sampling ended"
    server: str
    status: str
    seconds: float
