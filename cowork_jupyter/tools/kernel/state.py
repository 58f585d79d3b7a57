"""What tools know of kernels, whoever runs them."""

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
from ...domain.expectations import Expectation, Measured, partner
from ...domain.redaction import Mask
from ...workspace import Workspace
from .stall_detector import Ask

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_TEXT = re.compile(_QUOTED)
_COLUMN = re.compile(rf"^  ({_QUOTED})  (\S+)")


@dataclass(frozen=True)
class Code:
    source: str
    cell_id: str | None = None
    """The cell that receives its outputs; None for code without a cell."""


@dataclass(frozen=True)
class CellFailure:
    name: str
    message: str
    traceback: str = ""
    line: int | None = None
    """The line of the code, from 1."""


@dataclass(frozen=True)
class CodeResult:
    path: str
    outputs: tuple[Mapping[str, Any], ...] = ()
    """As in a notebook file, bounded."""
    failure: CellFailure | None = None
    seconds: float = 0.0
    omitted: int = 0
    """Characters of output that were left out."""
    stalled: float | None = None
    """Seconds without progress, after which it was interrupted."""
    execution_count: int | None = None


@dataclass(frozen=True)
class Variable:
    name: str
    type: str
    about: str = ""
    lines: tuple[str, ...] = ()
    """Its content; only if it was asked for alone."""

    @property
    def columns(self) -> dict[str, str]:
        """Columns of a table with their types, as far as its lines tell them."""
        columns: dict[str, str] = {}
        for line in self.lines:
            if line == "first rows:":
                break
            if match := _COLUMN.match(line):
                columns[str(ast.literal_eval(match[1]))] = match[2]
        return columns

    def first_texts(self, column: str) -> list[str]:
        """The texts of a column in the first rows, as far as its lines tell them."""
        names, texts = list(self.columns), []
        for line in self.lines[len(names) + 2 :] if column in names else ():
            cells = line.strip().split(" | ")
            if len(cells) == len(names) and _TEXT.fullmatch(cell := cells[names.index(column)]):
                texts.append(str(ast.literal_eval(cell)))
        return texts

    @classmethod
    def of(cls, name: str, facts: Mapping[str, Any]) -> Self:
        if facts.get("missing"):
            raise no_variable(name, facts["names"])
        return cls(name, facts["type"], facts["about"], tuple(facts["lines"]))


@dataclass(frozen=True)
class Variables:
    path: str
    items: tuple[Variable, ...]
    total: int

    @classmethod
    def of(cls, path: str, facts: Mapping[str, Any]) -> Self:
        return cls(path, tuple(Variable(*fact) for fact in facts["items"]), facts["total"])


@dataclass(frozen=True)
class TableCopy:
    name: str
    type: str
    problem: Literal["", "no_table", "too_large"]

    @classmethod
    def of(cls, name: str, facts: Mapping[str, Any]) -> Self:
        if facts.get("missing"):
            raise no_variable(name, facts["names"])
        return cls(name, facts["type"], facts["problem"])


@dataclass(frozen=True)
class KernelQuery:
    """A question that our own code in the kernel answers, such as how many keys do not match."""

    kind: str
    arguments: tuple[str, ...] = ()
    after: bool = False
    """Whether it is about tables as the code leaves them, so that no earlier answer counts."""
    before: bool = False
    """Whether it is about tables that the code replaces, so that no later answer counts."""


@dataclass(frozen=True)
class KernelTables:
    tables: Mapping[str, TableState]
    identities: Mapping[str, str] = field(default_factory=dict)
    """Identity by name: another one means another table, or other content."""
    answers: Mapping[KernelQuery, Mapping[str, JsonValue]] = field(default_factory=dict)
    """Of queries that could be answered."""
    history: tuple[str, ...] = ()
    """The code of cells that ran, oldest first, bounded."""

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Self:
        answers = {
            KernelQuery(kind, tuple(arguments), *moments): answer
            for kind, arguments, moments, answer in facts["answers"]
        }
        tables = {name: TableState(**state) for name, state in facts["tables"].items()}
        return cls(tables, facts["identities"], answers, tuple(facts["history"]))


@dataclass(frozen=True)
class RecordedCell:
    """The tables before and after a cell that a person ran."""

    source: str
    before: KernelTables
    after: KernelTables
    is_newest: bool
    """Whether no other has run since."""

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Self:
        before, after = (KernelTables.of(facts[moment]) for moment in ("before", "after"))
        return cls(facts["source"], before, after, facts["is_newest"])


