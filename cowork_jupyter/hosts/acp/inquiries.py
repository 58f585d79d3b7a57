"""What waits for the user, asked of the client beside everything else that it is told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from acp import Client, schema
from acp.helpers import update_tool_call

from ...domain.errors import CoworkError
from ...domain.events import PermissionRequested
from ...domain.replies import Question
from ...service import CoworkService
from . import asking
from .updates import Portrayal

logger = logging.getLogger(__name__)


@dataclass
class AcpInquiries:
    """The open requests of one session. What is decided elsewhere meanwhile is let go."""

    service: CoworkService
    session_id: str
    client: Client
    portrayal: Portrayal
    answer: Callable[[str, Question, str], None]
    """Called with the answer to a question."""
    in_words: Callable[[Question], Awaitable[None]]
    """Called with a question that no form has answered."""
    cancel: Callable[[], Awaitable[None]]
    """Called when the user does not want to go on."""
    _open: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    def ask_permission(self, request: PermissionRequested) -> None:
        """Ask about a call that waits."""
        self._ask(request.id, self._permission(request))

    def ask_by_form(self, question_id: str, question: Question) -> None:
        """Ask a question of a client that can show forms."""
        self._ask(question_id, self._form(question_id, question))

    def let_go(self, request_id: str) -> None:
        """It is decided, or nobody waits for it any more."""
        task = self._open.get(request_id)
        if task is not None:
            task.cancel()

    async def close(self) -> None:
        """Ask nothing any more; what is open stays so."""
        tasks = list(self._open.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ask(self, request_id: str, asking_for_it: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(asking_for_it)
        self._open[request_id] = task
        task.add_done_callback(lambda _: self._open.pop(request_id, None))

    async def _permission(self, request: PermissionRequested) -> None:
        call_id = self.service.journal.store.inquiry(request.id, "permission").data["call_id"]
        call = asking.permission_call(call_id, request, self.portrayal)
        options = asking.permission_options(request.scopes, request.rules)
        outcome: object = None
        try:
            answer = await self.client.request_permission(
                session_id=self.session_id, tool_call=call, options=options
            )
            outcome = answer.outcome
        except ConnectionError:
            return  # it stays open, for whoever comes back to this conversation
        except Exception as error:  # whatever a client answers, it is no permission
            logger.warning("The client could not ask for permission: %s", error)
        chosen = asking.ruling(outcome, options)
        if chosen.decision == "allow":
            runs = update_tool_call(call_id, status="in_progress")
            await self.client.session_update(session_id=self.session_id, update=runs)
        with suppress(CoworkError):  # it was decided elsewhere meanwhile
            self.service.inquiries.resolve_all([request.id], chosen)

    async def _form(self, question_id: str, question: Question) -> None:
        mode = schema.ElicitationFormSessionMode(
            session_id=self.session_id, requested_schema=asking.question_form(question)
        )
        words = "\n\n".join(part for part in (question.question, question.context) if part)
        answer: object = None
        try:
            answer = await self.client.create_elicitation(message=words, mode=mode)
        except ConnectionError:
            return
        except Exception as error:  # then it is asked in words
            logger.warning("The client could not show a form: %s", error)
        if isinstance(answer, schema.CancelElicitationResponse):
            await self.cancel()
            return
        value = None
        if isinstance(answer, schema.AcceptElicitationResponse):
            value = asking.answer_of_form(answer.content or {}, question)
        if value is None:
            await self.in_words(question)
            return
        with suppress(CoworkError):
            self.answer(question_id, question, value)
