"""Agent roles: who the agent is right now, and the most it may ever do.

A role is one declaration: a member of `AgentRole` whose value is a `RoleSpec`.
Everything else (tool filtering, prompts, cards, the HTTP answer) is derived from
it, so adding a role means adding a member here and its prompt file, nothing more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any


class Permission(StrEnum):
    """One thing a role may be allowed to do to the workspace."""

    READ_FILES = "read_files"
    WRITE_FILES = "write_files"
    CREATE_FILES = "create_files"
    DELETE_FILES = "delete_files"
    EXECUTE_COMMANDS = "execute_commands"


_READ = frozenset({Permission.READ_FILES})


@dataclass(frozen=True)
class RoleSpec:
    """All that is known about one role."""

    name: str
    label: str
    icon: str
    """Name of an icon that the front end draws."""
    colour: str
    """Name of a theme colour; the style sheet maps it for light and dark."""
    description: str
    permissions: frozenset[Permission] = _READ
    delegates_to: tuple[str, ...] = ()
    formats: tuple[str, ...] = ("question",)
    """Structured replies this role is told about, beside text and tool calls."""
    commands_may_write: bool = False
    """Whether commands it runs may change the workspace (the sandbox enforces it)."""

    @property
    def prompt_file(self) -> str:
        """File under `llm/prompts/roles` that tells the model how to be this role."""
        return f"{self.name}.md"


class AgentRole(str, Enum):
    """The roles. The string value is the stored and transmitted name."""

    spec: RoleSpec

    def __new__(cls, spec: Any) -> AgentRole:
        """A member is its name as a string, and carries its declaration."""
        member = str.__new__(cls, spec.name)
        member._value_ = spec.name
        member.spec = spec
        return member

    PLANNER = RoleSpec(
        name="planner",
        label="Planner",
        icon="search",
        colour="blue",
        description="Reads, asks and plans. Changes nothing.",
        formats=("plan", "question"),
    )
    ACTOR = RoleSpec(
        name="actor",
        label="Actor",
        icon="bolt",
        colour="green",
        description="Executes the approved plan. Asks before anything beyond it.",
        permissions=frozenset(Permission),
        commands_may_write=True,
    )
    COMMANDER = RoleSpec(
        name="commander",
        label="Commander",
        icon="compass",
        colour="purple",
        description="Reads, splits up the work and delegates it to the other roles.",
        delegates_to=("planner", "actor", "designer", "reviewer", "tester"),
        formats=("plan", "question"),
    )
    DESIGNER = RoleSpec(
        name="designer",
        label="Designer",
        icon="pencil",
        colour="orange",
        description="Reads and creates new files. Leaves existing files unchanged.",
        permissions=_READ | {Permission.CREATE_FILES},
    )
    REVIEWER = RoleSpec(
        name="reviewer",
        label="Reviewer",
        icon="eye",
        colour="teal",
        description="Reads and gives a structured review. Changes nothing.",
        formats=("review", "question"),
    )
    TESTER = RoleSpec(
        name="tester",
        label="Tester",
        icon="flask",
        colour="pink",
        description="Reads and runs commands while the workspace is read-only.",
        permissions=_READ | {Permission.EXECUTE_COMMANDS},
    )

    def __str__(self) -> str:
        return str(self.value)

    def permits(self, needed: Iterable[Permission]) -> bool:
        """Whether this role holds ALL of the permissions."""
        return self.spec.permissions.issuperset(needed)

    def may_delegate_to(self, other: AgentRole) -> bool:
        """Whether this role may hand a task to the other."""
        return other.value in self.spec.delegates_to


DEFAULT_ROLE = AgentRole.ACTOR
"""What a context without a stored role is: the behaviour from before roles existed."""
