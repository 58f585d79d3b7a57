"""What tools know of kernels, whoever keeps them."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, Self

from pydantic import JsonValue

from ...domain.effects import TableState
from ...domain.errors import CoworkError, NotFound, Unavailable
from ...domain.expectations import Expectation, Measured
from ...domain.redaction import Mask
from ...workspace import Workspace
from .stall_detector import Ask

_COLUMN = re.compile(r"^  ('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")  (\S+)")


@dataclass(frozen=True)
class Code:
    """What is to be run."""

    source: str
    cell_id: str | None = None
    """The cell that it stands in; its outputs go there. None: it leaves no cell."""


@dataclass(frozen=True)
class CellFailure:
    """The exception that code ended with."""

    name: str
    message: str
    traceback: str = ""
    line: int | None = None
    """The line of the code, from 1."""


@dataclass(frozen=True)
class Ran:
    """What came of code that has run to its end."""

    path: str
    outputs: tuple[Mapping[str, Any], ...] = ()
    """As in a notebook file, bounded."""
    failure: CellFailure | None = None
    seconds: float = 0.0
    omitted: int = 0
    """Characters of output that were left out."""
    stalled: float | None = None
    """Seconds in which nothing moved, after which it was interrupted."""
    execution_count: int | None = None


@dataclass(frozen=True)
class Variable:
    """A name and what it stands for."""

    name: str
    type: str
    about: str = ""
    lines: tuple[str, ...] = ()
    """What is in it; only if it was asked for alone."""

    @property
    def columns(self) -> dict[str, str]:
        """The columns of a table with their types, as far as its lines tell them."""
        found: dict[str, str] = {}
        for line in self.lines:
            if line == "first rows:":
                break
            if match := _COLUMN.match(line):
                found[str(ast.literal_eval(match[1]))] = match[2]
        return found

    @classmethod
    def of(cls, name: str, facts: Mapping[str, Any]) -> Self:
        """One variable, as our code in the kernel reports it."""
        if facts.get("missing"):
            raise no_variable(name, facts["names"])
        return cls(name, facts["type"], facts["about"], tuple(facts["lines"]))


@dataclass(frozen=True)
class Variables:
    """The names in a kernel."""

    path: str
    items: tuple[Variable, ...]
    total: int

    @classmethod
    def of(cls, path: str, facts: Mapping[str, Any]) -> Self:
        """All variables, as our code in the kernel reports them."""
        return cls(path, tuple(Variable(*fact) for fact in facts["items"]), facts["total"])


@dataclass(frozen=True)
class TableCopy:
    """What came of copying a table out of a kernel."""

    name: str
    type: str
    problem: Literal["", "no_table", "too_large"]

    @classmethod
    def of(cls, name: str, facts: Mapping[str, Any]) -> Self:
        """As our code in the kernel reports it."""
        if facts.get("missing"):
            raise no_variable(name, facts["names"])
        return cls(name, facts["type"], facts["problem"])


@dataclass(frozen=True)
class Look:
    """A question about tables that our own code in the kernel answers, such as how many keys of
    one are missing in the other.
    """

    kind: str
    arguments: tuple[str, ...] = ()
    after: bool = False
    """Whether it is about tables as the code leaves them, so that no earlier answer counts."""
    before: bool = False
    """Whether it is about tables that the code replaces, so that no later answer counts."""


@dataclass(frozen=True)
class KernelTables:
    """The tables in a kernel at one moment."""

    tables: Mapping[str, TableState]
    identities: Mapping[str, str] = field(default_factory=dict)
    """What a name stands for: another one means another table, or other content."""
    answers: Mapping[Look, Mapping[str, JsonValue]] = field(default_factory=dict)
    """Of looks that could be answered."""
    history: tuple[str, ...] = ()
    """The code of cells that ran, oldest first, bounded."""

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Self:
        """As our code in the kernel reports them."""
        answers = {
            Look(kind, tuple(asked), *moments): answer
            for kind, asked, moments, answer in facts["answers"]
        }
        tables = {name: TableState(**state) for name, state in facts["tables"].items()}
        return cls(tables, facts["identities"], answers, tuple(facts["history"]))


def no_variable(name: str, names: Sequence[str]) -> NotFound:
    """A name that the kernel does not know, and those it knows that are similar."""
    close = difflib.get_close_matches(name, names, n=3)
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    return NotFound(f"The kernel has no variable '{name}'.{hint}", code="no_such_name")


Show = Callable[[str], None]


@dataclass(frozen=True)
class CodeRun:
    """A request to run code in a notebook's kernel."""

    path: str
    code: Code
    show: Show = field(default=lambda _text: None)
    """Called with output as it comes, and with what is waited for."""
    start: bool = False
    """Whether to start a kernel if there is none."""
    stalled: Ask = field(default=lambda _seconds: _go_on())
    """Asked when nothing has moved for so many seconds: whether to go on waiting. If not, the
    code is interrupted."""
    mask: Mask = field(default_factory=Mask)
    """Hides keys in what it puts out."""


