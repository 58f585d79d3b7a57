"""Permissions and questions in the protocol's forms, asked while other updates go on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from acp import Client, schema
from acp.helpers import text_block, tool_content, update_tool_call

from ...agents.ask.user import Ruling
from ...domain.errors import CoworkError
from ...domain.events import ChosenScope, PermissionRequested
from ...domain.replies import Question
from ...record.account import SCOPES, option_lines, rollback_gap
from ...record.markdown import fenced
from ...service.service import CoworkService
from .updates import Content, UpdateBuilder

ANSWER, OTHER = "answer", "other"
"""Fields of a question's form."""
_DISMISSED = "The user closed the request without deciding."

_OFFERED: tuple[tuple[str, ChosenScope, schema.PermissionOptionKind], ...] = (
    ("allow", "once", "allow_once"),
    ("allow", "session", "allow_always"),
    ("allow", "workspace", "allow_always"),
    ("deny", "once", "reject_once"),
    ("deny", "workspace", "reject_always"),
)
"""Of two options of a kind the narrower comes first: clients that decide by kind take it."""


def permission_options(
    scopes: Sequence[str], rules: Iterable[str]
) -> list[schema.PermissionOption]:
    """Lasting options name the rules that they would write."""
    written = ", ".join(rules)
    words = {"allow": "Allow", "deny": "Do not allow"}
    return [
        schema.PermissionOption(
            option_id=f"{decision}:{scope}",
            name=f"{words[decision]} {SCOPES[scope]}" + (f": {written}" if scope != "once" else ""),
            kind=kind,
        )
        for decision, scope, kind in _OFFERED
        if scope in scopes
    ]


def parse_ruling(outcome: object, offered: Iterable[schema.PermissionOption]) -> Ruling:
    """The decision behind a chosen option. Anything that was not offered is a denial."""
    chosen = getattr(outcome, "option_id", None)
    if chosen not in {option.option_id for option in offered}:
        return Ruling(decision="deny", feedback=_DISMISSED)
    decision, _, scope = str(chosen).partition(":")
    return Ruling.model_validate({"decision": decision, "scope": scope})


def permission_call(
    call_id: str, request: PermissionRequested, updates: UpdateBuilder
) -> schema.ToolCallUpdate:
    """The pending call, with all that the user needs to judge it."""
    parameters, preview = request.parameters, request.shown
    path = parameters.get("path")
    about = [] if request.resource in (request.tool, *parameters.values()) else [request.resource]
    lines = [*about, *request.why]
    why = "\n".join(filter(None, [*lines, rollback_gap(request)]))
    content: list[Content] = [tool_content(text_block(why))] if why else []
    changes: list[Content] = []
    if preview.kind == "diff" and isinstance(path, str):
        changes = updates.changes(path, preview.text)
    content += changes or [tool_content(text_block(fenced(preview.text)))]
    return schema.ToolCallUpdate(
        tool_call_id=call_id,
        title=updates.title(request.tool, parameters),
        kind=updates.kind(request.tool),
        status="pending",
        content=content,
        locations=updates.places([path]) or None,
        raw_input=parameters,
        field_meta={"risk": request.risk, "role": request.agent_role},
    )


def question_text(question: Question) -> str:
    """For clients without forms: the next prompt is the answer."""
    lines = [f"**{question.question}**", ""]
    if question.context:
        lines += [question.context, ""]
    lines += option_lines(question)
    how = "Answer with a number" if question.options else "Answer with your next message"
    free = ", or in your own words" if question.options and question.allow_custom else ""
    return "\n".join([*lines, "", f"*{how}{free}.*"]) + "\n\n"


def parse_answer(text: str, question: Question) -> str | None:
    """The answer in a prompt: a number, a label or a value; None if it is none of these."""
    said = text.strip()
    for number, option in enumerate(question.options, start=1):
        if said.casefold() in {str(number), option.label.casefold(), option.value.casefold()}:
            return option.value
    return said if said and question.accepts(said) else None


