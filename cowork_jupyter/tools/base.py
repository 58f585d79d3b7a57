"""What a tool is: a typed function with permissions, and what it gives back.

A tool is declared by decorating an async function. Its name is the function's name,
its description the docstring's first paragraph, its parameters the pydantic model
that annotates the first argument:

    @tool(category="files", permissions=[Permission.READ_FILES], idempotent=True)
    async def read_file(parameters: ReadFile, context: ToolContext) -> ToolResult:
        \"\"\"Read a text file, whole or some lines of it.\"\"\"
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict

from ..domain.cell_changes import CellEdit
from ..domain.guidance import Guidance
from ..domain.message_data import ToolFacts
from ..domain.messages import ImagePart
from ..domain.redaction import Mask
from ..domain.replies import Question
from ..domain.roles import AgentRole, Permission
from ..policy.calls import Preview
from ..policy.paths import AnchorDirs, target_of
from ..policy.protected import hidden_files, is_secret
from ..policy.rules import Rule, matches_path
from ..workspace import GuardedWorkspace, Pin, Workspace
from ..workspace.sandbox.autorun import NOTHING_OPENED, Opened
from ..workspace.sandbox.sandbox import Sandbox
from .kernel.state import ConfinedKernel, Kernels, NoKernels
from .notebook.state import Notebooks
from .notebook.stored import NotebookFiles

SCRATCH = "scratch"
"""Where code runs that can change nothing, as the parameter `where` calls it."""


class ToolParameters(BaseModel):
    """Base of every tool's parameters: strict about names, so typos reach the model."""

    model_config = ConfigDict(extra="forbid")


async def nobody_answers(_question: Question) -> str | None:
    """Where there is no user to ask."""
    return None


@dataclass(frozen=True)
class Remark:
    """One thing that was said in a conversation."""

    speaker: str
    at: str
    text: str
    step_id: str | None = None
    """The step of a plan in which it was said."""


def nobody_follows(_server: str, _uri: str) -> None:
    """Where nobody hears of changes."""


def nothing_closed(_tools: Sequence[str]) -> set[str]:
    """Where there are no rules."""
    return set()


def nothing_said(_query: str, _limit: int) -> list[Remark]:
    """Where there is no conversation."""
    return []


@dataclass(frozen=True)
class Clearance:
    """Leave to run one call. Plain values, so that it can travel to another machine."""

    pins: Mapping[str, Pin] = field(default_factory=dict)
    unreadable: tuple[Rule, ...] = ()
    """Rules that keep what searches come across from being read."""
    approved: bool = False
    """Whether the user was asked about this very call."""
    sensitive: bool = False
    """Whether its result may hold secrets, which then stay out of what is given to others."""
    network: bool = False
    """Whether a command may use the network: it was shown to the user, or a rule allows it."""
    opened: Opened = NOTHING_OPENED
    """What a command may write of that which runs later, outside of the sandbox."""
    code: str | None = None
    """The code that was decided about, and no other may run; None where nobody decides."""
    tool: str | None = None
    """The fingerprint of the tool that was decided about; None where nobody decides."""

    def guard(self, workspace: Workspace) -> Workspace:
        """The workspace as the cleared call may see it."""
        anchors = AnchorDirs.of(workspace.root)
        return GuardedWorkspace(workspace, self.pins, lambda path: self._hides(path, anchors))

    def hidden_files(self, workspace: Workspace) -> dict[str, int]:
        """What code must not come across in the workspace: files that would ask to be read."""
        return hidden_files(AnchorDirs.of(workspace.root), self.unreadable)

    def _hides(self, path: str, anchors: AnchorDirs) -> bool:
        target = target_of(anchors, path)
        return is_secret(target) or any(
            not rule.is_bare and matches_path(rule, target, anchors) for rule in self.unreadable
        )


@dataclass
class ToolContext:
    """All that a running tool may touch."""

    workspace: Workspace
    role: AgentRole
    output: Callable[[str], None] = lambda _text: None
    """Called with each piece of output as it comes, for tools that run long."""
    mask: Mask = field(default_factory=Mask)
    """Hides keys in what a tool leaves behind, such as a cell's output in a notebook."""
    clearance: Clearance = field(default_factory=Clearance)
    """What was decided about this very call."""
    sandbox: Sandbox | None = None
    """Confines commands. Without one, only roles whose commands may write run any."""
    notebooks: Notebooks = field(default_factory=NotebookFiles)
    """Where notebooks are read and changed, which may be a browser that has them open."""
    kernels: Kernels = field(default_factory=NoKernels)
    """Where code of notebooks runs."""
    scratch: ConfinedKernel | None = None
    """Where code of this conversation runs that can change nothing; None where nothing confines."""
    notebook: str | None = None
    """The notebook that the conversation belongs to."""
    waiting: Callable[[], AbstractContextManager[None]] = nullcontext
    """Around time that does not count for the run, as while a cell runs."""
    ask: Callable[[Question], Awaitable[str | None]] = nobody_answers
    """Puts a question to the user in the middle of a call; None when nobody is there."""
    write_under_open: dict[str, bool] = field(default_factory=dict)
    """What the user answered in this run about notebooks that another program has open."""
    follow: Callable[[str, str], None] = nobody_follows
    """Hears of each resource that was read: its server, and its address there."""
    closed: Callable[[Sequence[str]], set[str]] = nothing_closed
    """Which of these tools a rule denies, or wants asked about."""
    recall: Callable[[str, int], Sequence[Remark]] = nothing_said
    """Finds at most so many remarks of the conversation that fit a query, best first."""


