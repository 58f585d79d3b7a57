"""Inquiries: questions and permission requests that wait for the user, stored until they are
settled.

Invariant: a job is `waiting` exactly as long as any inquiry of it is pending. Inquiries survive the
process. The user may answer while the job is interrupted, and the resumed job takes up what its
earlier run had asked, instead of asking again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from ...domain.contexts import Context, JobStatus
from ...domain.errors import Conflict, InvalidInput
from ...domain.events import (
    PermissionRequested,
    PermissionResolved,
    QuestionAnswered,
    QuestionAsked,
)
from ...domain.identity import new_id, now
from ...domain.messages import Answer, Message, QuestionData, TextData, TextPart
from ...domain.replies import Question
from ...policy.calls import Risk
from ...policy.rulebook import RuleBook
from ...policy.rules import Effect, Scope
from ...store import Asker, Inquiry, InquiryKind, Transaction
from ...store.journal import Journal
from ...store.records import PENDING
from ..log import RunLog
from .user import ONCE, Nobody, PermissionRequest, Ruling

_SEVERITIES = ("critical", "major", "minor")

ALLOWED, DENIED, ANSWERED, WITHDRAWN = "allowed", "denied", "answered", "withdrawn"
_PREFIXES: dict[InquiryKind, str] = {"question": "q", "permission": "perm"}
_NAMES: dict[InquiryKind, str] = {"question": "question", "permission": "request"}


def urgency(inquiry: Inquiry) -> tuple[int, int]:
    """Lowest first: calls by risk, then failed steps, then other questions by severity."""
    if inquiry.kind == "permission":
        risk = str(inquiry.data.get("risk", "")).upper()
        return 0, -Risk.__members__.get(risk, Risk.HIGH)  # unknown risks count as high
    if inquiry.asker == "step":
        return 1, 0
    severity = inquiry.data.get("severity")
    return 2, _SEVERITIES.index(severity) if severity in _SEVERITIES else len(_SEVERITIES)


class Inquiries:
    def __init__(self, journal: Journal, rules: RuleBook) -> None:
        self._journal = journal
        self._rules = rules
        self._waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._announced: dict[str, str] = {}
        """Requests by the calls that will ask them when it is their turn."""
        self.on_late_answer: Callable[[Inquiry], None] = lambda _inquiry: None
        """Called when something is settled that no run waits for any more."""
        self._closing = False
        """Whether cancelled inquiries stay pending: the service stops, and will be back."""

    def close(self) -> None:
        """From now on, cancelling leaves what is pending for the next start."""
        self._closing = True

    async def ask(self, question: Question, log: RunLog, asker: Asker = "") -> str | None:
        answer = await self._wait_for_answer(_new("question", question, log, asker), log)
        return str(answer["value"])

    def open_question(self, asker: Asker, log: RunLog) -> Question | None:
        for inquiry in self._unused_inquiries(log):
            if inquiry.kind == "question" and inquiry.asker == asker:
                return Question.model_validate(inquiry.data)
        return None

    async def decide(self, request: PermissionRequest, log: RunLog) -> Ruling:
        return Ruling.model_validate(
            await self._wait_for_answer(_new("permission", request, log), log)
        )

    def announce(self, request: PermissionRequest, log: RunLog) -> None:
        """Show a call before its turn, unless an earlier run of the job has asked the same."""
        inquiry = _new("permission", request, log)
        if self._find_earlier(inquiry, log) is None:
            self._record(inquiry, log)
            self._announced[request.call_id] = inquiry.id

    def forget(self, call_id: str) -> None:
        """Withdraw what was announced but not asked: the call has changed, or was allowed."""
        request_id = self._announced.pop(call_id, None)
        if request_id is None or self._closing:
            return
        inquiry = self._journal.store.inquiry(request_id, "permission")
        if inquiry.status == PENDING:
            self._withdraw(inquiry)
        elif not inquiry.used:
            self._mark_used(inquiry)

    def answer(self, question_id: str, value: str) -> Inquiry:
        inquiry = self._require_open(question_id, "question")
        question = Question.model_validate(inquiry.data)
        if not question.accepts(value):
            offered = ", ".join(option.value for option in question.options)
            raise InvalidInput(
                f"'{value}' is not one of the options: {offered}.", code="not_an_answer"
            )
        said = _answer(inquiry, question, value)
        return self._settle(inquiry, ANSWERED, {"value": value}, said)

    def waiting(self) -> list[tuple[Inquiry, Context]]:
        """Everything that waits for the user, and where; the most urgent first, then the oldest."""
        store = self._journal.store
        found = sorted(store.pending_inquiries(), key=urgency)
        return [(inquiry, store.context(inquiry.context_id)) for inquiry in found]

    def pending(self, context_id: str, kind: InquiryKind) -> list[Inquiry]:
        self._journal.store.context(context_id)
        return self._journal.store.pending_inquiries(context_id, kind)

    def resolve_all(self, request_ids: Sequence[str], ruling: Ruling) -> list[Inquiry]:
        """Decide about several waiting calls: about all of them, or none."""
        for request_id in request_ids:
            self.check(request_id, ruling)
        return [self.resolve(request_id, ruling) for request_id in dict.fromkeys(request_ids)]

    def resolve_call(self, call_id: str, ruling: Ruling, log: RunLog) -> None:
        for inquiry in self._journal.store.pending_inquiries(log.context_id, "permission"):
            if inquiry.data.get("call_id") == call_id:
                self.resolve(inquiry.id, ruling)

    def resolve(self, request_id: str, ruling: Ruling) -> Inquiry:
        inquiry = self.check(request_id, ruling)
        if ruling.scope != ONCE:
            self._write_rules(inquiry, ruling)
        status = ALLOWED if ruling.decision == "allow" else DENIED
        return self._settle(inquiry, status, ruling.model_dump())

    def check(self, request_id: str, ruling: Ruling) -> Inquiry:
        """Refuse an impossible decision, before any of a batch is taken."""
        inquiry = self._require_open(request_id, "permission")
        offered = inquiry.data.get("scopes", [ONCE])
        if ruling.scope not in offered:
            raise InvalidInput(
                f"scope: this request only accepts {', '.join(offered)}.",
                code="scope_not_offered",
            )
        return inquiry

    def _write_rules(self, inquiry: Inquiry, ruling: Ruling) -> None:
        scope = Scope(ruling.scope)
        context_id = inquiry.context_id if scope is Scope.SESSION else None
        for text in inquiry.data["rules"]:
            self._rules.add(Effect(ruling.decision), text, scope, context_id)

    async def _wait_for_answer(self, asked: Inquiry, log: RunLog) -> dict[str, Any]:
        inquiry = self._find_earlier(asked, log)
        if inquiry and inquiry.answer is not None:
            self._mark_used(inquiry)
            return inquiry.answer
        if inquiry is None:
            inquiry = asked
            self._record(inquiry, log)
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[inquiry.id] = answer
        try:
            return await answer
        except asyncio.CancelledError:
            if answer.cancelled() and not self._closing:  # else the answer came first
                self._withdraw(inquiry)
            raise
        finally:
            del self._waiting[inquiry.id]

    def _find_earlier(self, asked: Inquiry, log: RunLog) -> Inquiry | None:
        """The same inquiry of an earlier run of this task, or announced ahead of its turn."""
        return next(
            (inquiry for inquiry in self._unused_inquiries(log) if _is_same(inquiry, asked)), None
        )

    def _unused_inquiries(self, log: RunLog) -> list[Inquiry]:
        """What this task has asked that is pending or answered, and that nobody waits for
        or used.
        """
        return [
            inquiry
            for inquiry in self._journal.store.job_inquiries(log.job_id)
            if inquiry.task_id == log.task_id
            and inquiry.id not in self._waiting
            and not inquiry.used
            and (inquiry.status == PENDING or inquiry.answer is not None)
        ]

    def _require_open(self, inquiry_id: str, kind: InquiryKind) -> Inquiry:
        inquiry = self._journal.store.inquiry(inquiry_id, kind)
        waiting = self._waiting.get(inquiry_id)
        is_awaited = not waiting.done() if waiting else self._will_be_taken_up(inquiry)
        if inquiry.status != PENDING or not is_awaited:
            raise Conflict(
                f"This {_NAMES[kind]} is no longer open: it was answered, or its job has ended.",
                code="not_waiting",
            )
        return inquiry

    def _will_be_taken_up(self, inquiry: Inquiry) -> bool:
        store, job_id = self._journal.store, inquiry.job_id or ""
        if store.job(job_id).status is JobStatus.INTERRUPTED:
            return True
        return store.is_running_here(job_id)

    def _settle(
        self, inquiry: Inquiry, status: str, answer: dict[str, Any], *said: Message
    ) -> Inquiry:
        waiting = self._waiting.get(inquiry.id)
        news = {"status": status, "answer": answer, "used": waiting is not None}
        settled = inquiry.model_copy(update={**news, "resolved_at": now()})
        with self._journal.transaction() as tx:
            _save(tx, settled)
            for message in said:
                tx.append_message(message)
            _append_event(tx, inquiry, _resolution(settled))
        if waiting is not None:
            waiting.set_result(answer)
        else:
            self.on_late_answer(settled)
        return settled

    def _record(self, inquiry: Inquiry, log: RunLog) -> None:
        with self._journal.transaction() as tx:
            _save(tx, inquiry)
            if inquiry.kind == "permission":
                _append_event(
                    tx, inquiry, PermissionRequested.model_validate(inquiry_view(inquiry))
                )
                return
            asked = QuestionAsked(id=inquiry.id, **inquiry.data)
            tx.append_message(log.message("assistant", asked.question, QuestionData(**dict(asked))))
            _append_event(tx, inquiry, asked)

    def _mark_used(self, inquiry: Inquiry) -> None:
        with self._journal.transaction() as tx:
            tx.save_inquiry(inquiry.model_copy(update={"used": True}))

    def _withdraw(self, inquiry: Inquiry) -> None:
        with self._journal.transaction() as tx:
            withdraw(tx, inquiry)


def withdraw(tx: Transaction, inquiry: Inquiry) -> None:
    withdrawn = inquiry.model_copy(update={"status": WITHDRAWN, "resolved_at": now()})
    _save(tx, withdrawn)
    _append_event(tx, inquiry, _resolution(withdrawn))


def status_of(tx: Transaction, job_id: str) -> JobStatus:
    """The status of a job that has not ended: waiting while anything of it is pending."""
    waits = any(inquiry.status == PENDING for inquiry in tx.job_inquiries(job_id))
    return JobStatus.WAITING if waits else JobStatus.RUNNING


def inquiry_view(inquiry: Inquiry) -> dict[str, Any]:
    own = {"id", "context_id", "job_id", "task_id", "status", "created_at"}
    facts = inquiry.model_dump(mode="json", include=own)
    hidden = {"digest", "call_id"}
    return {**{key: value for key, value in inquiry.data.items() if key not in hidden}, **facts}


def _new(kind: InquiryKind, asked: BaseModel, log: RunLog, asker: Asker = "") -> Inquiry:
    return Inquiry(
        id=new_id(_PREFIXES[kind]),
        kind=kind,
        context_id=log.context_id,
        job_id=log.job_id,
        task_id=log.task_id,
        asker=asker,
        data=asked.model_dump(mode="json"),
    )


def _is_same(inquiry: Inquiry, other: Inquiry) -> bool:
    """Calls are compared by digest, questions by all that they say."""
    first, second = (each.data.get("digest", each.data) for each in (inquiry, other))
    return inquiry.kind == other.kind and first == second


def _answer(inquiry: Inquiry, question: Question, value: str) -> Message:
    answer = Answer(
        question_id=inquiry.id,
        question=question.question,
        value=value,
        label=question.label_of(value),
    )
    return Message(
        context_id=inquiry.context_id,
        job_id=inquiry.job_id,
        task_id=inquiry.task_id,
        role="user",
        content=[TextPart(text=value)],
        data=TextData(answer=answer),
    )


def _resolution(inquiry: Inquiry) -> QuestionAnswered | PermissionResolved:
    if inquiry.kind == "permission":
        ruling = inquiry.answer or {"decision": None}
        return PermissionResolved(id=inquiry.id, status=inquiry.status, **ruling)
    if inquiry.answer is None:
        return QuestionAnswered(id=inquiry.id, value=None, status=inquiry.status)
    return QuestionAnswered(id=inquiry.id, value=inquiry.answer["value"])


def _save(tx: Transaction, inquiry: Inquiry) -> None:
    tx.save_inquiry(inquiry)
    if inquiry.job_id and not (job := tx.job(inquiry.job_id)).status.is_final:
        status = status_of(tx, job.id)
        if job.status is not status:
            tx.save_job(job.model_copy(update={"status": status}))


def _append_event(
    tx: Transaction,
    inquiry: Inquiry,
    data: QuestionAsked | QuestionAnswered | PermissionRequested | PermissionResolved,
) -> None:
    tx.append_event(inquiry.context_id, data, inquiry.job_id, inquiry.task_id)


@dataclass(frozen=True)
class AttendedInquiries:
    """The user of a host that only finds out later whether somebody sits in front of it."""

    inquiries: Inquiries
    is_attended: Callable[[], bool]

    def is_away(self) -> bool:
        return not self.is_attended()

    async def ask(self, question: Question, log: RunLog, asker: Asker = "") -> str | None:
        return await (self.inquiries if self.is_attended() else Nobody()).ask(question, log, asker)

    def open_question(self, asker: Asker, log: RunLog) -> Question | None:
        return self.inquiries.open_question(asker, log) if self.is_attended() else None

    async def decide(self, request: PermissionRequest, log: RunLog) -> Ruling:
        approver = self.inquiries if self.is_attended() else Nobody()
        return await approver.decide(request, log)

    def announce(self, request: PermissionRequest, log: RunLog) -> None:
        if self.is_attended():
            self.inquiries.announce(request, log)

    def forget(self, call_id: str) -> None:
        self.inquiries.forget(call_id)