def no_variable(name: str, names: Sequence[str]) -> NotFound:
    close = difflib.get_close_matches(name, names, n=3)
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    return NotFound(f"The kernel has no variable '{name}'.{hint}", code="no_such_name")


Show = Callable[[str], None]


@dataclass(frozen=True)
class CodeRun:
    path: str
    code: Code
    show: Show = field(default=lambda _text: None)
    """Called with output as it comes, and with what is waited for."""
    start: bool = False
    stalled: Ask = field(default=lambda _seconds: _go_on())
    """Called with the seconds without progress: whether to keep waiting. If not, the code is
    interrupted."""
    mask: Mask = field(default_factory=Mask)


async def _go_on() -> bool:
    return True


class Kernels(Protocol):
    """Where code of notebooks runs. Paths are notebooks, resolved in the workspace of a call."""

    @property
    def home(self) -> str:
        """Stands for the kernel of a conversation without a notebook; empty if it has none."""

    async def run(self, workspace: Workspace, run: CodeRun) -> CodeResult:
        """Run code after everything that is queued; cancelling interrupts it."""

    async def run_anew(
        self,
        workspace: Workspace,
        path: str,
        codes: Sequence[Code],
        on_result: Callable[[CodeResult], None],
        expectations: Sequence[Expectation] = (),
    ) -> list[Measured]:
        """Run a notebook's code in a new kernel, up to what fails; the kernel then ends.

        `on_result` gets each result. If everything ran, returns what was measured at the end for
        these expectations.
        """

    async def measure(
        self, workspace: Workspace, path: str, expectations: Sequence[Expectation]
    ) -> list[Measured]: ...

    async def variables(self, workspace: Workspace, path: str) -> Variables:
        """The user's variables, also while the kernel is busy."""

    async def inspect(self, workspace: Workspace, path: str, name: str) -> Variable: ...

    async def copy_table(
        self, workspace: Workspace, path: str, name: str, file: str, room: int
    ) -> TableCopy:
        """Write a table to a new file of at most `room` bytes."""

    async def tables(
        self, workspace: Workspace, path: str, queries: Sequence[KernelQuery], seconds: float
    ) -> KernelTables:
        """The current tables and answers about them, in about so many seconds.

        Raises if unknown, such as while the kernel is busy with another client.
        """

    async def recorded(self, workspace: Workspace, path: str, count: int) -> RecordedCell | None:
        """What is known of the cell that ran as `[count]`; later ones are recorded from now on."""

    async def python(self, workspace: Workspace, path: str) -> str | None:
        """The Python that a notebook's kernel runs in, or would; None if unknown."""


@dataclass(frozen=True)
class ScratchSetup:
    python: str
    folder: str = "."
    hidden: Mapping[str, int] = field(default_factory=dict)
    """Files of the workspace that it must not read, with their inodes."""
    tables: Mapping[str, int] = field(default_factory=dict)
    """Names of tables, and descriptors of files with copies of them."""
    advice: Mapping[str, str] = field(default_factory=dict)
    """What to do instead, by words of an exception's message."""


class ConfinedKernel(Protocol):
    """Keeps variables for one conversation, and can change nothing else."""

    def with_setup(self, setup: ScratchSetup) -> Kernels: ...


class NoKernels:
    home = ""

    async def _unavailable(self, *_: Any, **__: Any) -> Any:
        raise Unavailable(
            "No kernel is available: Cowork runs without a Jupyter server. "
            "Continue without running cells and without inspecting variables.",
            code="no_kernels",
            retryable=False,
        )

    run = run_anew = measure = variables = inspect = copy_table = tables = recorded = _unavailable

    async def python(self, workspace: Workspace, path: str) -> str | None:  # noqa: ARG002
        return None


def no_sandbox() -> CoworkError:
    """Code that nobody has approved runs confined, or not at all."""
    return Unavailable(
        "This machine has no sandbox, so code cannot run in scratch.",
        code="sandbox_missing",
        retryable=False,
    )


MEASURING = 60.0
"""Seconds that all checks together may take."""


def measure_questions(expectations: Sequence[Expectation]) -> list[dict[str, JsonValue]]:
    return [_question(expectation) for expectation in expectations]


def _question(expectation: Expectation) -> dict[str, JsonValue]:
    fields = expectation.model_dump(include={"of", "check", "op", "value", "column"})
    table, column = partner(expectation) if expectation.check == "matched" else ("", "")
    return {**fields, "partner": table, "partner_column": column}


def parse_measured(answer: Mapping[str, Any]) -> list[Measured]:
    return [Measured.model_validate(fact) for fact in answer["facts"]]
