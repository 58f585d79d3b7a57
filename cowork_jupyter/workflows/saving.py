"""Makes a template of a plan: the values to vary become named placeholders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from ..domain.base_models import field_problems
from ..domain.errors import InvalidInput
from ..domain.plan import Plan
from .template import (
    MAX_PARAMETERS,
    Kind,
    SavedPlan,
    Template,
    TemplateParameter,
    filled,
    places,
    shortened,
    texts_of,
    with_texts,
)
from .workflow import NAME, Parameters

MAX_NAME_LENGTH = 50


class Varying(BaseModel):
    """What is to be different each time, by the value it has in the plan.

    Without a value, the plan holds its `{name}` already.
    """

    name: str
    value: str | None = None
    title: str = ""
    description: str = ""
    type: Kind | None = None
    """If unset, a path if a step names it among its files, otherwise text."""
    default: str | None = None


class Draft(BaseModel):
    """What the user says of a template that they want to save."""

    name: str
    title: str = ""
    description: str = ""
    parameters: list[Varying] = []


def template_of(draft: Draft, plan: Plan) -> Template:
    """Raises InvalidInput that names the invalid field."""
    if not NAME.fullmatch(draft.name) or len(draft.name) > MAX_NAME_LENGTH:
        wanted = f"at most {MAX_NAME_LENGTH} lower-case letters, digits and _"
        raise _refusal(f"name: must be {wanted}, and start with a letter")
    _check_values(draft.parameters, plan)
    placed = _with_places(plan, draft.parameters)
    saved = {
        "title": draft.title or draft.name.replace("_", " ").strip().capitalize(),
        "description": draft.description or shortened(placed.goal),
        "parameters": [_declared(parameter, placed) for parameter in draft.parameters],
        "plan": placed.model_dump(),
    }
    return _template(draft.name, saved)


class TemplateEdit(BaseModel):
    """What becomes different about a template; what is None stays."""

    title: str | None = None
    description: str | None = None
    parameters: list[TemplateParameter] | None = None
    """All that still vary. What is left out becomes fixed, at its default or its first value."""

    @classmethod
    def read(cls, given: dict[str, Any]) -> TemplateEdit:
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            raise _refusal(str(field_problems(error)[0])) from None


def edited(template: Template, edit: TemplateEdit) -> Template:
    """Apply an edit; the steps are those of a plan, and stay."""
    before = template.saved
    kept = before.parameters if edit.parameters is None else edit.parameters
    names = {parameter.name for parameter in kept}
    fixed = {each.name: _fixed_value(each) for each in before.parameters if each.name not in names}
    saved = {
        "title": before.title if edit.title is None else edit.title,
        "description": before.description if edit.description is None else edit.description,
        "parameters": [parameter.model_dump() for parameter in kept],
        "plan": filled(before.plan, fixed).model_dump(),
    }
    return _template(template.name, saved)


def _fixed_value(parameter: TemplateParameter) -> str:
    value = parameter.example if parameter.default is None else parameter.default
    if value is None:
        why = f"'{parameter.name}' has no value to be fixed at; give it a default first"
        raise _refusal(f"parameters: {why}")
    return value


def _template(name: str, saved: dict[str, Any]) -> Template:
    try:
        return Template.of(name, SavedPlan.model_validate(saved))
    except ValidationError as error:
        raise _refusal(str(field_problems(error)[0])) from None


def _check_values(parameters: Sequence[Varying], plan: Plan) -> None:
    placeholders, values = places(plan), [parameter.value for parameter in parameters]
    for index, parameter in enumerate(parameters):
        if parameter.value is None:
            continue
        if not parameter.value.strip():
            raise _refusal(f"parameters[{index}].value: is empty")
        if parameter.value in values[:index]:
            raise _refusal(f"parameters[{index}].value: another parameter has the same value")
        if parameter.name in placeholders:
            why = f"the plan already contains '{{{parameter.name}}}' with another meaning"
            raise _refusal(f"parameters[{index}].name: {why}")


def _with_places(plan: Plan, parameters: Sequence[Varying]) -> Plan:
    """Replace all values at once, the longest first."""
    names = {parameter.value: parameter.name for parameter in parameters if parameter.value}
    if not names:
        return with_texts(plan, str)
    replaced: set[str] = set()
    by_length = sorted(names, key=len, reverse=True)
    any_value = re.compile("|".join(map(as_a_whole, by_length)))

    def place(match: re.Match[str]) -> str:
        replaced.add(match[0])
        return f"{{{names[match[0]]}}}"

    placed = with_texts(plan, lambda text: any_value.sub(place, text))
    for index, parameter in enumerate(parameters):
        if parameter.value and parameter.value not in replaced:
            why = f"'{shortened(parameter.value)}' does not occur in the plan"
            raise _refusal(f"parameters[{index}].value: {why}")
    return placed


def as_a_whole(value: str) -> str:
    """A pattern of the value with word boundaries at its ends, so that `1` is not in `10`."""
    before = r"(?<![A-Za-z0-9])" if re.match("[A-Za-z0-9]", value) else ""
    after = r"(?![A-Za-z0-9])" if re.search("[A-Za-z0-9]$", value) else ""
    return f"{before}{re.escape(value)}{after}"


def _declared(variation: Varying, placed: Plan) -> dict[str, str | None]:
    return {
        "name": variation.name,
        "title": variation.title,
        "description": variation.description,
        "type": variation.type or _kind(variation, placed),
        "default": variation.default,
        "example": variation.value,
    }


def _kind(variation: Varying, placed: Plan) -> Kind:
    if not any(f"{{{variation.name}}}" in step.files for step in placed.steps):
        return "text"
    return "notebook" if (variation.value or "").endswith(".ipynb") else "path"


def _refusal(why: str) -> InvalidInput:
    return InvalidInput(why, code="invalid_template")


Nature = Literal["file", "date", "column", "text", "number"]

_ENDINGS = (
    "csv|tsv|parquet|feather|jsonl?|xlsx?|ods|txt|md|html|pdf|png|svg|jpg|py|ipynb|sql|sqlite|db|"
    "duckdb|ya?ml|toml|pkl|np[yz]|zip|gz"
)
_PATH = re.compile(rf"(?<![\w./-])(?:[\w-]+/)*[\w-][\w.-]*\.(?:{_ENDINGS})(?![\w/])")
_DATE = re.compile(
    r"(?<![\w-])\d{4}-\d{2}(?:-\d{2})?(?![\w-])|(?<![\w.])\d{1,2}\.\d{1,2}\.\d{4}(?!\w)"
)
_CODE = re.compile(r"`([^`\n]{1,80})`")
_QUOTED = re.compile(r'"([^"\n]{1,80})"|“([^”\n]{1,80})”|(?<!\w)\'([^\'\n]{1,80})\'(?!\w)')
_NUMBER = re.compile(r"(?:\b([A-Za-z]{3,20})[ =]+)?(?<![\w.,-])(-?\d+(?:[.,]\d+)*)(?![\w.]*\w|-\d)")
_NOT_NAMES = {"the", "and", "for", "from", "with", "into", "than"}


class OfferedParameter(BaseModel):
    """A value that stands in a plan, with a name it could have."""

    name: str
    value: str
    type: Kind
    nature: Nature


def offered_parameters(plan: Plan) -> list[OfferedParameter]:
    texts = list(texts_of(plan))
    taken, offers = places(plan), dict[str, OfferedParameter]()
    for nature, value, hint in _varying_values(plan, texts):
        value = value.strip()
        if not value or value in offers:
            continue
        if not any(re.search(as_a_whole(value), text) for text in texts):
            continue  # it would not be found when it is to be replaced
        name = _free(hint or nature, taken)
        taken.add(name)
        kind: Kind = "text"
        if nature == "file":
            kind = "notebook" if value.endswith(".ipynb") else "path"
        offers[value] = OfferedParameter(name=name, value=value, type=kind, nature=nature)
    return list(offers.values())[:MAX_PARAMETERS]


def chosen_parameters(
    words: Iterable[str], offers: Iterable[OfferedParameter]
) -> list[dict[str, str]]:
    """Parse what the user typed: `name=value` for a value of the plan, or the name of an offer."""
    values = {offer.name: offer.value for offer in offers}
    chosen = []
    for word in words:
        name, equals, value = word.partition("=")
        if not equals and name not in values:
            could = f" It could be: {', '.join(values)}." if values else ""
            why = f"Write parameters as name=value, not '{word}'.{could}"
            raise InvalidInput(why, code="bad_parameters")
        chosen.append({"name": name, "value": value if equals else values[name]})
    return chosen


def _varying_values(plan: Plan, texts: list[str]) -> Iterator[tuple[Nature, str, str]]:
    for path in (path for step in plan.steps for path in step.files):
        yield "file", path, _file_hint(path)
    for path in (match[0] for text in texts for match in _PATH.finditer(text)):
        yield "file", path, _file_hint(path)
    yield from (("date", match[0], "") for text in texts for match in _DATE.finditer(text))
    for expectation in (expected for step in plan.steps for expected in step.expects):
        yield "column", expectation.column or "", ""
    yield from (("column", match[1], "") for text in texts for match in _CODE.finditer(text))
    for match in (match for text in texts for match in _QUOTED.finditer(text)):
        yield "text", next(filter(None, match.groups())), ""
    bare = (_NUMBERLESS.sub(" ", text) for text in texts)
    for match in (match for text in bare for match in _NUMBER.finditer(text)):
        word = (match[1] or "").lower()
        if word not in ("step", "steps"):
            yield "number", match[2], "" if word in _NOT_NAMES else word


_NUMBERLESS = re.compile("|".join(pattern.pattern for pattern in (_PATH, _DATE, _CODE, _QUOTED)))
"""What contains numbers that are part of something else."""


def _file_hint(path: str) -> str:
    return "notebook" if path.endswith(".ipynb") else ""


def _free(hint: str, taken: set[str]) -> str:
    base = hint if NAME.fullmatch(hint) and len(hint) < MAX_NAME_LENGTH else "value"
    base = f"{base}_value" if hasattr(Parameters, base) else base
    candidates = (base if n == 1 else f"{base}_{n}" for n in range(1, len(taken) + 2))
    return next(name for name in candidates if name not in taken)
