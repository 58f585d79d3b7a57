"""Requests to the model, and the chunks its answer is streamed in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from ..domain.contexts import Usage
from ..domain.messages import Message
from ..domain.plan import Plan
from ..domain.roles import AgentRole


@dataclass(frozen=True)
class Conversation:
    """The content of a request as values, for models that work by rules (the guide)."""

    role: AgentRole
    tools: frozenset[str] = frozenset()
    notebook: str | None = None
    plan: Plan | None = None
    messages: Sequence[Message] = ()
    """Complete messages of this job or task, oldest first."""
    inserted: frozenset[str] = frozenset()
    code_run: Sequence[str] = ()
    """Code this job has run in a kernel without a cell, oldest first."""
    memory: str = ""


@dataclass(frozen=True)
class ModelRequest:
    messages: list[dict[str, Any]]
    model: str = ""
    """Another model on the same server; empty for the configured one."""
    arguments: dict[str, Any] = field(default_factory=dict)
    """Further API arguments, such as those of the tool protocol."""
    conversation: Callable[[], Conversation] | None = None
    """Built only on demand; None where no agent asks."""
    job_id: str = ""


@dataclass(frozen=True)
class TextChunk:
    text: str


@dataclass(frozen=True)
class ReasoningChunk:
    text: str
    field: str = "reasoning_content"
    """Some servers want it back under the same name."""


@dataclass(frozen=True)
class ToolCallChunk:
    """A fragment of a native tool call; fragments with the same index belong together."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True)
class UsageChunk:
    """Tokens spent so far; later chunks replace earlier ones."""

    usage: Usage


@dataclass(frozen=True)
class Finished:
    """`stop`, `length`, `tool_calls` or `content_filter`."""

    reason: str


@dataclass(frozen=True)
class Restarted:
    """The attempt failed and is repeated after `delay`: discard everything received before."""

    reason: str
    attempt: int
    """Number of the coming attempt, the first try being 1."""
    delay: float


Chunk = TextChunk | ReasoningChunk | ToolCallChunk | UsageChunk | Finished | Restarted


class NotAChunk(ValueError):
    """The server sent JSON that is not part of a chat completion."""


class ErrorEvent(Exception):
    def __init__(self, body: object) -> None:
        super().__init__()
        self.body = body
        self.code = _get(body, "code")


def merge_text(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    for kind, group in groupby(chunks, type):
        if kind is TextChunk:
            yield TextChunk("".join(_text(chunk, "text") for chunk in group))
        else:
            yield from group


def parse_event(event: Any) -> Iterator[Chunk]:
    """Parse one event of the stream. Servers differ, so nothing is taken for granted."""
    if error := _get(event, "error"):
        raise ErrorEvent(error)
    choices, usage = _get(event, "choices"), _get(event, "usage")
    if not isinstance(choices, list) and usage is None:
        raise NotAChunk
    for choice in choices or []:
        yield from _content(_get(choice, "delta"))
        reason = _get(choice, "finish_reason")
        if isinstance(reason, str) and reason:
            yield Finished(reason)
    if usage is not None:
        yield UsageChunk(_usage(usage))


def _content(delta: Any) -> Iterator[Chunk]:
    # Some servers send the same reasoning under both names.
    for name in ("reasoning_content", "reasoning"):
        if reasoning := _text(delta, name):
            yield ReasoningChunk(reasoning, name)
            break
    # A refusal is the model's answer.
    text = _text(delta, "content") or _text(delta, "refusal")
    if text:
        yield TextChunk(text)
    calls = _get(delta, "tool_calls")
    for place, call in enumerate(calls if isinstance(calls, list) else []):
        yield _fragment(call, place)


def _fragment(call: Any, place: int) -> ToolCallChunk:
    index, function = _get(call, "index"), _get(call, "function")
    return ToolCallChunk(
        index=index if isinstance(index, int) else place,
        id=_text(call, "id"),
        name=_text(function, "name"),
        arguments=_text(function, "arguments"),
    )


def _usage(usage: Any) -> Usage:
    prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        total_tokens=_count(usage, "total_tokens") or prompt + completion,
    )


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _text(value: Any, name: str) -> str:
    text = _get(value, name)
    return text if isinstance(text, str) else ""


def _count(value: Any, name: str) -> int:
    count = _get(value, name)
    return count if isinstance(count, int) else 0
