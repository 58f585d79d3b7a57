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
from ...service import CoworkService
from .updates import plan_update

INTERNAL = -32603
_CODES = {NotFound: -32002, InvalidInput: -32602, Conflict: -32600}


@contextmanager
def told_to_the_client() -> Iterator[None]:
    """What goes wrong inside in a way we can explain becomes an answer with the same words."""
    try:
        yield
    except CoworkError as error:
        code = next((code for kind, code in _CODES.items() if isinstance(error, kind)), INTERNAL)
        raise RequestError(code, error.message, error.as_dict()) from error


class Turn:
    """What a prompt waits for."""

    def __init__(self) -> None:
        self.ended: asyncio.Future[schema.StopReason] = asyncio.get_running_loop().create_future()
        self.cancelled = False
        self.limit: schema.StopReason | None = None
        """Set when the user did not want to go on past a limit."""

    def end(self, reason: schema.StopReason) -> None:
        """Let the prompt be answered."""
        if not self.ended.done():
            self.ended.set_result(reason)

    def fail(self, error: Exception) -> None:
        """Let the prompt be answered with an error."""
        if not self.ended.done():
            self.ended.set_exception(error)
            self.ended.exception()  # the prompt may be gone: then nobody needs to be warned


class MessageIds:
    """What a run says has its id while it is being said, so it is named by its place in the run;
    whatever else is stored, by its own id.
    """

    def __init__(self) -> None:
        self._said: Counter[str | None] = Counter()

    def of_next(self, job_id: str | None) -> str:
        """The id of what this run is saying now."""
        return f"{job_id}.{self._said[job_id] + 1}"

    def take(self, message: Message) -> str:
        """The id of a stored message. Each must come once, in their order."""
        if not is_spoken(message):
            return message.id
        found = self.of_next(message.job_id)
        self._said[message.job_id] += 1
        return found


def is_spoken(message: Message) -> bool:
    """Whether it came as deltas: words of a run itself, not of a step or a tool."""
    is_text = message.message_type is MessageType.TEXT
    return message.role == "assistant" and is_text and message.task_id is None


_READY = (
    "The plan is ready (revision {revision}). Type `/execute` to approve and execute it, or "
    "say what to change.\n\n"
)


class ShownPlan:
    """At most one at a time: the newest."""

    def __init__(self) -> None:
        self._plan: tuple[Plan, int] | None = None
        self.failures: dict[str, str | None] = {}
        """By step; None where a step has not failed."""
        self.is_new = False
        """Whether this turn has made it, or changed it."""

    def take(self, plan: Plan, revision: int) -> bool:
        """The plan as it is now; whether it is another one than the client was shown."""
        before = self._plan
        another = before is None or (before[0].id, before[1]) != (plan.id, revision)
        if another:
            self.is_new = True
            self.failures.clear()
        self._plan = (plan, revision)
        return another

    def update(self) -> schema.AgentPlanUpdate | None:
        """What to tell of it."""
        return plan_update(*self._plan, self.failures) if self._plan else None

    def how_to_approve(self) -> str:
        """What to say once a turn has made one; empty if it has not."""
        if self._plan is None or not self.is_new:
            return ""
        plan, revision = self._plan
        rights = f"{said}\n\n" if (said := rights_of(plan)) else ""
        return rights + _READY.format(revision=revision)


PAUSE = 0.25
"""Seconds between two looks at the output of a command that runs."""


class RunningOutput:
    """The output of a session's commands so far: all of it each time, so not too often."""

    def __init__(self) -> None:
        self._said: dict[str, tuple[str, float]] = {}
        """By call: what it said so far, and when that was told."""

    def add(self, call_id: str, text: str) -> SessionUpdate | None:
        """Take the next piece; what to tell now, if anything."""
        said, told_at = self._said.get(call_id, ("", 0.0))
        said, now = said + text, time.monotonic()
        is_due = now - told_at >= PAUSE
        self._said[call_id] = (said, now if is_due else told_at)
        block = tool_content(text_block(fenced(said)))
        return update_tool_call(call_id, content=[block]) if is_due else None

    def clear(self) -> None:
        """Nothing runs any more."""
        self._said.clear()


@dataclass
class SessionUsage:
    """The account of one session, as its client is told."""

    service: CoworkService
    session_id: str
    _last: UsageCharged | None = None

    def take(self, charged: UsageCharged) -> None:
        """A turn of the conversation itself: what it read and wrote is what there is of it."""
        self._last = charged

    def update(self) -> schema.UsageUpdate | None:
        """None where nobody knows how large the window is: a made-up size would mislead."""
        size = self.service.factory.llm.known.window(self._last.model) if self._last else None
        if self._last is None or size is None:
            return None
        spent = sum((job.usage for job in self.service.jobs.of(self.session_id)), Usage())
        cost = None
        if spent.cost is not None:
            cost = schema.Cost(amount=spent.cost, currency=spent.currency)
        used = self._last.total_tokens
        return schema.UsageUpdate(session_update="usage_update", used=used, size=size, cost=cost)
