"""Roles of one workspace: ours, the user's, those of plug-ins, and trusted ones it brought.

A role that is not ours is looked up each time its rights are needed. A file that is changed or
removed, or that the user stops trusting, therefore loses its rights at once, also in a current
run.

A declared role is based on one of ours and can only have less than that: a request for more is
refused, so that its author knows that it has no effect.
"""

from __future__ import annotations

import logging
import os
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator

from ..domain.base_models import describe_problems, field_problems
from ..domain.errors import CoworkError, InvalidInput, NotFound
from ..domain.health import Problem
from ..domain.redaction import without_surrogates
from ..domain.roles import AgentRole, Permission, RoleSpec
from ..policy.trust import Offer
from ..workspace import Workspace

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
            names = ", ".join(role.value for role in AgentRole)
            raise InvalidInput(f"based_on: must be one of {names}.")
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


WORKSPACE_FOLDER = ".cowork/roles"
MAX_ROLES = 50

Source = Literal["user", "plugin", "workspace"]


@dataclass(frozen=True)
class Declared:
    """A role that is not ours, with the text that declares it."""

    spec: RoleSpec
    source: Source
    text: str

    @property
    def offer(self) -> Offer:
        return Offer("role", self.spec.name, self.text)


@dataclass(frozen=True)
class Declarations:
    items: list[Declared] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add(self, name: str, source: Source, read: Callable[[], str]) -> None:
        try:
            text = read()
            self.items.append(Declared(_spec(name, text), source, text))
        except CoworkError as error:
            self.skip(name, source, error.message)

    def skip(self, name: str, source: Source, why: str) -> None:
        whose = {"user": "your", "plugin": "a plug-in's", "workspace": "the workspace's"}[source]
        message = f"Skipped {whose} role '{without_surrogates(name)}'. {why}"
        self.problems.append(Problem(code="role_skipped", message=message))


@dataclass
class RoleCatalog:
    user: Path | None = None
    workspace: Path | None = None
    trusts: Callable[[Offer], bool] = lambda _offer: False
    plugins: Callable[[], Declarations] = Declarations
    _seen: dict[Source, tuple[object, Declarations]] = field(default_factory=dict, repr=False)

    def all(self) -> list[AgentRole]:
        return [*AgentRole, *(self._resolve(role.spec.name) for role in self._effective().items)]

    def named(self, name: str) -> AgentRole | None:
        return next((role for role in self.all() if role.value == name), None)

    def chosen(self, name: str) -> AgentRole:
        """Raises InvalidInput if there is no such role."""
        role = self.named(name)
        if role is None:
            names = ", ".join(agent_role.value for agent_role in self.all())
            why = f"role: there is no '{name}'. Choose one of: {names}."
            raise InvalidInput(why, code="unknown_role")
        return role

    def resolve(self, role: AgentRole) -> AgentRole:
        """A stored or received role, with its current rights."""
        return role if role in list(AgentRole) else self._resolve(role.value)

    def delegates_of(self, role: AgentRole) -> list[AgentRole]:
        """Whom it may hand tasks to: those of its declaration; the commander all that there are.

        Delegation does not nest, so none that leads itself.
        """
        leader, own = self.resolve(role), list(AgentRole)
        return [
            other
            for other in self.all()
            if not other.spec.delegates_to
            and (
                leader.may_delegate_to(other) or (role is AgentRole.COMMANDER and other not in own)
            )
        ]

    def offers(self) -> Iterator[Offer]:
        """What came with the workspace, trusted or not."""
        for role in self._in_workspace().items:
            yield role.offer

    def problems(self) -> list[Problem]:
        return self._effective().problems

    def _resolve(self, name: str) -> AgentRole:
        return AgentRole.found_by(name, partial(self._spec_now, name))

    def _spec_now(self, name: str) -> RoleSpec | None:
        specs = (role.spec for role in self._effective().items)
        return next((spec for spec in specs if spec.name == name), None)

    def _effective(self) -> Declarations:
        """The user's own, then plug-ins', then the trusted ones of the workspace."""
        effective = Declarations()
        own = self._in_folder("user", self.user, ".")
        for part in (own, self.plugins(), self._in_workspace()):
            effective.problems.extend(part.problems)
            for role in part.items:
                if role.source == "workspace" and not self.trusts(role.offer):
                    continue
                if any(role.spec.name == other.spec.name for other in effective.items):
                    effective.skip(
                        role.spec.name, role.source, "Another role already has that name."
                    )
                else:
                    effective.items.append(role)
        return effective

    def _in_workspace(self) -> Declarations:
        return self._in_folder("workspace", self.workspace, WORKSPACE_FOLDER)

    def _in_folder(self, source: Source, root: Path | None, folder: str) -> Declarations:
        """Cached until a file changes: rights are needed many times in a turn."""
        if root is None:
            return Declarations()
        mark = _mark(root / folder)
        cached = self._seen.get(source)
        if cached is None or cached[0] != mark:
            cached = self._seen[source] = (mark, _read(source, root, folder))
        return cached[1]


def _read(source: Source, root: Path, folder: str) -> Declarations:
    declarations = Declarations()
    try:
        with Workspace(root).locate(folder) as place:
            files = [entry.name for entry in place.entries()]
    except NotFound:
        return declarations
    except CoworkError as error:
        declarations.skip(folder, source, error.message)
        return declarations
    visible = (name for name in files if name.endswith(".toml") and not name.startswith("."))
    names = [name.removesuffix(".toml") for name in visible]
    for name in names[:MAX_ROLES]:
        declarations.add(name, source, partial(_text, root, f"{folder}/{name}.toml"))
    for name in names[MAX_ROLES:]:
        declarations.skip(name, source, f"Only the first {MAX_ROLES} roles of a folder are read.")
    return declarations


def _mark(folder: Path) -> object:
    """Changes whenever a declaration does: nobody can set back a file's ctime."""
    try:
        with os.scandir(folder) as entries:
            marks = [(entry.name, *_facts(entry)) for entry in entries]
        return os.path.realpath(folder), sorted(marks)
    except OSError:
        return None


def _facts(entry: os.DirEntry[str]) -> tuple[int, ...]:
    try:
        facts = entry.stat()
    except OSError:
        return ()
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


def _text(root: Path, path: str) -> str:
    with Workspace(root).locate(path) as place:
        return place.read_text(MAX_SIZE)


def _spec(name: str, text: str) -> RoleSpec:
    declaration = RoleDeclaration.read(text)
    if declaration.name != name:
        raise InvalidInput(f"name: must be '{name}', as its file is called.")
    return declaration.spec()


logger = logging.getLogger(__name__)

GROUP = "cowork_jupyter.roles"


@cache
def plugin_roles() -> Declarations:
    """Roles of other packages; each entry point loads as the text of a declaration.

    A broken plug-in is reported and skipped, so that the others work.
    """
    declarations = Declarations()
    try:
        points = sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value))
    except Exception as error:
        declarations.skip(GROUP, "plugin", f"Cannot read the list of plug-ins: {error}")
        points = []
    for point in points:
        declarations.add(point.name, "plugin", partial(_load, point))
    return declarations


def _load(point: EntryPoint) -> str:
    try:
        loaded = point.load()
    except (Exception, SystemExit) as error:
        logger.warning("The role plug-in '%s' cannot be loaded", point.name, exc_info=error)
        raise InvalidInput(f"It cannot be loaded: {type(error).__name__}: {error}") from None
    if not isinstance(loaded, str):
        kind = type(loaded).__name__
        raise InvalidInput(f"It is a {kind}, not the text of a declaration in TOML.")
    return loaded
