"""Checks that notebooks run from top to bottom in a new kernel, and for hidden state."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from ..checkpoints import ToolUse
from ..domain.contexts import Context, Job, JobKind
from ..domain.errors import InvalidInput
from ..domain.events import ReproductionProgress
from ..domain.expectations import is_about_files
from ..domain.messages import FailedCell, HiddenState, Message, Reproduction, TextData, TextPart
from ..domain.plurals import count_of
from ..domain.roles import Permission
from ..domain.user_code import is_request
from ..effects.checking import CheckedExpectation, broken_expectation_text, expectation_text
from ..tools.kernel.state import Code, CodeResult
from ..tools.notebook.dependencies import hidden_state
from ..tools.notebook.state import CellState, NotebookState
from .agent import AgentFactory
from .jobs import Jobs
from .run.outcome import Outcome

_COMMAND = re.compile(r"%cowork\b")
_BESIDE_COMMANDS = re.compile(r"$|#|%(?:re)?load_ext cowork_jupyter\b|" + _COMMAND.pattern)
MAX_HIDDEN = 50
MAX_ERROR = 2000


@dataclass
class Trial:
    notebook: NotebookState
    state: Reproduction
    code: Sequence[CellState] = field(default_factory=list)
    unchecked: Sequence[CheckedExpectation] = ()

    @classmethod
    def of(cls, notebook: NotebookState, job: Job) -> Trial:
        """Cells for the agent are left out: to run them again would cost money and change things,
        and `%cowork` needs the conversation of the notebook.
        """
        filled = [
            cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()
        ]
        code = [cell for cell in filled if not _is_for_agent(cell.source)]
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

    def take(self, ran: CodeResult) -> None:
        state = self.state
        state.seconds = round(state.seconds + ran.seconds, 3)
        if ran.failure is None:
            state.ran += 1
            return
        error = f"{ran.failure.name}: {ran.failure.message}"[:MAX_ERROR]
        cell = self.code[state.ran]
        state.failed = FailedCell(
            cell_id=cell.id, cell=self._number(cell.id), line=ran.failure.line, error=error
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


def _is_for_agent(source: str) -> bool:
    if is_request(source):
        return True
    lines = [line.strip() for line in source.splitlines()]
    return any(map(_COMMAND.match, lines)) and all(map(_BESIDE_COMMANDS.match, lines))


def reproduction_text(trial: Trial) -> str:
    state = trial.state
    if state.failed:
        where = f"cell {state.failed.cell}"
        where += f", line {state.failed.line}" if state.failed.line else ""
        head = f"does not run from top to bottom: {where} failed with {state.failed.error}"
    else:
        head = f"runs from top to bottom: {state.cells} code cells in {state.seconds:.1f} s."
    lines = [f"In a new kernel, `{state.notebook}` {head}"]
    if state.left_out:
        lines.append(f"- Skipped {count_of(state.left_out, 'cell')} for the agent.")
    lines += [f"- {broken_expectation_text(expectation)}" for expectation in state.broken]
    if state.expectations and not state.broken:
        lines.append(f"- As expected: {state.expectations} of {state.expectations} checks.")
    lines += [
        f"- {result.expectation.of}: {expectation_text(result.expectation)}: {result.found}"
        for result in trial.unchecked
    ]
    lines += [f"- Cell {finding.cell}: {finding.message}" for finding in state.hidden]
    return "\n".join(lines)


class Reproductions:
    """The result is a message of the job; progress is available on request, and a notice says when
    it changed.
    """

    def __init__(self, factory: AgentFactory, jobs: Jobs) -> None:
        self._factory = factory
        self._jobs = jobs
        self._running: dict[str, Trial] = {}

    def state(self, context_id: str) -> Reproduction | None:
        trial = self._running.get(context_id)
        return trial.state if trial else None

    async def start(self, context: Context, card: Job | None = None) -> Reproduction:
        """Run the conversation's notebook in a new kernel, on behalf of the user.

        Nothing is written into the notebook, but its code may change files. So a checkpoint is
        taken around it, as around every tool call, and a rollback of the card covers it.
        """
        if not context.notebook:
            raise InvalidInput(
                "This conversation does not belong to a notebook.", code="no_notebook"
            )
        notebook = await self._factory.tools.gate.notebooks.read(
            self._factory.tools.workspace, context.notebook
        )
        job = Job(
            context_id=context.id,
            kind=JobKind.CHECK,
            role=context.role,
            request=f"Check that {context.notebook} runs.",
            notebook=context.notebook,
            card_id=card.id if card else "",
        )
        trial = Trial.of(notebook, job)

        async def work(_started: Job) -> Outcome:
            return await self._try(trial)

        self._jobs.start(job, None, work)
        self._running[context.id] = trial
        return trial.state

    async def _try(self, trial: Trial) -> Outcome:
        state = trial.state

        def on_result(ran: CodeResult) -> None:
            trial.take(ran)
            news = ReproductionProgress(ran=state.ran, cells=state.cells)
            self._factory.journal.record(state.context_id, news, state.job_id)

        tools = self._factory.tools
        expected = await tools.pinned.all(state.notebook)
        variables = [expectation for expectation in expected if not is_about_files(expectation)]
        try:
            async with self._checkpoint(state):
                measured = await tools.kernels.run_anew(
                    tools.workspace, state.notebook, trial.codes, on_result, variables
                )
            ran = state.failed is None
            checked = (
                await tools.expectation_checks.check_measured(expected, measured) if ran else []
            )
        finally:
            del self._running[state.context_id]
        trial.finish(checked)
        self._factory.journal.record_message(
            Message(
                context_id=state.context_id,
                job_id=state.job_id,
                role="system",
                content=[TextPart(text=reproduction_text(trial))],
                data=TextData(reproduction=state.model_copy(deep=True)),
            )
        )
        return Outcome()

    @asynccontextmanager
    async def _checkpoint(self, state: Reproduction) -> AsyncIterator[None]:
        """Wait for the checkpoint, so that a rollback is possible as soon as the end is
        announced.
        """
        recorder = self._factory.tools.recorder
        if recorder is None:
            yield
            return
        permissions = frozenset({Permission.EXECUTE_COMMANDS})
        place = (state.context_id, state.job_id, None, None)
        about = {"notebook": state.notebook}
        try:
            async with recorder.around(ToolUse(*place, "run all cells of", permissions, about)):
                yield
        finally:
            await recorder.settle(state.job_id)
