"""Requests for permission: stored, shown, and decided by the user, each for its task alone."""

from __future__ import annotations

import asyncio
from typing import Any, Literal, Protocol, runtime_checkable

from pydantic import BaseModel

from ..bus import Journal
from ..domain.contexts import JobStatus
from ..domain.errors import Conflict, InvalidInput
from ..domain.events import (
    Choice,
    ChosenScope,
    PermissionRequested,
    PermissionResolved,
    Shown,
)
from ..domain.identity import new_id, now
from ..domain.notices import HeadlessDenial
from ..policy.rulebook import RuleBook
from ..policy.rules import Effect, Scope
from ..store import Inquiry, Transaction
from .log import RunLog

ALLOWED, DENIED, WITHDRAWN = "allowed", "denied", "withdrawn"
ONCE: Literal["once"] = "once"


class PermissionRequest(BaseModel):
    """One call that waits for the user."""

    call_id: str
    agent_role: str
    tool: str
    parameters: dict[str, Any]
    resource: str
    risk: str
    why: list[str]
    scopes: list[ChosenScope] = [ONCE]
    rules: list[str] = []
    """What a lasting answer would write."""
    shown: Shown
    uncovered: list[str] = []
    """What could not be brought back afterwards."""
    digest: str
    """Stands for exactly this call on exactly these files."""


class Ruling(BaseModel):
    """What was decided."""

    decision: Choice
    scope: ChosenScope = ONCE
    feedback: str = ""


class Unasked(Ruling):
    """Decided because nobody could be asked; the feedback is all there is to say."""


class Approver(Protocol):
    """Who decides about a call that no rule decides."""

    async def decide(self, request: PermissionRequest, log: RunLog) -> Ruling:
        """The decision, however long it takes."""


@runtime_checkable
class AsksAhead(Protocol):
    """Who can be shown calls before it is their turn, to decide about several at once."""

    def announce(self, request: PermissionRequest, log: RunLog) -> None:
        """Show it; `decide` for the same call takes the answer up."""

    def forget(self, call_id: str) -> None:
        """Its turn has come and gone: nobody waits for an answer any more."""


class NobodyApproves:
    """A headless run: what would ask is denied, with what would have allowed it."""

    async def decide(self, request: PermissionRequest, log: RunLog) -> Ruling:
        """Write down that it would have asked."""
        rules = " and ".join(request.rules)
        hint = f" A policy that allows {rules} would let it run." if rules else ""
        why = f"Nobody is there to ask: {' '.join(request.why)}{hint}"
        log.event(HeadlessDenial(tool=request.tool, message=why))
        return Unasked(decision="deny", feedback=why)


