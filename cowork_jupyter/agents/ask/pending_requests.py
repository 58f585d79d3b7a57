"""Questions and permission requests that wait for the user, stored until they are settled.

Invariant: a job is `waiting` exactly as long as any request of it is pending. Requests survive the
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
from ...store import Asker, Transaction, UserRequest, UserRequestKind
from ...store.journal import Journal
from ...store.records import PENDING
from ..log import RunLog
from .user import ONCE, Nobody, PermissionRequest, Ruling

_SEVERITIES = ("critical", "major", "minor")

ALLOWED, DENIED, ANSWERED, WITHDRAWN = "allowed", "denied", "answered", "withdrawn"
_PREFIXES: dict[UserRequestKind, str] = {"question": "q", "permission": "perm"}
_NAMES: dict[UserRequestKind, str] = {"question": "question", "permission": "request"}


def urgency(request: UserRequest) -> tuple[int, int]:
    """Lowest first: calls by risk, then failed steps, then other questions by severity."""
    if request.kind == "permission":
        risk = str(request.data.get("risk", "")).upper()
        return 0, -Risk.__members__.get(risk, Risk.HIGH)  # unknown risks count as high
    if request.asker == "step":
        return 1, 0
    severity = request.data.get("severity")
    return 2, _SEVERITIES.index(severity) if severity in _SEVERITIES else len(_SEVERITIES)


class PendingRequests:
    def __init__(self, journal: Journal, rules: RuleBook) -> None:
        self._journal = journal
        self._rules = rules
        self._waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._announced: dict[str, str] = {}
        """Requests by the calls that will ask them when it is their turn."""
        self.on_late_answer: Callable[[UserRequest], None] = lambda _request: None
        """Called when something is settled that no run waits for any more."""
        self._closing = False
        """Whether cancelled requests stay pending: the service stops, and will be back."""

    def close(self) -> None:
        """From now on, cancelling leaves what is pending for the next start."""
        self._closing = True

    async def ask(self, question: Question, log: RunLog, asker: Asker = "") -> str | None:
        answer = await self._wait_for_answer(_new("question", question, log, asker), log)
        return str(answer["value"])

    def open_question(self, asker: Asker, log: RunLog) -> Question | None:
        for request in self._unused_requests(log):
            if request.kind == "question" and request.asker == asker:
                return Question.model_validate(request.data)
        return None

    async def decide(self, request: PermissionRequest, log: RunLog) -> Ruling:
        return Ruling.model_validate(
            await self._wait_for_answer(_new("permission", request, log), log)
        )

    def announce(self, request: PermissionRequest, log: RunLog) -> None:
        """Show a call before its turn, unless an earlier run of the job has asked the same."""
        request_to_ask = _new("permission", request, log)
        if self._find_earlier(request_to_ask, log) is None:
            self._record(request_to_ask, log)
            self._announced[request.call_id] = request_to_ask.id

    def forget(self, call_id: str) -> None:
        """Withdraw what was announced but not asked: the call has changed, or was allowed."""
        request_id = self._announced.pop(call_id, None)
        if request_id is None or self._closing:
            return
        request = self._journal.store.user_request(request_id, "permission")
        if request.status == PENDING:
            self._withdraw(request)
        elif not request.used:
            self._mark_used(request)

    def answer(self, question_id: str, value: str) -> UserRequest:
        request = self._require_open(question_id, "question")
        question = Question.model_validate(request.data)
        if not question.accepts(value):
            offered = ", ".join(option.value for option in question.options)
            raise InvalidInput(
                f"'{value}' is not one of the options: {offered}.", code="not_an_answer"
            )
        return self._settle(request, ANSWERED, {"value": value}, _answer(request, question, value))

    def waiting(self) -> list[tuple[UserRequest, Context]]:
        """Everything that waits for the user, and where; the most urgent first, then the oldest."""
        store = self._journal.store
        requests = sorted(store.pending_requests(), key=urgency)
        return [(request, store.context(request.context_id)) for request in requests]

    def pending(self, context_id: str, kind: UserRequestKind) -> list[UserRequest]:
        self._journal.store.context(context_id)
        return self._journal.store.pending_requests(context_id, kind)

    def resolve_all(self, request_ids: Sequence[str], ruling: Ruling) -> list[UserRequest]:
        """Decide about several waiting calls: about all of them, or none."""
        for request_id in request_ids:
            self.check(request_id, ruling)
        return [self.resolve(request_id, ruling) for request_id in dict.fromkeys(request_ids)]

    def resolve_call(self, call_id: str, ruling: Ruling, log: RunLog) -> None:
        for request in self._journal.store.pending_requests(log.context_id, "permission"):
            if request.data.get("call_id") == call_id:
                self.resolve(request.id, ruling)

    def resolve(self, request_id: str, ruling: Ruling) -> UserRequest:
        request = self.check(request_id, ruling)
        if ruling.scope != ONCE:
            self._write_rules(request, ruling)
        status = ALLOWED if ruling.decision == "allow" else DENIED
        return self._settle(request, status, ruling.model_dump())

    def check(self, request_id: str, ruling: Ruling) -> UserRequest:
        """Refuse an impossible decision, before any of a batch is taken."""
        request = self._require_open(request_id, "permission")
        offered = request.data.get("scopes", [ONCE])
        if ruling.scope not in offered:
            raise InvalidInput(
                f"scope: this request only accepts {', '.join(offered)}.",
                code="scope_not_offered",
            )
        return request

    def _write_rules(self, request: UserRequest, ruling: Ruling) -> None:
        scope = Scope(ruling.scope)
        context_id = request.context_id if scope is Scope.SESSION else None
        for text in request.data["rules"]:
            self._rules.add(Effect(ruling.decision), text, scope, context_id)

    async def _wait_for_answer(self, new_request: UserRequest, log: RunLog) -> dict[str, Any]:
        request = self._find_earlier(new_request, log)
        if request and request.answer is not None:
            self._mark_used(request)
            return request.answer
        if request is None:
            request = new_request
            self._record(request, log)
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[request.id] = answer
        try:
            return await answer
        except asyncio.CancelledError:
            if answer.cancelled() and not self._closing:  # else the answer came first
                self._withdraw(request)
            raise
        finally:
            del self._waiting[request.id]

    def _find_earlier(self, request: UserRequest, log: RunLog) -> UserRequest | None:
        """The same request of an earlier run of this task, or announced ahead of its turn."""
        return next(
            (earlier for earlier in self._unused_requests(log) if _is_same(earlier, request)), None
        )

    def _unused_requests(self, log: RunLog) -> list[UserRequest]:
        """What this task has asked that is pending or answered, and that nobody waits for
        or used.
        """
        return [
            request
            for request in self._journal.store.job_requests(log.job_id)
            if request.task_id == log.task_id
            and request.id not in self._waiting
            and not request.used
            and (request.status == PENDING or request.answer is not None)
        ]

    def _require_open(self, request_id: str, kind: UserRequestKind) -> UserRequest:
        request = self._journal.store.user_request(request_id, kind)
        waiting = self._waiting.get(request_id)
        is_awaited = not waiting.done() if waiting else self._will_be_taken_up(request)
        if request.status != PENDING or not is_awaited:
            raise Conflict(
                f"This {_NAMES[kind]} is no longer open: it was answered, or its job has ended.",
                code="not_waiting",
            )
        return request

    def _will_be_taken_up(self, request: UserRequest) -> bool:
        store, job_id = self._journal.store, request.job_id or ""
        if store.job(job_id).status is JobStatus.INTERRUPTED:
            return True
        return store.is_running_here(job_id)

    def _settle(
        self, request: UserRequest, status: str, answer: dict[str, Any], *messages: Message
    ) -> UserRequest:
        waiting = self._waiting.get(request.id)
        news = {"status": status, "answer": answer, "used": waiting is not None}
        settled = request.model_copy(update={**news, "resolved_at": now()})
        with self._journal.transaction() as tx:
            _save(tx, settled)
            for message in messages:
                tx.append_message(message)
            _append_event(tx, request, _resolution(settled))
        if waiting is not None:
            waiting.set_result(answer)
        else:
            self.on_late_answer(settled)
        return settled

    def _record(self, request: UserRequest, log: RunLog) -> None:
        with self._journal.transaction() as tx:
            _save(tx, request)
            if request.kind == "permission":
                _append_event(tx, request, request.as_permission())
                return
            question = QuestionData(id=request.id, **request.data)
            tx.append_message(log.message("assistant", question.question, question))
            _append_event(tx, request, request.as_question())

    def _mark_used(self, request: UserRequest) -> None:
        with self._journal.transaction() as tx:
            tx.save_request(request.model_copy(update={"used": True}))

    def _withdraw(self, request: UserRequest) -> None:
        with self._journal.transaction() as tx:
            withdraw(tx, request)


def withdraw(tx: Transaction, request: UserRequest) -> None:
    withdrawn = request.model_copy(update={"status": WITHDRAWN, "resolved_at": now()})
    _save(tx, withdrawn)
    _append_event(tx, request, _resolution(withdrawn))


def status_of(tx: Transaction, job_id: str) -> JobStatus:
    """The status of a job that has not ended: waiting while anything of it is pending."""
    waits = any(request.status == PENDING for request in tx.job_requests(job_id))
    return JobStatus.WAITING if waits else JobStatus.RUNNING


def _new(kind: UserRequestKind, details: BaseModel, log: RunLog, asker: Asker = "") -> UserRequest:
    return UserRequest(
        id=new_id(_PREFIXES[kind]),
        kind=kind,
        context_id=log.context_id,
        job_id=log.job_id,
        task_id=log.task_id,
        asker=asker,
        data=details.model_dump(mode="json"),
    )


def _is_same(request: UserRequest, other: UserRequest) -> bool:
    """Calls are compared by digest, questions by all that they say."""
    first, second = (each.data.get("digest", each.data) for each in (request, other))
    return request.kind == other.kind and first == second


def _answer(request: UserRequest, question: Question, value: str) -> Message:
    answer = Answer(
        question_id=request.id,
        question=question.question,
        value=value,
        label=question.label_of(value),
    )
    return Message(
        context_id=request.context_id,
        job_id=request.job_id,
        task_id=request.task_id,
        role="user",
        content=[TextPart(text=value)],
        data=TextData(answer=answer),
    )


def _resolution(request: UserRequest) -> QuestionAnswered | PermissionResolved:
    if request.kind == "permission":
        ruling = request.answer or {"decision": None}
        return PermissionResolved(id=request.id, status=request.status, **ruling)
    if request.answer is None:
        return QuestionAnswered(id=request.id, value=None, status=request.status)
    return QuestionAnswered(id=request.id, value=request.answer["value"])


def _save(tx: Transaction, request: UserRequest) -> None:
    tx.save_request(request)
    if request.job_id and not (job := tx.job(request.job_id)).status.is_final:
        status = status_of(tx, job.id)
        if job.status is not status:
            tx.save_job(job.model_copy(update={"status": status}))


def _append_event(
    tx: Transaction,
    request: UserRequest,
    data: QuestionAsked | QuestionAnswered | PermissionRequested | PermissionResolved,
) -> None:
    tx.append_event(request.context_id, data, request.job_id, request.task_id)


@dataclass(frozen=True)
class AttendedRequests:
    """The user of a host that only finds out later whether somebody sits in front of it."""

    requests: PendingRequests
    is_attended: Callable[[], bool]

    def is_away(self) -> bool:
        return not self.is_attended()

    async def ask(self, question: Question, log: RunLog, asker: Asker = "") -> str | None:
        return await (self.requests if self.is_attended() else Nobody()).ask(question, log, asker)

    def open_question(self, asker: Asker, log: RunLog) -> Question | None:
        return self.requests.open_question(asker, log) if self.is_attended() else None

    async def decide(self, request: PermissionRequest, log: RunLog) -> Ruling:
        approver = self.requests if self.is_attended() else Nobody()
        return await approver.decide(request, log)

    def announce(self, request: PermissionRequest, log: RunLog) -> None:
        if self.is_attended():
            self.requests.announce(request, log)

    def forget(self, call_id: str) -> None:
        self.requests.forget(call_id)
