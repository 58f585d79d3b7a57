"""Requests of a server to us in the middle of a call: to the user or to the model."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING, Any

from ...domain.errors import CoworkError
from ...domain.operations import OK, McpSampled, Observe, ignore_operation
from ...domain.replies import Option, Question
from ...llm.chunks import Finished, ModelRequest, TextChunk
from ...policy.visible import visible
from .config import ServerConfig
from .pending_call import PendingCall, current

if TYPE_CHECKING:
    from mcp_types import (
        CreateMessageRequestParams,
        CreateMessageResult,
        ElicitRequestParams,
        ElicitResult,
        ErrorData,
    )

    from ...llm.client import LanguageModel
Ask = Callable[[Question], Awaitable[str | None]]
Answer = str | int | float | bool | list[str] | None

DECLINE, SKIP, DONE = "decline", "skip", "done"
MAX_FIELDS, MAX_OPTIONS, MAX_LENGTH = 20, 50, 2_000
_YES = {"true": True, "false": False}
_HINTS = {
    "integer": "A whole number.",
    "number": "A number.",
    "array": "One or more, separated by commas.",
}


class _Declined(Exception):
    pass


async def elicit(server: str, params: ElicitRequestParams, ask: Ask) -> ElicitResult:
    from mcp_types import ElicitRequestURLParams, ElicitResult

    intro = f"The MCP server '{server}' asks: {_short(params.message)}"
    try:
        if isinstance(params, ElicitRequestURLParams):
            # The user opens the address, if they want to; nothing opens it for them.
            url = _short(params.url)
            context = f"It wants you to open {url} in your browser. Check the address first."
            yes = Option(label="I have opened it", value=DONE)
            await _confirm(intro, yes, ask, context)
            return ElicitResult(action="accept")
        content = await _form(intro, params.requested_schema, ask)
        return ElicitResult(action="accept", content=content)
    except _Declined:
        return ElicitResult(action="decline")


async def _form(intro: str, schema: dict[str, Any], ask: Ask) -> dict[str, Answer]:
    fields = schema.get("properties")
    if not isinstance(fields, dict) or len(fields) > MAX_FIELDS:
        raise _Declined
    if not fields:
        await _confirm(intro, Option(label="Yes", value=DONE), ask)
    required = schema.get("required")
    answers: dict[str, Answer] = {}
    for name, field in fields.items():
        needed = not isinstance(required, list) or name in required
        spec = field if isinstance(field, dict) else {}
        value = await _field(intro, str(name), spec, needed, ask)
        if value is not None:
            answers[name] = value
    return answers


async def _confirm(intro: str, yes: Option, ask: Ask, context: str = "") -> None:
    options = [yes, _decline()]
    question = Question(question=intro, context=context, options=options, default=DECLINE)
    if await ask(question) != DONE:
        raise _Declined


async def _field(intro: str, name: str, field: dict[str, Any], needed: bool, ask: Ask) -> Answer:
    """Asks again until the answer is valid; None if it was skipped."""
    label = _short(str(field.get("title") or name))
    about = _short(str(field.get("description") or ""))
    choices = _choices(field)
    skip = [] if needed else [Option(label="Skip it", value=SKIP)]
    problem = ""
    while True:
        question = Question(
            question=f"{intro}\n{label}",
            context=" ".join(filter(None, (about, _HINTS.get(str(field.get("type"))), problem))),
            options=[*choices, *skip, _decline()],
            default=None,
            allow_custom=not choices or field.get("type") == "array",
        )
        answer = await ask(question)
        if answer is None or answer == DECLINE:
            raise _Declined
        if answer == SKIP and skip:
            return None
        try:
            return _parse(answer, field)
        except ValueError as error:
            problem = f"({error})"


def _choices(field: dict[str, Any]) -> list[Option]:
    if field.get("type") == "boolean":
        return [Option(label="Yes", value="true"), Option(label="No", value="false")]
    source = field.get("items", {}) if field.get("type") == "array" else field
    source = source if isinstance(source, dict) else {}
    named = source.get("oneOf") or source.get("anyOf")
    if isinstance(named, list):
        options = [option for option in named if isinstance(option, dict)]
        pairs = [(option.get("const"), option.get("title")) for option in options]
    else:
        values, names = source.get("enum"), source.get("enumNames")
        values = values if isinstance(values, list) else []
        names = names if isinstance(names, list) and len(names) == len(values) else values
        pairs = list(zip(values, names, strict=True))
    return [
        Option(label=_short(str(title or value)), value=str(value))
        for value, title in pairs[:MAX_OPTIONS]
        if isinstance(value, str)
    ]


def _parse(answer: str, field: dict[str, Any]) -> Answer:
    match field.get("type"):
        case "boolean":
            return _YES[answer.lower()] if answer.lower() in _YES else _wrong("yes or no")
        case "integer" | "number" as kind:
            number: int | float = int(answer) if kind == "integer" else float(answer)
            least, most = field.get("minimum"), field.get("maximum")
            if isinstance(least, (int, float)) and number < least:
                _wrong(f"at least {least}")
            if isinstance(most, (int, float)) and number > most:
                _wrong(f"at most {most}")
            return number
        case "array":
            return [part.strip() for part in answer.split(",") if part.strip()]
        case _:
            return answer


def _wrong(wanted: str) -> bool:
    raise ValueError(f"it should be {wanted}")


def _decline() -> Option:
    return Option(label="Decline", value=DECLINE)


def _short(text: str) -> str:
    return visible(text)[:MAX_LENGTH] or "(nothing)"


MAX_TOKENS, MAX_CHARACTERS = 4_096, 200_000


async def sample(
    model: LanguageModel, params: CreateMessageRequestParams
) -> CreateMessageResult | ErrorData:
    """The model gets the server's messages and nothing of any conversation."""
    from mcp_types import INVALID_REQUEST, CreateMessageResult, ErrorData, TextContent

    messages = [{"role": "system", "content": params.system_prompt}] if params.system_prompt else []
    for message in params.messages:
        for block in message.content_as_list:
            if not isinstance(block, TextContent):
                problem = "Only text is supported for sampling."
                return ErrorData(code=INVALID_REQUEST, message=problem)
            messages.append({"role": message.role, "content": block.text})
    if sum(len(message["content"]) for message in messages) > MAX_CHARACTERS:
        return ErrorData(code=INVALID_REQUEST, message="The request is too long for sampling.")
    text, reason = "", "endTurn"
    request = ModelRequest(messages, arguments={"max_tokens": min(params.max_tokens, MAX_TOKENS)})
    async with aclosing(model.stream(request)) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, TextChunk):
                text += chunk.text
            elif isinstance(chunk, Finished) and chunk.reason == "length":
                reason = "maxTokens"
    content = TextContent(type="text", text=text)
    return CreateMessageResult(
        role="assistant", content=content, model=model.name or "model", stop_reason=reason
    )


