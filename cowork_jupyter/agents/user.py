"""The user, as a run sees them: somebody who can be asked, or nobody."""

from __future__ import annotations

import asyncio
from typing import Protocol

from ..bus import Journal
from ..domain.contexts import JobStatus
from ..domain.errors import Conflict, InvalidInput
from ..domain.events import QuestionAnswered, QuestionAsked
from ..domain.identity import new_id, now
from ..domain.message_data import Answer, QuestionData, TextData
from ..domain.messages import Message, TextPart
from ..domain.replies import Question
from ..store import Inquiry, Transaction
from .log import RunLog

ANSWERED, WITHDRAWN = "answered", "withdrawn"


class User(Protocol):
    """Who decides what the agent may not decide."""

    async def ask(self, question: Question, log: RunLog) -> str | None:
        """The answer; None when nobody is there to give one."""


class Nobody:
    """A headless run: it never hangs, because nothing waits."""

    async def ask(self, question: Question, log: RunLog) -> str | None:
        """Write the question down, and go on without an answer."""
        log.say("assistant", question.question, QuestionData(**dict(question)))
        return None


class Inbox:
    """Questions that wait for a person, stored, so that any client can show and answer them."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._waiting: dict[str, asyncio.Future[str]] = {}

    async def ask(self, question: Question, log: RunLog) -> str | None:
        """Store the question, let the job wait, and give the answer when it comes."""
        inquiry = Inquiry(
            id=new_id("q"),
            context_id=log.context_id,
            job_id=log.job_id,
            task_id=log.task_id,
            data=question.model_dump(mode="json"),
        )
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting[inquiry.id] = answer
        try:
            self._record_asking(inquiry, question, log)
            return await answer
        except asyncio.CancelledError:
            if answer.cancelled():  # else the answer came first, and stays
                self._withdraw(inquiry)
            raise
        finally:
            del self._waiting[inquiry.id]

    def answer(self, question_id: str, value: str) -> Inquiry:
        """Give the user's answer to the run that waits for it."""
        inquiry = self._journal.store.question(question_id)
        waiting = self._waiting.get(question_id)
        if inquiry.status != "pending" or waiting is None or waiting.done():
            raise Conflict(
                "This question is not open any more; the job that asked it has gone on or ended.",
                code="not_waiting",
            )
        question = Question.model_validate(inquiry.data)
        if not question.accepts(value):
            offered = ", ".join(option.value for option in question.options)
            raise InvalidInput(
                f"'{value}' is not one of the answers: {offered}.", code="not_an_answer"
            )
        answered = inquiry.model_copy(
            update={"status": ANSWERED, "answer": {"value": value}, "resolved_at": now()}
        )
        with self._journal.transaction() as tx:
            tx.save_question(answered)
            _set_status(tx, inquiry, JobStatus.RUNNING)
            tx.append_message(_answer(inquiry, question, value))
            _tell(tx, inquiry, QuestionAnswered(id=question_id, value=value))
        waiting.set_result(value)
        return answered

    def _record_asking(self, inquiry: Inquiry, question: Question, log: RunLog) -> None:
        asked = QuestionAsked(id=inquiry.id, **dict(question))
        message = log.message("assistant", question.question, QuestionData(**dict(asked)))
        with self._journal.transaction() as tx:
            tx.save_question(inquiry)
            _set_status(tx, inquiry, JobStatus.WAITING)
            tx.append_message(message)
            _tell(tx, inquiry, asked)

    def _withdraw(self, inquiry: Inquiry) -> None:
        update = {"status": WITHDRAWN, "resolved_at": now()}
        with self._journal.transaction() as tx:
            tx.save_question(inquiry.model_copy(update=update))
            if inquiry.job_id and tx.job(inquiry.job_id).status is JobStatus.WAITING:
                _set_status(tx, inquiry, JobStatus.RUNNING)
            _tell(tx, inquiry, QuestionAnswered(id=inquiry.id, value=None, status=WITHDRAWN))


def _answer(inquiry: Inquiry, question: Question, value: str) -> Message:
    """The answer as the model reads it, beside all that a program may want to know of it."""
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


def _set_status(tx: Transaction, inquiry: Inquiry, status: JobStatus) -> None:
    if inquiry.job_id:
        tx.save_job(tx.job(inquiry.job_id).model_copy(update={"status": status}))


def _tell(tx: Transaction, inquiry: Inquiry, data: QuestionAsked | QuestionAnswered) -> None:
    tx.append_event(inquiry.context_id, data, inquiry.job_id, inquiry.task_id)
