"""The format of a role's file.

A declared role is based on one of ours and can only have less than that: a request for more is
refused, so that its author knows that it has no effect.
"""

from __future__ import annotations

import tomllib
from typing import Annotated, Literal, Self, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator

from ..domain.base_models import describe_problems, field_problems
from ..domain.errors import InvalidInput
from ..domain.roles import AgentRole, Permission, RoleSpec

MAX_SIZE = 8 * 1024
"""Bytes of a declaration, so that users see all of what they trust."""
Icon = Literal[
    "search",
    "bolt",
    "compass",
    "pencil",
    "eye",
    "flask",
    "person",
    "book",
    "chart",
    "gear",
    "shield",
    "table",
]
"""What the front end draws: see `js/src/shared/ui/icons.tsx`."""
Colour = Literal["blue", "green", "purple", "orange", "teal", "pink", "brown", "grey"]
"""What the style sheet has for light and dark: see `js/style/tokens.css`."""
Format = Literal["plan", "question", "review"]

_RESERVED = frozenset({"plan", "act", "ask", "cowork", "default", "unknown"})
_WRITING = {Permission.WRITE_FILES, Permission.CREATE_FILES, Permission.DELETE_FILES}


def _plain(text: str) -> str:
    """No line breaks, and nothing that hides or reverses the text beside it."""
    if not text.isprintable() or text != text.strip():
        raise ValueError("must be one line of visible characters")
    return text


class RoleDeclaration(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{1,39}$")]
    label: Annotated[str, Field(min_length=1, max_length=40), AfterValidator(_plain)]
    description: Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_plain)]
    icon: Icon = "person"
    colour: Colour = "grey"
    based_on: str = ""
    """The role of ours whose rights are the upper bound."""
    permissions: list[Permission] | None = None
    delegates_to: list[str] | None = None
    formats: list[Format] | None = None
    commands_may_write: bool | None = None
    prompt: Annotated[str, Field(max_length=8_000)] = ""

    @classmethod
    def read(cls, text: str) -> Self:
        try:
            fields = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise InvalidInput(f"It is not valid TOML: {error}.") from None
        try:
            return cls.model_validate(fields)
        except ValidationError as error:
            problems = field_problems(error, cls.model_fields)
            raise InvalidInput(f"{describe_problems(problems)}.") from None

    @field_validator("name")
    @classmethod
    def _is_free(cls, name: str) -> str:
        if name in _RESERVED:
            raise ValueError(f"'{name}' is reserved")
        return name

    def spec(self) -> RoleSpec:
        if AgentRole(self.name) in list(AgentRole):
            raise InvalidInput(f"name: '{self.name}' is a built-in role.")
        base = next((role.spec for role in AgentRole if role.value == self.based_on), None)
        if base is None:
            known = ", ".join(role.value for role in AgentRole)
            raise InvalidInput(f"based_on: must be one of {known}.")
        if not self.prompt.strip():
            raise InvalidInput("prompt: is missing. Tell the model how to act in this role.")
        permissions = base.permissions if self.permissions is None else frozenset(self.permissions)
        delegates = base.delegates_to if self.delegates_to is None else tuple(self.delegates_to)
        self._check_most("permissions", permissions - base.permissions)
        excess = set(delegates) - set(base.delegates_to)
        if base.delegates_to:  # a leader may also lead declared roles, which are looked up then
            excess &= {self.name, *(role.value for role in AgentRole)}
        self._check_most("delegates_to", excess)
        if Permission.READ_FILES not in permissions:
            raise InvalidInput("permissions: read_files is missing; every role reads.")
        # Commands could do what the role itself may not.
        may_write = base.commands_may_write and permissions >= _WRITING
        if self.commands_may_write and not may_write:
            raise InvalidInput(
                "commands_may_write: needs a base whose commands may write, and the permissions "
                "to write, create and delete files."
            )
        return RoleSpec(
            name=self.name,
            label=self.label,
            icon=self.icon,
            colour=self.colour,
            description=self.description,
            permissions=permissions,
            delegates_to=delegates,
            formats=base.formats if self.formats is None else tuple(dict.fromkeys(self.formats)),
            commands_may_write=may_write and self.commands_may_write is not False,
            prompt=f"You are operating in {self.name.upper()} role. {self.prompt.strip()}",
        )

    def _check_most(self, field: str, excess: set[str] | frozenset[Permission]) -> None:
        if excess:
            more = ", ".join(sorted(map(str, excess)))
            raise InvalidInput(f"{field}: {more} is more than the {self.based_on} may have.")


ICONS: tuple[str, ...] = get_args(Icon)
COLOURS: tuple[str, ...] = get_args(Colour)
