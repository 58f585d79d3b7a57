"""Guests' calls: the user is asked in the guest's client too, which hears of progress."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from ...agents.ask.pending_requests import PendingRequests
from ...agents.ask.user import Approver, PermissionRequest, Ruling
from ...agents.log import RunLog
from ...domain.events import Choice
from ...policy.visible import spell_hidden
from .tool_host import Ask, Consent, GuestCaller, Tell

REPEAT_SECONDS = 5.0
"""Seconds of silence after which the last message is repeated."""
_MAX_LENGTH = 500
_MAX_QUEUED = 100
_DRAIN_SECONDS = 1.0
"""Seconds that a call waits for its last messages to be delivered."""

Say = Callable[[str], None]

_MAX_SHOWN = 4_000


def running_message(tool: str) -> str:
    return f"{tool} is running"


@asynccontextmanager
async def reporting_progress(tool: str, tell: Tell) -> AsyncIterator[Say]:
    """Deliver messages to the guest in order, and repeat the last one.

    Nothing is reported for a call that ends before that and says nothing.
    """
    words = asyncio.Queue[str](_MAX_QUEUED)

    def say(text: str) -> None:
        if text := text.strip()[-_MAX_LENGTH:]:
            with suppress(asyncio.QueueFull):
                words.put_nowait(text)

    passing_on = asyncio.create_task(_pass_on(words, tell, running_message(tool)))
    try:
        yield say
        with suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_SECONDS):
                await words.join()
    finally:
        passing_on.cancel()


async def _pass_on(words: asyncio.Queue[str], tell: Tell, last: str) -> None:
    while True:
        new = False
        with suppress(TimeoutError):
            async with asyncio.timeout(REPEAT_SECONDS):
                last, new = await words.get(), True
        with suppress(Exception):  # it may have gone, which is noticed elsewhere
            await tell(last)
        if new:
            words.task_done()


@dataclass(frozen=True)
class GuestApprover:
    """Asks in our panel and, if possible, in the guest's client. The first answer counts."""

    approver: Approver
    requests: PendingRequests
    caller: GuestCaller
    say: Say

    async def decide(self, request: PermissionRequest, log: RunLog) -> Ruling:
        self.say(f"Waiting for the user: {request.tool} {request.resource}")
        if self.caller.ask is None:
            ruling = await self.approver.decide(request, log)
        else:
            ruling = await self._elicit(self.caller.ask, request, log)
        if ruling.decision == "allow":
            self.say(running_message(request.tool))
        return ruling

    async def _elicit(self, ask: Ask, request: PermissionRequest, log: RunLog) -> Ruling:
        here = asyncio.create_task(self.requests.decide(request, log))
        there = asyncio.ensure_future(ask(describe_request(request)))
        try:
            await asyncio.wait([here, there], return_when=asyncio.FIRST_COMPLETED)
            if not here.done():
                await self._take_over(there.result(), here, request, log)
            return await here if not here.cancelled() else await self.approver.decide(request, log)
        finally:
            there.cancel()
            here.cancel()

    async def _take_over(
        self,
        consent: Consent | None,
        here: asyncio.Task[Ruling],
        request: PermissionRequest,
        log: RunLog,
    ) -> None:
        if consent is not None:
            decision: Choice = "allow" if consent.is_given else "deny"
            ruling = Ruling(decision=decision, feedback=consent.reason, by=self.caller.name)
            self.requests.resolve_call(request.call_id, ruling, log)
        elif self.approver is not self.requests:  # nobody is here
            here.cancel()
            await asyncio.wait([here])


def describe_request(request: PermissionRequest) -> str:
    text = request.shown.text
    cut = text[:_MAX_SHOWN]
    lines = [f"{request.tool} {request.resource}".strip(), *request.why]
    if request.uncovered:
        lines.append(f"A rollback cannot undo: {', '.join(request.uncovered)}.")
    lines += ["", cut]
    if len(cut) < len(text) or not request.shown.complete:
        lines.append("… This is only the beginning. See the rest in JupyterLab.")
    return spell_hidden("\n".join(lines))
