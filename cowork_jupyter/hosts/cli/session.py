"""One run from the terminal: begun, told, asked about, and ended by Ctrl-C if need be."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import time
from collections.abc import Coroutine
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...domain.contexts import Context, Job, JobStatus
from ...domain.errors import NotFound, Unavailable
from ...domain.events import Event, EventType
from ...domain.roles import AgentRole
from ...domain.settings import Settings
from ...domain.team import rights_of
from .asking import Asking, Typing, somebody_is_there
from .command import DENIED, FAILED, INTERRUPTED, SUCCESS
from .conversations import FolderConversations
from .narrator import CliOutcome, Narrator
from .screen import Screen

if TYPE_CHECKING:
    from ...service import CoworkService
    from ...store import PlanRevision

_TICK_SECONDS = 0.1


@dataclass(frozen=True)
class CliRequest:
    """What is wanted, and how."""

    role: AgentRole
    text: str
    """With none, the current plan is to be executed."""
    conversation: str = ""
    new: bool = False
    model: str | None = None
    prompt: str | None = None
    """The base prompt to use from now on."""
    policy: dict[str, Any] | None = None
    as_json: bool = False


def carry_out(settings: Settings, order: CliRequest) -> int:
    """Do it; gives the exit code."""
    return asyncio.run(_carry_out(settings, order))


async def _carry_out(settings: Settings, order: CliRequest) -> int:
    from ...wiring import build_service

    service = build_service(settings, interactive=somebody_is_there())
    try:
        return await CliSession(service, order, Screen()).run()
    finally:
        await service.close()


class CliSession:
    """One run."""

    def __init__(self, service: CoworkService, order: CliRequest, screen: Screen) -> None:
        self._service = service
        self._order = order
        self._screen = screen
        self._asking = Asking(service, screen, Typing()) if service.interactive else None
        self._held: list[Event] = []
        self._outcome = CliOutcome()
        self._stopping: asyncio.Task[Job] | None = None

    async def run(self) -> int:
        """Begin, follow to the end, and say how it ended."""
        model = await self._model()
        context, plan = self._context()
        if self._order.prompt:
            context = self._service.conversations.choose_prompt(context.id, self._order.prompt)
        self._narrator = Narrator(self._screen, plan.plan if plan else None)
        after = self._service.journal.store.last_seq(context.id)
        began = time.monotonic()
        job_id = await self._begin(context, plan)
        self._listen_for_signals(job_id)
        await _first_of(self._follow(context.id, after, job_id), *self._helpers())
        job = self._service.jobs.get(job_id)
        self._conclude(job, time.monotonic() - began, self._order.model or context.model or model)
        return self._exit_code(job)

    async def _model(self) -> str:
        """The name of what answers; an error if nothing does."""
        state = (await self._service.health()).model
        if not state.ready and not self._order.model:
            raise Unavailable(state.why_not or "No model answers.", code="no_model")
        return state.name or ""

    def _context(self) -> tuple[Context, PlanRevision | None]:
        order, conversations = self._order, FolderConversations(self._service)
        if not order.text:
            context = conversations.get(order.conversation)
            plan = self._service.plans.find(context.id)
            if plan is None:
                raise NotFound(
                    "This conversation has no plan yet. Make one with: jupyter cowork plan",
                    code="no_plan",
                )
            return context, plan
        begin = conversations.start if order.new else conversations.open
        return begin(order.conversation, order.role), None

    async def _begin(self, context: Context, plan: PlanRevision | None) -> str:
        order, service = self._order, self._service
        if plan is None:
            sent = await service.send_text(
                context.id, order.text, order.role, policy=order.policy, model=order.model
            )
            return str(sent.job_id)
        if stale := service.plans.stale_files(plan):
            self._say(f"Changed since the plan was made: {', '.join(stale)}", "ask")
        if rights := rights_of(plan.plan):
            self._say(rights, "ask")
        job = await service.execute_plan(
            context.id,
            plan.revision,
            policy=order.policy,
            model=order.model,
            plan_id=plan.plan_id,
        )
        return job.id

    def _listen_for_signals(self, job_id: str) -> None:
        """The first stops the job in good order; the second ends the program."""

        def stop() -> None:
            if self._stopping is not None:
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                os.kill(os.getpid(), signal.SIGINT)
            self._say("Stopping … (press Ctrl-C again to end at once)", "bad")
            self._stopping = asyncio.ensure_future(self._service.jobs.cancel(job_id))

        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError):  # on Windows, where Ctrl-C ends the program
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, stop)

    def _helpers(self) -> list[Coroutine[Any, Any, None]]:
        asking = [self._asking.go_on()] if self._asking else []
        return [self._tick(), *asking]

    async def _tick(self) -> None:
        while True:
            if not self._asked_now:
                self._tell_held()
                self._screen.tick()
            await asyncio.sleep(_TICK_SECONDS)

    @property
    def _asked_now(self) -> bool:
        return self._asking is not None and self._asking.busy

    async def _follow(self, context_id: str, after: int, job_id: str) -> None:
        async with aclosing(self._service.journal.bus.subscribe(context_id, after)) as events:
            async for event in events:
                self._take(event)
                if event.type is EventType.JOB_COMPLETED and event.job_id == job_id:
                    break
        if self._stopping:
            await self._stopping
        self._tell_held()

    def _take(self, event: Event) -> None:
        self._outcome.take(event)
        if self._order.as_json:
            self._screen.record(json.dumps(event.model_dump(mode="json")))
        else:
            self._held.append(event)
        if not self._asked_now:  # what happens meanwhile must not cover a question
            self._tell_held()
        if self._asking:
            self._asking.take(event)

    def _tell_held(self) -> None:
        held, self._held = self._held, []
        for event in held:
            self._narrator.tell(event)

    def _conclude(self, job: Job, seconds: float, model: str) -> None:
        from ...record.report import duration

        self._screen.hide_status()
        if self._order.as_json:
            return
        self._narrator.finish()
        if job.error:
            self._say(f"cowork: {job.error}", "bad")
        used = f"{job.usage.total_tokens:,} tokens" if job.usage.total_tokens else ""
        facts = (job.status.value, duration(seconds), used, model, job.context_id)
        self._say(" · ".join(fact for fact in facts if fact), "dim")
        if self._outcome.made_plan and self._order.role is AgentRole.PLANNER:
            name = self._order.conversation
            which = f" -c {shlex.quote(name)}" if name else ""
            self._say(f"To approve and execute it: jupyter cowork act{which}", "dim")

    def _exit_code(self, job: Job) -> int:
        if job.status is JobStatus.CANCELLED:
            return INTERRUPTED
        if self._outcome.was_denied:
            return DENIED
        wanted = self._order.role is not AgentRole.PLANNER or self._outcome.made_plan
        good = wanted and not self._outcome.asks_for_changes
        return SUCCESS if job.status is JobStatus.COMPLETED and good else FAILED

    def _say(self, text: str, style: str) -> None:
        if not self._order.as_json:
            self._screen.line(text, style)


async def _first_of(*work: Coroutine[Any, Any, None]) -> None:
    """Do all of it until one has ended, well or badly; that ends the rest."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in work]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
