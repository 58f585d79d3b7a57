"""A workflow: the declaration of a form and of the request that it becomes.

The request is a template with `{names}` of parameters. They are put in as JSON, so that a
path with quotes or a line that looks like an instruction stays what it is: a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from inspect import cleandoc
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from ..domain.errors import InvalidInput
from ..domain.roles import AgentRole
from ..domain.validation import MAX_PROBLEMS, describe_problems, field_problems
from .fields import quoted

PLACE = re.compile(r"\{(\w+)\}")
NAME = re.compile(r"[a-z][a-z0-9_]*")
_EMPTY: tuple[Any, ...] = (None, "", [])


class Parameters(BaseModel):
    """Base of every workflow's parameters: strict about names, so that typos are noticed."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=())


@dataclass(frozen=True)
class Workflow:
    name: str
    """Its name in URLs and magics: lower-case letters, digits and `_`."""
    title: str
    description: str
    """One sentence: what the user gets."""
    category: str
    role: AgentRole
    """Who works on it; the role also limits what the workflow may do."""
    parameters: type[Parameters]
    request: str
    """The template. A line with a parameter that was left empty is left out."""
    make_plan: Callable[[Any], dict[str, Any]] | None = field(default=None, kw_only=True)
    """Makes the plan from its parameters, where the steps are always the same."""

    def __post_init__(self) -> None:
        for name in ("name", "title", "description", "category", "request"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name).strip():
                raise TypeError(f"its {name} must be a text")
        if not NAME.fullmatch(self.name):
            raise ValueError("its name must consist of lower-case letters, digits and _")
        if not isinstance(self.role, AgentRole):
            raise TypeError("its role must be an AgentRole")
        if not (isinstance(self.parameters, type) and issubclass(self.parameters, Parameters)):
            raise TypeError("its parameters must be a subclass of Parameters")
        fields, places = set(self.parameters.model_fields), set(PLACE.findall(self.request))
        if fields != places:
            odd = ", ".join(sorted(fields ^ places))
            raise ValueError(f"its request and its parameters do not both name: {odd}")

    @cached_property
    def schema(self) -> dict[str, Any]:
        return self.parameters.model_json_schema()

    def validated(self, raw: dict[str, Any]) -> Parameters:
        """Raises one InvalidInput that names each bad parameter and says why."""
        try:
            return self.parameters.model_validate(raw)
        except ValidationError as error:
            problems = field_problems(error, self.parameters.model_fields)[:MAX_PROBLEMS]
        raise InvalidInput(
            describe_problems(problems),
            code="bad_parameters",
            details={"problems": [problem._asdict() for problem in problems]},
        )

    def render(self, given: Parameters) -> str:
        values = given.model_dump(mode="json")

        def is_said(line: str) -> bool:
            return all(values[name] not in _EMPTY for name in PLACE.findall(line))

        template = "\n".join(filter(is_said, cleandoc(self.request).splitlines()))
        return PLACE.sub(lambda place: quoted(values[place[1]]), template)

    def ready_plan(self, given: Parameters) -> dict[str, Any] | None:
        return self.make_plan(given) if self.make_plan else None