def question_form(question: Question) -> schema.ElicitationSchema:
    free = schema.ElicitationStringPropertySchema(type="string", title="Answer", min_length=1)
    if not question.options:
        return _form({ANSWER: free}, [ANSWER])
    choice = schema.ElicitationStringPropertySchema(
        type="string",
        title="Answer",
        default=question.default,
        one_of=[
            schema.EnumOption(
                const=option.value, title=option.label, description=option.description or None
            )
            for option in question.options
        ],
    )
    if not question.allow_custom:
        return _form({ANSWER: choice}, [ANSWER])
    own = schema.ElicitationStringPropertySchema(type="string", title="Or in your own words")
    return _form({ANSWER: choice, OTHER: own}, [])


def _form(properties: dict[str, Any], required: list[str]) -> schema.ElicitationSchema:
    return schema.ElicitationSchema(type="object", properties=properties, required=required)


def parse_form(content: Mapping[str, Any], question: Question) -> str | None:
    """None if what was filled in is no valid answer."""
    given = content.get(OTHER) or content.get(ANSWER) or ""
    value = str(getattr(given, "root", given)).strip()
    return value if value and question.accepts(value) else None


logger = logging.getLogger(__name__)


@dataclass
class AcpRequests:
    """The open requests of one session. Those decided elsewhere are withdrawn."""

    service: CoworkService
    session_id: str
    client: Client
    updates: UpdateBuilder
    answer: Callable[[str, Question, str], None]
    ask_in_words: Callable[[Question], Awaitable[None]]
    """Called with a question that no form has answered."""
    cancel: Callable[[], Awaitable[None]]
    """Called when the user dismisses a form."""
    _open: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    def ask_permission(self, request: PermissionRequested) -> None:
        self._ask(request.id, self._permission(request))

    def ask_by_form(self, question_id: str, question: Question) -> None:
        self._ask(question_id, self._form(question_id, question))

    def withdraw(self, request_id: str) -> None:
        """It was decided, or nobody waits for it any more."""
        task = self._open.get(request_id)
        if task is not None:
            task.cancel()

    async def close(self) -> None:
        """Withdraw all requests without deciding them."""
        tasks = list(self._open.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ask(self, request_id: str, asking_for_it: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(asking_for_it)
        self._open[request_id] = task
        task.add_done_callback(lambda _: self._open.pop(request_id, None))

    async def _permission(self, request: PermissionRequested) -> None:
        call_id = self.service.journal.store.user_request(request.id, "permission").data["call_id"]
        call = permission_call(call_id, request, self.updates)
        options = permission_options(request.scopes, request.rules)
        outcome: object = None
        try:
            answer = await self.client.request_permission(
                session_id=self.session_id, tool_call=call, options=options
            )
            outcome = answer.outcome
        except ConnectionError:
            return  # stays open until somebody reopens the conversation
        except Exception as error:  # a failure is never a permission
            logger.warning("The client could not ask for permission: %s", error)
        chosen = parse_ruling(outcome, options)
        if chosen.decision == "allow":
            runs = update_tool_call(call_id, status="in_progress")
            await self.client.session_update(session_id=self.session_id, update=runs)
        with suppress(CoworkError):  # decided elsewhere meanwhile
            self.service.requests.resolve_all([request.id], chosen)

    async def _form(self, question_id: str, question: Question) -> None:
        mode = schema.ElicitationFormSessionMode(
            session_id=self.session_id, requested_schema=question_form(question)
        )
        words = "\n\n".join(part for part in (question.question, question.context) if part)
        answer: object = None
        try:
            answer = await self.client.create_elicitation(message=words, mode=mode)
        except ConnectionError:
            return
        except Exception as error:  # then asked in words
            logger.warning("The client could not show a form: %s", error)
        if isinstance(answer, schema.CancelElicitationResponse):
            await self.cancel()
            return
        value = None
        if isinstance(answer, schema.AcceptElicitationResponse):
            value = parse_form(answer.content or {}, question)
        if value is None:
            await self.ask_in_words(question)
            return
        with suppress(CoworkError):
            self.answer(question_id, question, value)
