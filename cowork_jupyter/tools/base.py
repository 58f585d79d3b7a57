"""What a tool is: a typed function with permissions.

A tool is declared by decorating an async function. Its name is the function's name,
its description the docstring's first paragraph, its parameters the pydantic model
that annotates the first argument:

    @tool(category="files", permissions=[Permission.READ_FILES], idempotent=True)
    async def read_file(parameters: ReadFile, context: ToolContext) -> ToolResult:
        \"\"\"Read a text file, whole or some lines of it.\"\"\"

The docstring of a parameter model becomes the description of its JSON schema.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict

from ..domain.effects import CellEdit
from ..domain.guidance import Guidance
from ..domain.messages import ImagePart, ToolFacts
from ..domain.redaction import Mask
from ..domain.replies import Question
from ..domain.roles import AgentRole, Permission
from ..policy.calls import Preview
from ..policy.decision import may_use
from ..policy.paths import AnchorDirs, target_of
from ..policy.protected import has_other_names, hidden_files, is_secret
from ..policy.rules import Rule, matches_path
from ..workspace import GuardedWorkspace, Pin, Workspace
from ..workspace.sandbox.autorun import NOTHING_WRITABLE, WritableAutorun
from ..workspace.sandbox.sandbox import Sandbox
from .kernel.state import ConfinedKernel, Kernels, NoKernels
from .notebook.state import Notebooks
from .notebook.stored import NotebookFiles

SCRATCH = "scratch"
"""Value of the parameter `where` for code that can change nothing."""


class ToolParameters(BaseModel):
    """Rejects unknown fields, so that typos reach the model."""

    model_config = ConfigDict(extra="forbid")


async def no_answer(_question: Question) -> str | None:
    return None


@dataclass(frozen=True)
class Remark:
    """A past message or result of the conversation."""

    speaker: str
    at: str
    text: str
    step_id: str | None = None


def no_follower(_server: str, _uri: str) -> None: ...


def no_closed_tools(_tools: Sequence[str]) -> set[str]:
    return set()


def no_remarks(_query: str, _limit: int) -> list[Remark]:
    return []


@dataclass(frozen=True)
class CallAuthorization:
    """Permission to run one call. Picklable, so that it can travel to another machine."""

    pins: Mapping[str, Pin] = field(default_factory=dict)
    unreadable: tuple[Rule, ...] = ()
    """Rules that keep files which searches come across from being read."""
    approved: bool = False
    sensitive: bool = False
    """Whether its result may hold secrets, which are then kept from others."""
    network: bool = False
    """Whether a command may use the network: it was shown to the user, or a rule allows it."""
    opened: WritableAutorun = NOTHING_WRITABLE
    """What a command may write of files that run later, outside the sandbox."""
    readable: frozenset[str] = frozenset()
    """What a command may read of the home, because it names it."""
    code: str | None = None
    """The only code that may run; None where nobody decides."""
    tool: str | None = None
    """The fingerprint of the tool that was decided about; None where nobody decides."""

    def guard(self, workspace: Workspace) -> Workspace:
        return GuardedWorkspace(workspace, self.pins, _Hiding(self, workspace))

    def hidden_files(self, workspace: Workspace) -> dict[str, int]:
        """Files that would need approval to be read, which code must not see."""
        return hidden_files(AnchorDirs.of(workspace.root), self.unreadable)


@dataclass
class _Hiding:
    """Says of a path whether it would need approval to be read. Picklable, as a clearance is."""

    clearance: CallAuthorization
    workspace: Workspace

    def __call__(self, path: str) -> bool:
        anchors = AnchorDirs.of(self.workspace.root)
        target = target_of(anchors, path)
        return (
            is_secret(target)
            or any(
                not rule.is_bare and matches_path(rule, target, anchors)
                for rule in self.clearance.unreadable
            )
            or (has_other_names(target.real) and target.real in self._hidden)
        )

    @cached_property
    def _hidden(self) -> dict[str, int]:
        return self.clearance.hidden_files(self.workspace)


@dataclass
class ToolContext:
    """Everything a running tool may touch."""

    workspace: Workspace
    role: AgentRole
    output: Callable[[str], None] = lambda _text: None
    """Called with each piece of output of long-running tools."""
    mask: Mask = field(default_factory=Mask)
    """Redacts keys in what a tool stores, such as a cell's output in a notebook."""
    clearance: CallAuthorization = field(default_factory=CallAuthorization)
    sandbox: Sandbox | None = None
    """Confines commands. Without one, only roles whose commands may write run any."""
    notebooks: Notebooks = field(default_factory=NotebookFiles)
    """Reads and changes notebooks, possibly in a browser that has them open."""
    kernels: Kernels = field(default_factory=NoKernels)
    scratch: ConfinedKernel | None = None
    """Runs code that can change nothing; None without a sandbox."""
    notebook: str | None = None
    waiting: Callable[[], AbstractContextManager[None]] = nullcontext
    """Entered for time that does not count for the run, such as while a cell runs."""
    ask: Callable[[Question], Awaitable[str | None]] = no_answer
    """Asks the user in the middle of a call; None when nobody is there."""
    write_under_open: dict[str, bool] = field(default_factory=dict)
    """The user's answers in this run about notebooks that another program has open."""
    follow: Callable[[str, str], None] = no_follower
    """Called with server and address of each resource that was read."""
    closed: Callable[[Sequence[str]], set[str]] = no_closed_tools
    """Which of these tools a rule denies, or wants approval for."""
    recall: Callable[[str, int], Sequence[Remark]] = no_remarks
    """Finds at most so many remarks of the conversation that match a query, best first."""