async def _go_on() -> bool:
    return True


class Kernels(Protocol):
    """Whoever keeps the kernels. Paths are notebooks, looked up in the workspace of a call."""

    @property
    def home(self) -> str:
        """What stands for the kernel of a conversation without a notebook; empty: it has none."""

    async def run(self, workspace: Workspace, run: CodeRun) -> Ran:
        """Run code behind all that the kernel has to do already; being cancelled interrupts it."""

    async def run_anew(
        self,
        workspace: Workspace,
        path: str,
        codes: Sequence[Code],
        took: Callable[[Ran], None],
        expectations: Sequence[Expectation] = (),
    ) -> list[Measured]:
        """Run a notebook's code in a kernel of its own, up to what fails; the kernel then ends.

        `took` gets what came of each. Where all of it ran, gives what was measured at the end for
        these expectations.
        """

    async def measure(
        self, workspace: Workspace, path: str, expectations: Sequence[Expectation]
    ) -> list[Measured]:
        """What variables are like that these expectations are about, of all rows."""

    async def variables(self, workspace: Workspace, path: str) -> Variables:
        """What the user has made, also while the kernel is busy."""

    async def inspect(self, workspace: Workspace, path: str, name: str) -> Variable:
        """One of them, with what is in it."""

    async def copy_table(
        self, workspace: Workspace, path: str, name: str, file: str, room: int
    ) -> TableCopy:
        """Write one of them, if it is a table, to a new file of at most so many bytes."""

    async def tables(
        self, workspace: Workspace, path: str, looks: Sequence[Look], seconds: float
    ) -> KernelTables:
        """The tables as they are now, and answers to questions about them; in about so many
        seconds. Raises where nobody can tell, as while the kernel works for somebody else.
        """

    async def python(self, workspace: Workspace, path: str) -> str | None:
        """The Python that a notebook's kernel runs in, or would; None where nobody can tell."""


@dataclass(frozen=True)
class ScratchSetup:
    """What code in scratch finds when it starts."""

    python: str
    folder: str = "."
    """Where it runs, relative to the workspace."""
    hidden: Mapping[str, int] = field(default_factory=dict)
    """Files of the workspace that it must not read, with their inodes."""
    tables: Mapping[str, int] = field(default_factory=dict)
    """Names of tables, and open files with copies of them."""
    advice: Mapping[str, str] = field(default_factory=dict)
    """What to do instead, by words of an exception's message."""


class ConfinedKernel(Protocol):
    """Keeps variables for one conversation, and can change nothing else."""

    def with_setup(self, setup: ScratchSetup) -> Kernels:
        """As tools use a kernel, for one call."""


class NoKernels:
    """For hosts that keep none."""

    home = ""

    async def run(self, workspace: Workspace, run: CodeRun) -> Ran:  # noqa: ARG002
        """There is nothing to run it in."""
        raise _none_here()

    async def run_anew(
        self,
        workspace: Workspace,  # noqa: ARG002
        path: str,  # noqa: ARG002
        codes: Sequence[Code],  # noqa: ARG002
        took: Callable[[Ran], None],  # noqa: ARG002
        expectations: Sequence[Expectation] = (),  # noqa: ARG002
    ) -> list[Measured]:
        """There is nothing to run it in."""
        raise _none_here()

    async def measure(
        self,
        workspace: Workspace,  # noqa: ARG002
        path: str,  # noqa: ARG002
        expectations: Sequence[Expectation],  # noqa: ARG002
    ) -> list[Measured]:
        """There are no variables."""
        raise _none_here()

    async def variables(self, workspace: Workspace, path: str) -> Variables:  # noqa: ARG002
        """There are none."""
        raise _none_here()

    async def inspect(self, workspace: Workspace, path: str, name: str) -> Variable:  # noqa: ARG002
        """There is none."""
        raise _none_here()

    async def copy_table(
        self,
        workspace: Workspace,  # noqa: ARG002
        path: str,  # noqa: ARG002
        name: str,  # noqa: ARG002
        file: str,  # noqa: ARG002
        room: int,  # noqa: ARG002
    ) -> TableCopy:
        """There is none."""
        raise _none_here()

    async def tables(
        self,
        workspace: Workspace,  # noqa: ARG002
        path: str,  # noqa: ARG002
        looks: Sequence[Look],  # noqa: ARG002
        seconds: float,  # noqa: ARG002
    ) -> KernelTables:
        """There are none."""
        raise _none_here()

    async def python(self, workspace: Workspace, path: str) -> str | None:  # noqa: ARG002
        """Any will do."""
        return None


def no_sandbox() -> CoworkError:
    """Code that nobody has approved runs confined, or not at all."""
    return Unavailable(
        "This machine has no sandbox, so code cannot run in scratch.",
        code="sandbox_missing",
        retryable=False,
    )


def _none_here() -> CoworkError:
    return Unavailable(
        "No kernel is available: Cowork runs without a Jupyter server. "
        "Continue without running cells and without inspecting variables.",
        code="no_kernels",
        retryable=False,
    )
