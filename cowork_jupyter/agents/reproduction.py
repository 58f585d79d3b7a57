"""Whether a notebook still runs from top to bottom, and which hidden state its kernel has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..domain.contexts import Job
from ..domain.reproduction import FailedCell, HiddenState, Reproduction
from ..effects.checking import CheckedExpectation, broken_in_words
from ..effects.checking import in_words as expected
from ..tools.kernel.state import Code, Ran
from ..tools.notebook.hidden import hidden_state
from ..tools.notebook.state import CellState, NotebookState

_ASKS_THE_AGENT = re.compile(r"\s*%%(?:plan|act|ask)\b")
MAX_HIDDEN = 50
MAX_ERROR = 2000


@dataclass
class Trial:
    """One attempt: what is run, and how far it is."""

    notebook: NotebookState
    state: Reproduction
    code: Sequence[CellState] = field(default_factory=list)
    unchecked: Sequence[CheckedExpectation] = ()
    """Pinned expectations that could not be checked."""

    @classmethod
    def of(cls, notebook: NotebookState, job: Job) -> Trial:
        """Cells that ask the agent are left out: to run them again would cost money and change
        things.
        """
        filled = [
            cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()
        ]
        code = [cell for cell in filled if not _ASKS_THE_AGENT.match(cell.source)]
        state = Reproduction(
            context_id=job.context_id,
            job_id=job.id,
            notebook=notebook.path,
            cells=len(code),
            left_out=len(filled) - len(code),
        )
        return cls(notebook, state, code)

    @property
    def codes(self) -> list[Code]:
        return [Code(cell.source) for cell in self.code]

    def take(self, ran: Ran) -> None:
        state = self.state
        state.seconds = round(state.seconds + ran.seconds, 3)
        if ran.failure is None:
            state.ran += 1
            return
        said = f"{ran.failure.name}: {ran.failure.message}"[:MAX_ERROR]
        cell = self.code[state.ran]
        state.failed = FailedCell(
            cell_id=cell.id, cell=self._number(cell.id), line=ran.failure.line, error=said
        )

    def finish(self, checked: Sequence[CheckedExpectation] = ()) -> None:
        state = self.state
        state.runs = state.failed is None
        state.broken = [result.broken for result in checked if result.broken]
        state.expectations = sum(result.met is not None for result in checked)
        self.unchecked = [result for result in checked if result.met is None]
        state.hidden = [
            HiddenState(
                kind=finding.kind,
                cell_id=finding.cell_id,
                cell=self._number(finding.cell_id),
                name=finding.name,
                message=finding.message,
            )
            for finding in hidden_state(self.notebook.cells)[:MAX_HIDDEN]
        ]

    def _number(self, cell_id: str) -> int:
        return self.notebook.index(cell_id) + 1


def in_words(trial: Trial) -> str:
    """For the record, which the model reads too."""
    state = trial.state
    if state.failed:
        where = f"cell {state.failed.cell}"
        where += f", line {state.failed.line}" if state.failed.line else ""
        head = f"does not run from top to bottom: {where} failed with {state.failed.error}"
    else:
        head = f"runs from top to bottom: {state.cells} code cells in {state.seconds:.1f} s."
    lines = [f"In a new kernel, `{state.notebook}` {head}"]
    if state.left_out:
        lines.append(f"- {state.left_out} cells that ask the agent were skipped.")
    lines += [f"- {broken_in_words(expectation)}" for expectation in state.broken]
    if state.expectations and not state.broken:
        lines.append(f"- As expected: {state.expectations} of {state.expectations} checks.")
    lines += [
        f"- {result.expectation.of}: {expected(result.expectation)}: {result.found}"
        for result in trial.unchecked
    ]
    lines += [f"- Cell {finding.cell}: {finding.message}" for finding in state.hidden]
    return "\n".join(lines)