class ServerRequests:
    """Requests of one server. Refused outside of its calls."""

    def __init__(
        self,
        config: ServerConfig,
        model: Callable[[], LanguageModel],
        observe: Observe = ignore_operation,
    ) -> None:
        self._config = config
        self._model = model
        self._observe = observe
        self._calls: list[PendingCall] = []

    @contextmanager
    def during(self, call: PendingCall) -> Iterator[None]:
        """Attribute requests to this call, unless they name their own."""
        self._calls.append(call)
        try:
            yield
        finally:
            self._calls.remove(call)

    async def elicit(self, context: object, params: ElicitRequestParams) -> ElicitResult:  # noqa: ARG002
        from mcp_types import ElicitResult

        # Older servers do not say in which call they ask: then it is in the newest.
        call = current.get() or (self._calls[-1] if self._calls else None)
        if call is None:
            return ElicitResult(action="decline")
        return await elicit(self._config.name, params, call.ask)

    async def sample(
        self,
        context: object,  # noqa: ARG002
        params: CreateMessageRequestParams,
    ) -> CreateMessageResult | ErrorData:
        from mcp_types import INTERNAL_ERROR, INVALID_REQUEST, ErrorData

        if not self._config.entry.sampling or not self._calls:
            return ErrorData(code=INVALID_REQUEST, message="Sampling is not allowed here.")
        began, status = time.monotonic(), "stopped"
        try:
            answer = await sample(self._model(), params)
            status = "invalid" if isinstance(answer, ErrorData) else OK
            return answer
        except CoworkError as error:
            status = error.code
            return ErrorData(code=INTERNAL_ERROR, message=error.message)
        finally:
            self._observe(McpSampled(self._config.name, status, time.monotonic() - began))
