"""Approval of guests' calls: the user is asked in the guest's client as well as here."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from ...domain.events import Choice
from ...mcp.server.tool_host import Ask, Consent, GuestCaller
from ...policy.visible import spell_hidden
from ..log import RunLog
from .inquiries import Inquiries
from .progress import Say, running
from .user import Approver, PermissionRequest, Ruling

_MAX_SHOWN = 4_000
"""Characters of a call that a form shows; the panel shows it whole."""


@dataclass(frozen=True)
class GuestApprover:
    """Asks in our panel and, if possible, in the guest's client. The first answer counts."""

    approver: Approver
    """Decides where the guest's user does not."""
    inquiries: Inquiries
    caller: GuestCaller
    say: Say

    async def decide(self, request: PermissionRequest, log: RunLog) -> Ruling:
        self.say(f"Waiting for the user: {request.tool} {request.resource}")
        if self.caller.ask is None:
            ruling = await self.approver.decide(request, log)
        else:
            ruling = await self._elicit(self.caller.ask, request, log)
        if ruling.decision == "allow":
            self.say(running(request.tool))
        return ruling

    async def _elicit(self, ask: Ask, request: PermissionRequest, log: RunLog) -> Ruling:
        here = asyncio.create_task(self.inquiries.decide(request, log))
        there = asyncio.ensure_future(ask(in_words(request)))
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
        """Record the decision that was made in the client."""
        if consent is not None:
            decision: Choice = "allow" if consent.is_given else "deny"
            ruling = Ruling(decision=decision, feedback=consent.reason, by=self.caller.name)
            self.inquiries.resolve_call(request.call_id, ruling, log)
        elif self.approver is not self.inquiries:  # nobody is here
            here.cancel()
            await asyncio.wait([here])


def in_words(request: PermissionRequest) -> str:
    """What the user is asked to allow, with all that is needed to judge it, or where that is."""
    text = request.shown.text
    cut = text[:_MAX_SHOWN]
    lines = [f"{request.tool} {request.resource}".strip(), *request.why]
    if request.uncovered:
        lines.append(f"A rollback cannot undo: {', '.join(request.uncovered)}.")
    lines += ["", cut]
    if len(cut) < len(text) or not request.shown.complete:
        lines.append("… Not all of it is shown here. JupyterLab shows all of it.")
    return spell_hidden("\n".join(lines))
