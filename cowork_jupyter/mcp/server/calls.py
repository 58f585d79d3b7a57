"""Calls that outlive the request that began them.

A client may come back for a call: with an answer that the call waits for, or to look how far
a long one has got. So none is lost because a client lost its patience.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, ElicitRequest

from .approvals import consent_of, request_of
from .tool_host import Consent, GuestCaller, Tell

MAX_CALLS = 200
"""Open at the same time, or ended and not forgotten yet, at one door."""
KEPT = timedelta(hours=1)
"""For so long a call that has ended can be asked for."""

Status = Literal["working", "input_required", "completed", "failed", "cancelled"]
Run = Callable[[GuestCaller], Coroutine[Any, Any, CallToolResult]]


@dataclass
class _Question:
    text: str
    answer: asyncio.Future[Consent | None]


class OngoingCall:
    """One call, from when it begins until it is forgotten."""

    def __init__(self, tool: str, arguments: dict[str, Any]) -> None:
        self.id = secrets.token_urlsafe(24)
        """Whoever knows it, at the same door, may come back for the call."""
        self.tool, self.arguments = tool, arguments
        self.created = self.updated = _now()
        self.said = ""
        """How it is getting on."""
        self.listener: Tell | None = None
        """Who waits for it this moment and wants to hear that."""
        self._questions: dict[str, _Question] = {}
        self._asked = 0
        self._changed = asyncio.Event()
        self._running: asyncio.Task[CallToolResult]

    def begin(self, run: Run, name: str, *, asks: bool) -> None:
        """Let it run, whoever listens. It asks only who can answer."""
        caller = GuestCaller(name, self._tell, self._ask if asks else None)
        self._running = asyncio.create_task(run(caller))
        self._running.add_done_callback(self._mark)

    @property
    def status(self) -> Status:
        """As tasks have it."""
        if not self._running.done():
            return "input_required" if self._questions else "working"
        if self._running.cancelled():
            return "cancelled"
        return "failed" if self._running.exception() else "completed"

    @property
    def is_over(self) -> bool:
        """Whether it has ended, in whichever way."""
        return self._running.done()

    @property
    def result(self) -> CallToolResult:
        """What it came to; `MCPError` says why to nothing."""
        if self._running.cancelled():
            raise MCPError(code=INVALID_PARAMS, message=f"{self.tool} was cancelled.")
        return self._running.result()

    @property
    def error(self) -> MCPError | None:
        """Why it came to nothing."""
        failure = None if self._running.cancelled() else self._running.exception()
        return failure if isinstance(failure, MCPError) else None

    @property
    def questions(self) -> dict[str, ElicitRequest]:
        """What it waits for, by keys that are used once."""
        return {key: request_of(question.text) for key, question in self._questions.items()}

    def answer(self, responses: Mapping[str, object]) -> None:
        """What the client's user has decided. Answers to nothing that is open are ignored."""
        for key, response in responses.items():
            question = self._questions.pop(key, None)
            if question is not None and not question.answer.done():
                question.answer.set_result(consent_of(response))

    async def news(self, patience: float | None) -> None:
        """Wait until it has ended or asks something, or the patience is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                while not self.is_over and not self._questions:
                    self._changed.clear()
                    await self._changed.wait()

    def cancel(self) -> None:
        """Stop it."""
        self._running.cancel()

    async def _tell(self, text: str) -> None:
        self.said, self.updated = text, _now()
        if self.listener is not None:
            await self.listener(text)

    async def _ask(self, text: str) -> Consent | None:
        self._asked += 1
        key, question = f"approval-{self._asked}", _Question(text, asyncio.Future())
        self._questions[key] = question
        self._mark()
        try:
            return await question.answer
        finally:
            self._questions.pop(key, None)
            self._mark()

    def _mark(self, *_: object) -> None:
        self.updated = _now()
        self._changed.set()
        if self._running.done() and not self._running.cancelled():
            self._running.exception()  # heard of, also if nobody comes back for it


@dataclass
class OngoingCalls:
    """Those at one door."""

    _known: dict[str, OngoingCall] = field(default_factory=dict)

    def new(self, tool: str, arguments: dict[str, Any]) -> OngoingCall:
        """A call that has not begun; those that ended long ago are forgotten."""
        self._forget(_now() - KEPT)
        if len(self._known) >= MAX_CALLS:
            raise MCPError(
                code=INVALID_PARAMS, message=f"More than {MAX_CALLS} calls wait; answer some first."
            )
        call = OngoingCall(tool, arguments)
        self._known[call.id] = call
        return call

    def find(self, call_id: str) -> OngoingCall:
        """The call with this id; none is found twice by guessing."""
        if call_id not in self._known:
            raise MCPError(code=INVALID_PARAMS, message="This call is not known here (any more).")
        return self._known[call_id]

    def drop(self, call: OngoingCall) -> None:
        """Nobody will come back for it."""
        self._known.pop(call.id, None)

    def _forget(self, before: datetime) -> None:
        for call in [*self._known.values()]:
            if call.is_over and call.updated < before:
                self.drop(call)


def _now() -> datetime:
    return datetime.now(UTC)