@dataclass(frozen=True)
class ToolResult:
    """Untruncated; shortening for the model happens elsewhere."""

    text: str
    summary: str
    """One line for a person: "read 120 lines of sales.py"."""
    data: dict[str, Any] = field(default_factory=dict)
    """Facts for cards, checkpoints and the audit, such as `{"paths": ["sales.py"]}`."""
    images: tuple[ImagePart, ...] = ()
    """Pictures for multimodal models; the text names them for others."""
    cell_edit: CellEdit | None = None
    """What it did to a notebook cell, for the user to accept or revert."""
    output: str = ""
    """Output of code, without our own text around it."""
    guidance: Guidance | None = None
    """Set if the text guides the agent: the user trusts it, so it is more than data."""

    @cached_property
    def facts(self) -> ToolFacts:
        """`data` as typed facts."""
        return ToolFacts.model_validate(self.data)


P = TypeVar("P", bound=ToolParameters)
R = TypeVar("R")
ToolFunction = Callable[[P, ToolContext], Awaitable[ToolResult]]
PreviewFunction = Callable[[Any, ToolContext], Awaitable[Preview]]


@dataclass(frozen=True)
class Tool:
    """A declared tool. Failing tools raise `CoworkError`; its code tells the model why."""

    name: str
    category: str
    description: str
    permissions: frozenset[Permission]
    parameters: type[ToolParameters]
    run: Callable[[Any, ToolContext], Awaitable[ToolResult]]
    idempotent: bool = False
    """Whether running it again after a crash can do no harm."""
    waits_itself: bool = False
    """Whether calls of it in one reply can all begin: it keeps apart what must not run together."""
    preview: PreviewFunction | None = None
    """Shows what a call would do; raises as the tool would."""
    travels: bool = True
    """Whether it needs only the workspace, so that a remote worker can run it."""
    checks_itself: bool = False
    """Whether it refuses to change what is no longer as the model saw it. Then the file may be
    saved while the user thinks about the call."""
    fingerprint: str = ""
    """Stands for the declaration of an external tool, which may change; ours have none."""
    read_only: Tool | None = None
    """The variant that can change nothing: for roles that may not use the tool itself, and for
    calls that ask for it (`where`)."""

    also_ruled_as: tuple[str, ...] = ()
    per_call: Callable[[AgentRole, Mapping[str, Any]], Tool] | None = None
    """Resolves the tool a call really is, where its parameters say so; raises if there is none."""

    def for_role(self, role: AgentRole) -> Tool:
        """The variant that the role may use, if any."""
        if may_use(role, self.name, self.permissions):
            return self
        return self.read_only or self

    def for_call(self, role: AgentRole, parameters: Mapping[str, Any]) -> Tool:
        """The variant that a call uses: the read-only one if it says so or the role must."""
        if self.per_call:
            return self.per_call(role, parameters)
        where = parameters.get("where")
        if where == SCRATCH and self.read_only:
            return self.read_only
        return self if where else self.for_role(role)


def in_thread(function: Callable[[P, Workspace], R]) -> Callable[[P, ToolContext], Awaitable[R]]:
    """Make a tool function of a blocking one that needs only the workspace."""

    @wraps(function)
    async def run(parameters: P, context: ToolContext) -> R:
        return await asyncio.to_thread(function, parameters, context.workspace)

    return run


def tool(
    *,
    category: str,
    permissions: Iterable[Permission],
    idempotent: bool = False,
    waits_itself: bool = False,
    preview: PreviewFunction | None = None,
    travels: bool = True,
    checks_itself: bool = False,
) -> Callable[[ToolFunction[P]], Tool]:
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
            waits_itself=waits_itself,
            preview=preview,
            travels=travels,
            checks_itself=checks_itself,
        )

    return declare
