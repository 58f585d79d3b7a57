"""Questions of a server to the user in the middle of a call: one question card for each field.

The card says who asks. Whatever cannot be asked, or is not answered, is declined.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ...domain.replies import Option, Question
from ...policy.visible import visible

if TYPE_CHECKING:
    from mcp_types import ElicitRequestParams, ElicitResult

Ask = Callable[[Question], Awaitable[str | None]]
Answer = str | int | float | bool | list[str] | None

DECLINE, SKIP, DONE = "decline", "skip", "done"
MAX_FIELDS, MAX_OPTIONS, MAX_LENGTH = 20, 50, 2_000
_YES = {"true": True, "false": False}


class _Declined(Exception):
    pass


async def elicit(server: str, params: ElicitRequestParams, ask: Ask) -> ElicitResult:
    from mcp_types import ElicitRequestURLParams, ElicitResult

    said = f"The MCP server '{server}' asks: {_short(params.message)}"
    try:
        if isinstance(params, ElicitRequestURLParams):
            await _send_to(said, params.url, ask)
            return ElicitResult(action="accept")
        return ElicitResult(
            action="accept", content=await _form(said, params.requested_schema, ask)
        )
    except _Declined:
        return ElicitResult(action="decline")


async def _send_to(said: str, url: str, ask: Ask) -> None:
    """The user opens the address, if they want to; nothing opens it for them."""
    options = [Option(label="I have opened it", value=DONE), _decline()]
    context = f"It wants you to open {_short(url)} in your browser. Check the address first."
    question = Question(question=said, context=context, options=options, default=DECLINE)
    if await ask(question) != DONE:
        raise _Declined


async def _form(said: str, schema: dict[str, Any], ask: Ask) -> dict[str, Answer]:
    fields = schema.get("properties")
    if not isinstance(fields, dict) or len(fields) > MAX_FIELDS:
        raise _Declined
    if not fields:
        await _confirm(said, ask)
    required = schema.get("required")
    answers: dict[str, Answer] = {}
    for name, field in fields.items():
        needed = not isinstance(required, list) or name in required
        value = await _field(said, str(name), field if isinstance(field, dict) else {}, needed, ask)
        if value is not None:
            answers[name] = value
    return answers


async def _confirm(said: str, ask: Ask) -> None:
    options = [Option(label="Yes", value=DONE), _decline()]
    if await ask(Question(question=said, options=options, default=DECLINE)) != DONE:
        raise _Declined


async def _field(said: str, name: str, field: dict[str, Any], needed: bool, ask: Ask) -> Answer:
    """Asks again until the answer is valid; None if it was skipped."""
    label = _short(str(field.get("title") or name))
    about = _short(str(field.get("description") or ""))
    choices = _choices(field)
    skip = [] if needed else [Option(label="Skip it", value=SKIP)]
    problem = ""
    while True:
        question = Question(
            question=f"{said}\n{label}",
            context=" ".join(part for part in (about, _hint(field), problem) if part),
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
            return _typed(answer, field)
        except ValueError as error:
            problem = f"({error})"


def _choices(field: dict[str, Any]) -> list[Option]:
    if field.get("type") == "boolean":
        return [Option(label="Yes", value="true"), Option(label="No", value="false")]
    source = field.get("items", {}) if field.get("type") == "array" else field
    source = source if isinstance(source, dict) else {}
    named = source.get("oneOf") or source.get("anyOf")
    if isinstance(named, list):
        pairs = [
            (option.get("const"), option.get("title"))
            for option in named
            if isinstance(option, dict)
        ]
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


def _typed(answer: str, field: dict[str, Any]) -> Answer:
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


def _hint(field: dict[str, Any]) -> str:
    match field.get("type"):
        case "integer":
            return "A whole number."
        case "number":
            return "A number."
        case "array":
            return "One or more, separated by commas."
        case _:
            return ""


def _decline() -> Option:
    return Option(label="Decline", value=DECLINE)


def _short(text: str) -> str:
    return visible(text)[:MAX_LENGTH] or "(nothing)"
