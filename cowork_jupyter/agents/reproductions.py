"""Running notebooks anew, each in a job of its own on the card that asked for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ..checkpoints import ToolUse
from ..domain.contexts import Context, Job, JobKind
from ..domain.errors import InvalidInput
from ..domain.expectation_rules import is_about_files
from ..domain.message_data import TextData
from ..domain.messages import Message, TextPart
from ..domain.notices import ReproductionProgress
from ..domain.reproduction import Reproduction
from ..domain.roles import Permission
from ..tools.kernel.state import Ran
from .agent import AgentFactory
from .jobs import Jobs
from .reproduction import Trial, in_words
from .run.outcome import Outcome


class Reproductions:
    """Starts them. What one found is a message of its job; how far one is, whoever wants to know
    asks, and a notice says when that is worth it.
    """

    def __init__(self, factory: AgentFactory, jobs: Jobs) -> None:
        self._factory = factory
        self._jobs = jobs
        self._running: dict[str, Trial] = {}

    def state(self, context_id: str) -> Reproduction | None:
        """The one that runs in a conversation."""
        trial = self._running.get(context_id)
        return trial.state if trial else None

    async def start(self, context: Context, card: Job | None = None) -> Reproduction:
        """Run the conversation's notebook in a new kernel, on behalf of the user.

        Nothing is written into the notebook, but its code does what it does, also to files. So
        there is a checkpoint around it, as around every call of a tool, and what it changed is
        taken back with the card.
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

        def took(ran: Ran) -> None:
            trial.take(ran)
            news = ReproductionProgress(ran=state.ran, cells=state.cells)
            self._factory.journal.record(state.context_id, news, state.job_id)

        tools = self._factory.tools
        expected = await tools.pinned.all(state.notebook)
        variables = [expectation for expectation in expected if not is_about_files(expectation)]
        try:
            async with self._recorded(state):
                measured = await tools.kernels.run_anew(
                    tools.workspace, state.notebook, trial.codes, took, variables
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
                content=[TextPart(text=in_words(trial))],
                data=TextData(reproduction=state.model_copy(deep=True)),
            )
        )
        return Outcome()

    @asynccontextmanager
    async def _recorded(self, state: Reproduction) -> AsyncIterator[None]:
        """Who is told that it has ended can take back at once what it changed."""
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
            await recorder.settled(state.job_id)
