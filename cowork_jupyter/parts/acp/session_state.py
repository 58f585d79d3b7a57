"""State that an ACP session keeps: the turn, ids, the plan shown, running output, usage."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from acp import RequestError, schema
from acp.helpers import SessionUpdate, text_block, tool_content, update_tool_call

from ...domain.contexts import Usage
from ...domain.errors import Conflict, CoworkError, InvalidInput, NotFound
from ...domain.events import UsageCharged
from ...domain.messages import Message, MessageType
from ...domain.plan import Plan
from ...domain.team import rights_of
from ...record.markdown import fenced
from ...service.service import CoworkService
from .updates import plan_update

INTERNAL = -32603
_CODES = {NotFound: -32002, InvalidInput: -32602, Conflict: -32600}


@contextmanager
def as_request_errors() -> Iterator[None]:
    """Turn our errors into the protocol's, with the same message."""
    try:
        yield
    except CoworkError as error:
        code = next((code for kind, code in _CODES.items() if isinstance(error, kind)), INTERNAL)
        raise RequestError(code, error.message, error.as_dict()) from error


class Turn:
    """A running prompt."""

    def __init__(self) -> None:
        self.ended: asyncio.Future[schema.StopReason] = asyncio.get_running_loop().create_future()
        self.cancelled = False
        self.limit: schema.StopReason | None = None
        """Set if the user chose to stop at a limit."""

    def end(self, reason: schema.StopReason) -> None:
        if not self.ended.done():
            self.ended.set_result(reason)

    def fail(self, error: Exception) -> None:
        if not self.ended.done():
            self.ended.set_exception(error)
            self.ended.exception()  # retrieved, or asyncio warns if the prompt is gone


class MessageIds:
    """Ids for messages, the same live and when a session is loaded.

    Text of a run is streamed before it is stored, so its id is its position in the run. Everything
    else has the id it is stored with.
    """

    def __init__(self) -> None:
        self._said: Counter[str | None] = Counter()

    def next_id(self, job_id: str | None) -> str:
        """The id of the text that this run is writing."""
        return f"{job_id}.{self._said[job_id] + 1}"

    def take(self, message: Message) -> str:
        """The id of a stored message. Call once for each, in order."""
        if not is_streamed(message):
            return message.id
        found = self.next_id(message.job_id)
        self._said[message.job_id] += 1
        return found


def is_streamed(message: Message) -> bool:
    """Whether it came as deltas: text of a run itself, not of a step or a tool."""
    is_text = message.message_type is MessageType.TEXT
    return message.role == "assistant" and is_text and message.task_id is None


_READY = (
    "The plan is ready (revision {revision}). Type `/execute` to approve and execute it, or "
    "say what to change.\n\n"
)


class ShownPlan:
    """The plan as the client was last shown it."""

    def __init__(self) -> None:
        self._plan: tuple[Plan, int] | None = None
        self.failures: dict[str, str | None] = {}
        """Errors by step; None where a step has not failed."""
        self.is_new = False
        """Whether this turn has made or changed it."""

    def take(self, plan: Plan, revision: int) -> bool:
        """Store the current plan; return whether it differs from the one that was shown."""
        before = self._plan
        another = before is None or (before[0].id, before[1]) != (plan.id, revision)
        if another:
            self.is_new = True
            self.failures.clear()
        self._plan = (plan, revision)
        return another

    def update(self) -> schema.AgentPlanUpdate | None:
        return plan_update(*self._plan, self.failures) if self._plan else None

    def how_to_approve(self) -> str:
        """Empty unless this turn has made or changed the plan."""
        if self._plan is None or not self.is_new:
            return ""
        plan, revision = self._plan
        rights = f"{said}\n\n" if (said := rights_of(plan)) else ""
        return rights + _READY.format(revision=revision)


PAUSE = 0.25
"""Seconds between two updates of a command's output."""


class RunningOutput:
    """Output of running commands: each update repeats all of it, so updates are throttled."""

    def __init__(self) -> None:
        self._said: dict[str, tuple[str, float]] = {}
        """By call: the output so far, and when it was last sent."""

    def add(self, call_id: str, text: str) -> SessionUpdate | None:
        """Append output; return an update if one is due."""
        said, told_at = self._said.get(call_id, ("", 0.0))
        said, now = said + text, time.monotonic()
        is_due = now - told_at >= PAUSE
        self._said[call_id] = (said, now if is_due else told_at)
        block = tool_content(text_block(fenced(said)))
        return update_tool_call(call_id, content=[block]) if is_due else None

    def clear(self) -> None:
        self._said.clear()


@dataclass
class SessionUsage:
    service: CoworkService
    session_id: str
    _last: UsageCharged | None = None

    def take(self, charged: UsageCharged) -> None:
        self._last = charged

    def update(self) -> schema.UsageUpdate | None:
        """None if the context size is unknown: a made-up one would mislead."""
        size = self.service.factory.llm.known.window(self._last.model) if self._last else None
        if self._last is None or size is None:
            return None
        spent = sum((job.usage for job in self.service.jobs.of(self.session_id)), Usage())
        cost = None
        if spent.cost is not None:
            cost = schema.Cost(amount=spent.cost, currency=spent.currency)
        used = self._last.total_tokens
        return schema.UsageUpdate(session_update="usage_update", used=used, size=size, cost=cost)