@dataclass(frozen=True)
class ToolResult:
    """What a tool gives back, whole; shortening for the model happens elsewhere."""

    text: str
    """What the model reads."""
    summary: str
    """One line for a person: "read 120 lines of sales.py"."""
    data: dict[str, Any] = field(default_factory=dict)
    """Facts for cards, checkpoints and the audit, such as `{"paths": ["sales.py"]}`."""
    images: tuple[ImagePart, ...] = ()
    """Pictures for models that can see; the text names them for those that cannot."""
    cell_edit: CellEdit | None = None
    """What it did to a cell of a notebook, for the user to accept or revert."""
    output: str = ""
    """What code put out, without our own words about it."""
    guidance: Guidance | None = None
    """Set if the text guides the agent: the user trusts it, so it is more than data."""

    @cached_property
    def facts(self) -> ToolFacts:
        """The same as others than the tool itself read them."""
        return ToolFacts.model_validate(self.data)


P = TypeVar("P", bound=ToolParameters)
ToolFunction = Callable[[P, ToolContext], Awaitable[ToolResult]]
PreviewFunction = Callable[[Any, ToolContext], Awaitable[Preview]]


@dataclass(frozen=True)
class Tool:
    """One declared tool. A failing tool raises `CoworkError`; its code tells the model why."""

    name: str
    category: str
    description: str
    permissions: frozenset[Permission]
    parameters: type[ToolParameters]
    run: Callable[[Any, ToolContext], Awaitable[ToolResult]]
    idempotent: bool = False
    """Whether running it again after a crash can do no harm."""
    preview: PreviewFunction | None = None
    """Shows what a call would do; raises as the tool would."""
    travels: bool = True
    """Whether it needs nothing but the workspace, so that a worker elsewhere can run it."""
    unconfined: bool = False
    """Whether it runs code where nothing keeps it from writing: not for a role that must not."""
    checks_itself: bool = False
    """Whether it refuses by itself to change what is not any more as the model saw it. Then
    the file may be saved while the user thinks about the call."""
    fingerprint: str = ""
    """Stands for what a foreign tool says of itself, which may change; ours have none."""
    read_only: Tool | None = None
    """The same where it can change nothing: for roles that may not use it whole, and for calls
    that ask for it (`where`)."""

    also_ruled_as: tuple[str, ...] = ()
    """Further names under which rules are about it."""
    per_call: Callable[[AgentRole, Mapping[str, Any]], Tool] | None = None
    """The tool that a call really is, where its parameters say whose it is; raises if nobody's."""

    def for_role(self, role: AgentRole) -> Tool:
        """As the role may use it, if it may at all. What would refuse every call is no use."""
        whole = role.permits(self.permissions)
        if whole and (role.spec.commands_may_write or not self.unconfined):
            return self
        return self.read_only or self

    def for_call(self, role: AgentRole, parameters: Mapping[str, Any]) -> Tool:
        """As a call uses it: where nothing can be changed, if it says so or the role must."""
        if self.per_call:
            return self.per_call(role, parameters)
        where = parameters.get("where")
        if where == SCRATCH and self.read_only:
            return self.read_only
        return self if where else self.for_role(role)


def tool(
    *,
    category: str,
    permissions: Iterable[Permission],
    idempotent: bool = False,
    preview: PreviewFunction | None = None,
    travels: bool = True,
    checks_itself: bool = False,
    unconfined: bool = False,
) -> Callable[[ToolFunction[P]], Tool]:
    """Declare the decorated function as a tool."""

    def declare(function: ToolFunction[P]) -> Tool:
        parameters = next(iter(get_type_hints(function).values()))
        description = " ".join((function.__doc__ or "").split("\n\n")[0].split())
        return Tool(
            name=function.__name__,
            category=category,
            description=description,
            permissions=frozenset(permissions),
            parameters=parameters,
            run=function,
            idempotent=idempotent,
            preview=preview,
            travels=travels,
            unconfined=unconfined,
            checks_itself=checks_itself,
        )

    return declare