class Approvals:
    """Requests that wait for a person, stored, so that any client can show and decide them."""

    def __init__(self, journal: Journal, rules: RuleBook) -> None:
        self._journal = journal
        self._rules = rules
        self._waiting: dict[str, asyncio.Future[Ruling]] = {}
        self._announced: dict[str, str] = {}
        """Requests by the calls that will ask them when it is their turn."""
        self.keep_pending = False
        """Whether what is cancelled now waits on: the service stops, and will be back."""

    async def decide(self, request: PermissionRequest, log: RunLog) -> Ruling:
        """Let one task wait for the user; an earlier run's request is taken up again."""
        earlier = self._earlier(request, log)
        if earlier and earlier.status != "pending":
            self._use(earlier)
            return Ruling.model_validate(earlier.answer)
        inquiry = earlier or self._record(request, log)
        answer: asyncio.Future[Ruling] = asyncio.get_running_loop().create_future()
        self._waiting[inquiry.id] = answer
        try:
            if earlier:
                self._set_waiting(earlier)
            return await answer
        except asyncio.CancelledError:
            if answer.cancelled() and not self.keep_pending:
                withdraw(self._journal, inquiry)
            raise
        finally:
            del self._waiting[inquiry.id]

    def announce(self, request: PermissionRequest, log: RunLog) -> None:
        """Show a call before its turn, unless an earlier run of the job has asked the same."""
        if self._earlier(request, log) is None:
            self._announced[request.call_id] = self._record(request, log).id

    def forget(self, call_id: str) -> None:
        """Withdraw what was announced and not asked: the call is another by now, or was allowed."""
        request_id = self._announced.pop(call_id, None)
        if request_id is None or self.keep_pending:
            return
        inquiry = self._journal.store.permission(request_id)
        if inquiry.status == "pending":
            with self._journal.transaction() as tx:
                withdraw_in(tx, inquiry)
                _set_status(tx, inquiry)
        elif inquiry.answer is not None and not inquiry.answer.get("used", True):
            self._use(inquiry)

    def resolve(self, request_id: str, ruling: Ruling) -> Inquiry:
        """The user's decision; also for a job that was interrupted while it waited."""
        inquiry = self._journal.store.permission(request_id)
        if inquiry.status != "pending":
            raise Conflict(
                "This request is not open any more: it was decided, or its job has ended.",
                code="not_waiting",
            )
        waiting = self._waiting.get(request_id)
        is_ahead = request_id in self._announced.values()
        if waiting is None and not is_ahead and not self._can_be_resumed(inquiry):
            raise Conflict("The job that asked this has ended.", code="not_waiting")
        self._keep(inquiry, ruling)
        status = ALLOWED if ruling.decision == "allow" else DENIED
        answer = {**ruling.model_dump(), "used": waiting is not None}
        decided = inquiry.model_copy(
            update={"status": status, "answer": answer, "resolved_at": now()}
        )
        with self._journal.transaction() as tx:
            tx.save_permission(decided)
            _tell(tx, inquiry, PermissionResolved(id=request_id, status=status, **dict(ruling)))
            if waiting is not None or is_ahead:
                _set_status(tx, inquiry)
        if waiting is not None and not waiting.done():
            waiting.set_result(ruling)
        return decided

    def check(self, request_id: str, ruling: Ruling) -> None:
        """Refuse a decision that cannot be taken, before any of a batch is."""
        inquiry = self._journal.store.permission(request_id)
        if inquiry.status != "pending":
            raise Conflict(f"The request '{request_id}' is not open any more.", code="not_waiting")
        self._check_scope(inquiry, ruling)

    def _keep(self, inquiry: Inquiry, ruling: Ruling) -> None:
        """Write the rules that a lasting answer stands for."""
        self._check_scope(inquiry, ruling)
        if ruling.scope == ONCE:
            return
        scope = Scope(ruling.scope)
        context_id = inquiry.context_id if scope is Scope.SESSION else None
        for text in inquiry.data["rules"]:
            self._rules.add(Effect(ruling.decision), text, scope, context_id)

    def _check_scope(self, inquiry: Inquiry, ruling: Ruling) -> None:
        offered = inquiry.data.get("scopes", [ONCE])
        if ruling.scope not in offered:
            raise InvalidInput(
                f"scope: for this request only {', '.join(offered)} can be chosen.",
                code="scope_not_offered",
            )

    def _earlier(self, request: PermissionRequest, log: RunLog) -> Inquiry | None:
        """The same request of an earlier run of this job, open or decided but not used yet."""
        for inquiry in self._journal.store.job_permissions(log.job_id):
            same = inquiry.data.get("digest") == request.digest and inquiry.task_id == log.task_id
            unused = inquiry.answer is not None and not inquiry.answer.get("used", True)
            if same and inquiry.id not in self._waiting and (inquiry.status == "pending" or unused):
                return inquiry
        return None

    def _use(self, inquiry: Inquiry) -> None:
        used = {**(inquiry.answer or {}), "used": True}
        with self._journal.transaction() as tx:
            tx.save_permission(inquiry.model_copy(update={"answer": used}))

    def _can_be_resumed(self, inquiry: Inquiry) -> bool:
        job = self._journal.store.job(inquiry.job_id or "")
        return job.status is JobStatus.INTERRUPTED

    def _record(self, request: PermissionRequest, log: RunLog) -> Inquiry:
        inquiry = Inquiry(
            id=new_id("perm"),
            context_id=log.context_id,
            job_id=log.job_id,
            task_id=log.task_id,
            data=request.model_dump(mode="json"),
        )
        with self._journal.transaction() as tx:
            tx.save_permission(inquiry)
            _tell(tx, inquiry, PermissionRequested.model_validate(as_shown(inquiry)))
            _set_status(tx, inquiry)
        return inquiry

    def _set_waiting(self, inquiry: Inquiry) -> None:
        with self._journal.transaction() as tx:
            _set_status(tx, inquiry)


def as_shown(inquiry: Inquiry) -> dict[str, Any]:
    """A request as the contract shows it."""
    own = {"id", "context_id", "job_id", "task_id", "status", "created_at"}
    facts = inquiry.model_dump(mode="json", include=own)
    hidden = {"digest", "call_id"}
    return {**{key: value for key, value in inquiry.data.items() if key not in hidden}, **facts}


def withdraw(journal: Journal, *inquiries: Inquiry) -> None:
    """Nobody waits for these any more."""
    with journal.transaction() as tx:
        for inquiry in inquiries:
            withdraw_in(tx, inquiry)


def withdraw_in(tx: Transaction, inquiry: Inquiry) -> None:
    """The same together with other changes."""
    update = {"status": WITHDRAWN, "resolved_at": now()}
    tx.save_permission(inquiry.model_copy(update=update))
    _tell(tx, inquiry, PermissionResolved(id=inquiry.id, decision=None, status=WITHDRAWN))


def _set_status(tx: Transaction, inquiry: Inquiry) -> None:
    """A job waits as long as anything in it does."""
    if not inquiry.job_id:
        return
    job = tx.job(inquiry.job_id)
    open_ones = [
        *tx.pending_permissions(inquiry.context_id),
        *tx.pending_questions(inquiry.context_id),
    ]
    waits = any(one.job_id == job.id for one in open_ones)
    status = JobStatus.WAITING if waits else JobStatus.RUNNING
    if not job.status.is_final and job.status is not status:
        tx.save_job(job.model_copy(update={"status": status}))


def _tell(
    tx: Transaction, inquiry: Inquiry, data: PermissionRequested | PermissionResolved
) -> None:
    tx.append_event(inquiry.context_id, data, inquiry.job_id, inquiry.task_id)
