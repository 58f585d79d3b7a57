"""What only the user can decide, in the protocol's forms: permissions, questions, answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from acp import schema
from acp.helpers import text_block, tool_content

from ...agents.ask.user import Ruling
from ...domain.events import ChosenScope, PermissionRequested
from ...domain.replies import Question
from ...record.markdown import fenced
from .updates import Content, Portrayal

ANSWER, OTHER = "answer", "other"
"""Fields of a question's form."""
_DISMISSED = "The user closed the request without deciding."

_NAMES: dict[str, str] = {
    "once": "once",
    "session": "for this conversation",
    "workspace": "always in this workspace",
}
_OFFERED: tuple[tuple[str, ChosenScope, schema.PermissionOptionKind], ...] = (
    ("allow", "once", "allow_once"),
    ("allow", "session", "allow_always"),
    ("allow", "workspace", "allow_always"),
    ("deny", "once", "reject_once"),
    ("deny", "workspace", "reject_always"),
)
"""Of two of a kind the one that lasts less comes first: clients that decide by kind take it."""


def permission_options(
    scopes: Sequence[str], rules: Iterable[str]
) -> list[schema.PermissionOption]:
    """What can be chosen; what lasts says which rules it would write."""
    written = ", ".join(rules)
    words = {"allow": "Allow", "deny": "Do not allow"}
    return [
        schema.PermissionOption(
            option_id=f"{decision}:{scope}",
            name=f"{words[decision]} {_NAMES[scope]}" + (f": {written}" if scope != "once" else ""),
            kind=kind,
        )
        for decision, scope, kind in _OFFERED
        if scope in scopes
    ]


def ruling(outcome: object, offered: Iterable[schema.PermissionOption]) -> Ruling:
    """The decision behind a chosen option. Whatever was not offered is no permission."""
    chosen = getattr(outcome, "option_id", None)
    if chosen not in {option.option_id for option in offered}:
        return Ruling(decision="deny", feedback=_DISMISSED)
    decision, _, scope = str(chosen).partition(":")
    return Ruling.model_validate({"decision": decision, "scope": scope})


def permission_call(
    call_id: str, request: PermissionRequested, portrayal: Portrayal
) -> schema.ToolCallUpdate:
    """The call that waits, with all that the user needs to judge it."""
    parameters, preview = request.parameters, request.shown
    path = parameters.get("path")
    about = [] if request.resource in (request.tool, *parameters.values()) else [request.resource]
    why = "\n".join([*about, *request.why, *_beyond_recall(request.uncovered)])
    content: list[Content] = [tool_content(text_block(why))] if why else []
    changes: list[Content] = []
    if preview.kind == "diff" and isinstance(path, str):
        changes = portrayal.changes(path, preview.text)
    content += changes or [tool_content(text_block(fenced(preview.text)))]
    return schema.ToolCallUpdate(
        tool_call_id=call_id,
        title=portrayal.title(request.tool, parameters),
        kind=portrayal.kind(request.tool),
        status="pending",
        content=content,
        locations=portrayal.places([path]) or None,
        raw_input=parameters,
        field_meta={"risk": request.risk, "role": request.agent_role},
    )


def _beyond_recall(uncovered: Sequence[str]) -> list[str]:
    return [f"A rollback cannot undo: {', '.join(uncovered)}."] if uncovered else []


def question_text(question: Question) -> str:
    """A question for a client without forms: the next prompt is the answer."""
    lines = [f"**{question.question}**", ""]
    if question.context:
        lines += [question.context, ""]
    for number, option in enumerate(question.options, start=1):
        more = f": {option.description}" if option.description else ""
        lines.append(f"{number}. {option.label}{more}")
    how = "Answer with a number" if question.options else "Answer with your next message"
    free = ", or in your own words" if question.options and question.allow_custom else ""
    return "\n".join([*lines, "", f"*{how}{free}.*"]) + "\n\n"


def answer_in(text: str, question: Question) -> str | None:
    """The answer that somebody's words give: a number, a label or a value; None if none."""
    said = text.strip()
    for number, option in enumerate(question.options, start=1):
        if said.casefold() in {str(number), option.label.casefold(), option.value.casefold()}:
            return option.value
    return said if said and question.accepts(said) else None


def question_form(question: Question) -> schema.ElicitationSchema:
    """A question for a client that can show forms."""
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


def answer_of_form(content: Mapping[str, Any], question: Question) -> str | None:
    """What was filled in, if it is an answer."""
    given = content.get(OTHER) or content.get(ANSWER) or ""
    value = str(getattr(given, "root", given)).strip()
    return value if value and question.accepts(value) else None
