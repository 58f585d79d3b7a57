"""Makes a template of a plan: the values to vary become named placeholders."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from ..domain.errors import InvalidInput
from ..domain.plan import Plan
from ..domain.validation import field_problems
from .template import (
    Kind,
    SavedPlan,
    Template,
    TemplateParameter,
    filled,
    places,
    shortened,
    with_texts,
)
from .workflow import NAME

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
        "title": draft.title or _as_title(draft.name),
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
    fixed = {
        parameter.name: _standard(parameter)
        for parameter in before.parameters
        if parameter.name not in names
    }
    saved = {
        "title": before.title if edit.title is None else edit.title,
        "description": before.description if edit.description is None else edit.description,
        "parameters": [parameter.model_dump() for parameter in kept],
        "plan": filled(before.plan, fixed).model_dump(),
    }
    return _template(template.name, saved)


def _standard(parameter: TemplateParameter) -> str:
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
    known, values = places(plan), [parameter.value for parameter in parameters]
    for index, parameter in enumerate(parameters):
        if parameter.value is None:
            continue
        if not parameter.value.strip():
            raise _refusal(f"parameters[{index}].value: is empty")
        if parameter.value in values[:index]:
            raise _refusal(f"parameters[{index}].value: another parameter has the same value")
        if parameter.name in known:
            why = f"the plan already contains '{{{parameter.name}}}' with another meaning"
            raise _refusal(f"parameters[{index}].name: {why}")


def _with_places(plan: Plan, parameters: Sequence[Varying]) -> Plan:
    """Replace all values at once, the longest first."""
    names = {parameter.value: parameter.name for parameter in parameters if parameter.value}
    if not names:
        return with_texts(plan, str)
    found: set[str] = set()
    by_length = sorted(names, key=len, reverse=True)
    any_value = re.compile("|".join(map(as_a_whole, by_length)))

    def place(match: re.Match[str]) -> str:
        found.add(match[0])
        return f"{{{names[match[0]]}}}"

    placed = with_texts(plan, lambda text: any_value.sub(place, text))
    for index, parameter in enumerate(parameters):
        if parameter.value and parameter.value not in found:
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
    """A path if a step has it among its files."""
    if not any(f"{{{variation.name}}}" in step.files for step in placed.steps):
        return "text"
    return "notebook" if (variation.value or "").endswith(".ipynb") else "path"


def _as_title(name: str) -> str:
    return name.replace("_", " ").strip().capitalize()


def _refusal(why: str) -> InvalidInput:
    return InvalidInput(why, code="invalid_template")
