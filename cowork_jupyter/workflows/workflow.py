"""A workflow: the declaration of a form and of the request that it becomes.

The request is a template with `{names}` of parameters. They are put in as JSON, so that a
path with quotes or a line that looks like an instruction stays what it is: a value.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from inspect import cleandoc
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from ..domain.base_models import MAX_PROBLEMS, describe_problems, field_problems
from ..domain.errors import InvalidInput
from ..domain.roles import AgentRole

_BREAKING = {"Cc", "Cs", "Zl", "Zp"}
"""Unicode categories of control characters, surrogates and line separators."""


def quoted(value: Any) -> str:
    """A value as JSON on one line, so that it cannot become more than a value."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(json.dumps(char)[1:-1] if _breaks(char) else char for char in text)


def _breaks(char: str) -> bool:
    return unicodedata.category(char) in _BREAKING


def in_one_line(text: str, most: int) -> str:
    line = "".join(char for char in " ".join(text.split()) if not _breaks(char))
    return line if len(line) <= most else f"{line[: most - 1]}…"


def assigned(schema: Mapping[str, Any], words: Iterable[str]) -> dict[str, Any]:
    """Parse `name=value`: strings as they are, all else as JSON."""
    fields = schema.get("properties", {})
    values: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not key or not equals:
            why = f"Write parameters as name=value, not '{word}'."
            raise InvalidInput(why, code="bad_parameters")
        values[key] = value if "string" in _types(fields.get(key, {})) else _json(value)
    return values


def _types(field: Mapping[str, Any]) -> set[str]:
    return {str(option.get("type", "")) for option in (field, *field.get("anyOf", []))}


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _one_line(text: str) -> str:
    if any(map(_breaks, text)):
        raise ValueError("must be one line, without control characters")
    return text


def _inside(path: str) -> str:
    """The tools refuse other paths anyway; here the user learns of it at once."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts:
        raise ValueError("must be a path inside the workspace, relative to its top folder")
    return path


def _notebook(path: str) -> str:
    if not path.endswith(".ipynb"):
        raise ValueError("must be a notebook, with a name that ends in .ipynb")
    return path


Line = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=500), AfterValidator(_one_line)
]

FilePath = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=1000),
    AfterValidator(_one_line),
    AfterValidator(_inside),
    Field(json_schema_extra={"format": "path"}),
]

NotebookPath = Annotated[
    FilePath, AfterValidator(_notebook), Field(json_schema_extra={"format": "notebook-path"})
]


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
    recipe: str = field(default="", kw_only=True)
    """The request in one line, for a model that follows recipes; empty if it has none for it."""

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

    def render(self, given: Parameters, *, as_recipe: bool = False) -> str:
        values = given.model_dump(mode="json")

        def has_values(line: str) -> bool:
            return all(values[name] not in _EMPTY for name in PLACE.findall(line))

        def fill(template: str) -> str:
            lines = "\n".join(filter(has_values, cleandoc(template).splitlines()))
            return PLACE.sub(lambda place: quoted(values[place[1]]), lines)

        return (fill(self.recipe) if as_recipe else "") or fill(self.request)

    def ready_plan(self, given: Parameters) -> dict[str, Any] | None:
        return self.make_plan(given) if self.make_plan else None
