"""Running notebooks anew beside the conversation, each at most once at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from ..checkpoints import ToolUse
from ..domain.contexts import Context
from ..domain.errors import Conflict, CoworkError, InvalidInput, NotFound
from ..domain.message_data import TextData
from ..domain.messages import Message, TextPart
from ..domain.notices import ReproductionProgress
from ..domain.reproduction import Reproduction
from ..domain.roles import Permission
from ..tools.kernel.state import Ran
from .agent import AgentKit
from .reproduction import Trial, in_words

logger = logging.getLogger(__name__)


@dataclass
class _Running:
    trial: Trial
    task: asyncio.Task[None]


class Reproductions:
    """Starts and stops them. What one found is a message of the conversation; how far one is,
    whoever wants to know asks, and a notice says when that is worth it.
    """

    def __init__(self, kit: AgentKit) -> None:
        self._kit = kit
        self._running: dict[str, _Running] = {}

    def state(self, context_id: str) -> Reproduction | None:
        """The one that runs in a conversation."""
        running = self._running.get(context_id)
        return running.trial.state if running else None

    async def start(self, context: Context, job_id: str | None = None) -> Reproduction:
        """Run the conversation's notebook in a new kernel, on behalf of the user.

        Nothing is written into the notebook, but its code does what it does, also to files. So
        there is a checkpoint around it, as around every call of a tool.
        """
        self._check(context, job_id)
        notebook = await self._kit.gate.notebooks.read(self._kit.workspace, context.notebook or "")
        self._check(context, job_id)  # somebody else may have been faster
        trial = Trial.of(notebook, context.id, job_id)
        task = asyncio.create_task(self._try(trial))
        self._running[context.id] = _Running(trial, task)
        self._tell(trial)
        return trial.state

    async def cancel(self, context_id: str) -> Reproduction | None:
        """Stop it, and wait until its kernel has ended."""
        running = self._running.get(context_id)
        if running is None:
            return None
        await asyncio.sleep(0)  # what is cancelled before it begins never begins, nor ends
        running.task.cancel()
        await asyncio.wait([running.task])
        return running.trial.state

    async def close(self) -> None:
        """Stop all of them."""
        for context_id in list(self._running):
            await self.cancel(context_id)

    def _check(self, context: Context, job_id: str | None) -> None:
        store = self._kit.journal.store
        if not context.notebook:
            raise InvalidInput("This conversation belongs to no notebook.", code="no_notebook")
        if job_id is not None and store.job(job_id).context_id != context.id:
            raise InvalidInput("job_id: it belongs to another conversation.", code="other_context")
        if context.id in self._running:
            raise Conflict("The notebook is being tried already.", code="already_running")
        if store.active_job(context.id):
            raise Conflict(
                "A job is running in this conversation. Wait for it, or cancel it.",
                code="job_running",
            )

    async def _try(self, trial: Trial) -> None:
        state = trial.state

        def took(ran: Ran) -> None:
            trial.take(ran)
            self._tell(trial)

        try:
            async with self._recorded(state):
                await self._kit.kernels.run_anew(
                    self._kit.workspace, state.notebook, trial.codes, took
                )
            trial.finish()
        except asyncio.CancelledError:
            state.status = "cancelled"
        except CoworkError as error:
            state.status, state.error = "failed", error.message
        except Exception:
            logger.exception("%s could not be tried", state.notebook)
            state.status, state.error = "failed", "Something went wrong; the log says more."
        del self._running[state.context_id]
        self._record(trial)

    @asynccontextmanager
    async def _recorded(self, state: Reproduction) -> AsyncIterator[None]:
        """Who is told that it has ended can take back at once what it changed."""
        recorder = self._kit.recorder
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

    def _record(self, trial: Trial) -> None:
        """What was found is part of the conversation; that it was stopped is not."""
        state = trial.state
        if state.status == "completed":
            message = Message(
                context_id=state.context_id,
                job_id=state.job_id,
                role="system",
                content=[TextPart(text=in_words(state))],
                data=TextData(reproduction=state.model_copy(deep=True)),
            )
            with suppress(NotFound):  # the conversation was deleted
                self._kit.journal.record_message(message)
        self._tell(trial)

    def _tell(self, trial: Trial) -> None:
        """Say that there is news; with a message, it is a line on the card."""
        state = trial.state
        news = ReproductionProgress(status=state.status, ran=state.ran, cells=state.cells)
        if state.error:
            news.message = f"{state.notebook} could not be tried: {state.error}"
        with suppress(NotFound):
            self._kit.journal.record(state.context_id, news, state.job_id)
