"""Agent roles and their rights.

A role is declared in a TOML file. Those in `cowork_jupyter/roles` are the members of `AgentRole`;
others are declared by users, workspaces and plug-ins (`roles/catalog.py`). Tool filtering, prompts,
cards and the HTTP answer derive from the declaration, so adding a role means adding its file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any


class Permission(StrEnum):
    """A permission to act on the workspace."""

    READ_FILES = "read_files"
    WRITE_FILES = "write_files"
    CREATE_FILES = "create_files"
    DELETE_FILES = "delete_files"
    EXECUTE_COMMANDS = "execute_commands"


_READ = frozenset({Permission.READ_FILES})
_NAME = re.compile(r"[a-z][a-z0-9_-]{1,39}")
_DECLARATIONS = Path(__file__).parent.parent / "roles"
_FIRST = ("planner", "actor")
"""Listed first; the others follow by name."""


@dataclass(frozen=True)
class RoleSpec:
    name: str
    label: str
    icon: str
    colour: str
    """Theme colour; the style sheet maps it for light and dark."""
    description: str
    permissions: frozenset[Permission] = _READ
    delegates_to: tuple[str, ...] = ()
    formats: tuple[str, ...] = ("question",)
    """Structured replies this role is told about, beside text and tool calls."""
    commands_may_write: bool = False
    """Whether its commands may change the workspace (enforced by the sandbox)."""
    prompt: str = ""

    def holds_at_most(self, other: RoleSpec) -> bool:
        writes = self.commands_may_write and not other.commands_may_write
        return self.permissions <= other.permissions and not writes

    @property
    def prompt_file(self) -> str:
        """Under `llm/prompts/roles`, for our own roles."""
        return f"{self.name}.md"


def _declared() -> Iterator[RoleSpec]:
    """Our own roles. Their files are checked by a test, not here."""

    def place(file: Path) -> tuple[int, str]:
        return _FIRST.index(file.stem) if file.stem in _FIRST else len(_FIRST), file.stem

    for file in sorted(_DECLARATIONS.glob("*.toml"), key=place):
        fields: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
        fields["permissions"] = frozenset(map(Permission, fields["permissions"]))
        lists = {name: tuple(field) for name, field in fields.items() if isinstance(field, list)}
        yield RoleSpec(**(fields | lists))


def _unknown(name: str) -> RoleSpec:
    """A role that is declared nowhere, or not trusted, may only read."""
    return RoleSpec(
        name=name,
        label=re.sub(r"[_-]+", " ", name).capitalize(),
        icon="person",
        colour="grey",
        description="Unknown role: it can only read.",
        prompt=f"You are operating in {name.upper()} role. Its purpose is no longer known. You "
        "may only read. Answer from what you can read, and say what you could not do.",
    )


class AgentRole(str, Enum):
    """The roles. The string value is the stored and transmitted name.

    The members are our own roles. `AgentRole(name)` of any other name is a role that nobody has
    declared, which may read and nothing else; only the catalogue of a workspace makes more of it,
    for that workspace, and looks up what it may do each time that is asked.
    """

    _find: Callable[[], RoleSpec | None]

    def __new__(cls, spec: Any) -> AgentRole:
        member = str.__new__(cls, spec.name)
        member._value_ = spec.name
        member._find = lambda: spec
        return member

    if TYPE_CHECKING:
        PLANNER = "planner"
        ACTOR = "actor"
        COMMANDER = "commander"
        DESIGNER = "designer"
        REVIEWER = "reviewer"
        TESTER = "tester"
    else:
        vars().update({spec.name.upper(): spec for spec in _declared()})

    @classmethod
    def _missing_(cls, value: object) -> AgentRole | None:
        is_name = isinstance(value, str) and _NAME.fullmatch(value)
        return cls.found_by(str(value), lambda: None) if is_name else None

    @classmethod
    def found_by(cls, name: str, find: Callable[[], RoleSpec | None]) -> AgentRole:
        """A foreign role: `find` returns its current declaration, None if unknown."""
        role = str.__new__(cls, name)
        role._name_, role._value_, role._find = name.upper(), name, find
        return role

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        """Clients should expect roles that we do not know."""
        described: dict[str, Any] = handler.resolve_ref_schema(handler(schema))
        described.pop("enum", None)
        described["pattern"] = f"^{_NAME.pattern}$"
        described["examples"] = [role.value for role in cls]
        return described

    def __reduce_ex__(self, _protocol: object) -> tuple[Any, ...]:
        """Without a catalogue, as in a worker, a role is what it was when it was sent."""
        return _revived, (self._value_, self._find())

    def __str__(self) -> str:
        return str(self.value)

    @property
    def spec(self) -> RoleSpec:
        """The current declaration. A role that is not trusted any more may only read."""
        return self._find() or _unknown(self._value_)

    @property
    def is_known(self) -> bool:
        return self._find() is not None

    def permits(self, needed: Iterable[Permission]) -> bool:
        """Whether this role holds ALL of the permissions."""
        return self.spec.permissions.issuperset(needed)

    def may_delegate_to(self, other: AgentRole) -> bool:
        """By its declaration; the catalogue knows all that the commander leads."""
        return other.value in self.spec.delegates_to


def _revived(name: str, spec: RoleSpec | None) -> AgentRole:
    role = AgentRole(name)
    return role if role.is_known or spec is None else AgentRole.found_by(name, lambda: spec)


DEFAULT_ROLE = AgentRole.ACTOR
"""Contexts without a stored role behave as before roles existed."""
