"""One run from the terminal: start it, narrate it, ask, and stop it on Ctrl-C."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shlex
import signal
import tempfile
from collections.abc import Coroutine
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...domain.contexts import Context, Job, JobStatus
from ...domain.errors import NotFound, Unavailable
from ...domain.events import Event, EventType
from ...domain.roles import AgentRole
from ...domain.settings import Settings
from ...domain.team import rights_of
from .asking import TerminalInput, TerminalPrompter, is_interactive
from .command import DENIED, FAILED, INTERRUPTED, SUCCESS, open_service
from .narrator import CliOutcome, Narrator
from .screen import Screen

if TYPE_CHECKING:
    from ...service.service import CoworkService
    from ...store import PlanRevision


class FolderConversations:
    """The terminal's conversations in a folder: a default one, and named ones.

    A notebook's conversations belong to the notebook, a terminal's to its folder. The store knows
    no folders, so a small file for each name holds the conversation's id.
    """

    def __init__(self, service: CoworkService) -> None:
        self._service = service

    def find(self, name: str) -> Context | None:
        """By name or id; without a name, the folder's default conversation."""
        for context_id in (name, self._read_id(name)):
            try:
                if context_id:
                    return self._service.conversations.get(context_id)
            except NotFound:  # a name, not an id; or it was deleted in the panel
                continue
        return None

    def get(self, name: str) -> Context:
        """Raises NotFound with what to do."""
        context = self.find(name)
        if context is None:
            which = f"called '{name}' " if name else ""
            raise NotFound(
                f"There is no conversation {which}in {self._service.settings.workspace} yet. "
                "Start one with: jupyter cowork plan",
                code="no_conversation",
            )
        return context

    def open(self, name: str, role: AgentRole) -> Context:
        return self.find(name) or self.start(name, role)

    def start(self, name: str, role: AgentRole) -> Context:
        """Create a conversation, which has that name from now on."""
        context = self._service.conversations.create(title=name, role=role)
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            file.write(context.id)
        Path(file.name).replace(path)
        return context

    def _read_id(self, name: str) -> str:
        try:
            return self._path(name).read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""

    def _path(self, name: str) -> Path:
        settings = self._service.settings
        key = f"{settings.workspace.resolve()}\n{name}".encode("utf-8", "surrogateescape")
        return settings.data_dir / "terminal" / hashlib.sha256(key).hexdigest()[:32]


_TICK_SECONDS = 0.1


@dataclass(frozen=True)
class CliRequest:
    role: AgentRole
    text: str
    """Empty to execute the current plan."""
    conversation: str = ""
    new: bool = False
    model: str | None = None
    prompt: str | None = None
    """The base prompt to use from now on."""
    policy: dict[str, Any] | None = None
    as_json: bool = False


async def run_request(settings: Settings, request: CliRequest) -> int:
    async with open_service(settings, interactive=is_interactive()) as service:
        return await CliSession(service, request, Screen()).run()


class CliSession:
    def __init__(self, service: CoworkService, request: CliRequest, screen: Screen) -> None:
        self._service = service
        self._request = request
        self._screen = screen
        self._asking = (
            TerminalPrompter(service, screen, TerminalInput()) if service.interactive else None
        )
        self._held: list[Event] = []
        self._outcome = CliOutcome()
        self._stopping: asyncio.Task[Job] | None = None

    async def run(self) -> int:
        model = await self._model()
        context, plan = self._context()
        if self._request.prompt:
            context = self._service.conversations.choose_prompt(context.id, self._request.prompt)
        self._narrator = Narrator(self._screen, plan.plan if plan else None)
        after = self._service.journal.store.last_seq(context.id)
        job_id = await self._begin(context, plan)
        self._listen_for_signals(job_id)
        asking = [self._asking.go_on()] if self._asking else []
        await _first_of(self._follow(context.id, after, job_id), self._tick(), *asking)
        job = self._service.jobs.get(job_id)
        self._conclude(job, self._request.model or context.model or model)
        return self._exit_code(job)

    async def _model(self) -> str:
        """The model's name. Raises Unavailable if none answers."""
        state = (await self._service.health()).model
        if not state.ready and not self._request.model:
            raise Unavailable(state.why_not or "No model answers.", code="no_model")
        return state.name or ""

    def _context(self) -> tuple[Context, PlanRevision | None]:
        request, conversations = self._request, FolderConversations(self._service)
        if not request.text:
            context = conversations.get(request.conversation)
            plan = self._service.plans.find(context.id)
            if plan is None:
                raise NotFound(
                    "This conversation has no plan yet. Make one with: jupyter cowork plan",
                    code="no_plan",
                )
            return context, plan
        begin = conversations.start if request.new else conversations.open
        return begin(request.conversation, request.role), None

    async def _begin(self, context: Context, plan: PlanRevision | None) -> str:
        request, service = self._request, self._service
        if plan is None:
            message = service.parse_call(request.text)
            sent = await service.send_request(
                context.id, message, request.role, policy=request.policy, model=request.model
            )
            return str(sent.job_id)
        if stale := service.plans.stale_files(plan):
            self._say(f"Changed since the plan was made: {', '.join(stale)}", "ask")
        if rights := rights_of(plan.plan):
            self._say(rights, "ask")
        job = await service.execute_plan(
            context.id,
            plan.revision,
            policy=request.policy,
            model=request.model,
            plan_id=plan.plan_id,
        )
        return job.id

    def _listen_for_signals(self, job_id: str) -> None:
        """The first signal cancels the job, the second ends the program."""

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
        if self._request.as_json:
            self._screen.record(json.dumps(event.model_dump(mode="json")))
        else:
            self._held.append(event)
        if not self._asked_now:  # do not print over an open question
            self._tell_held()
        if self._asking:
            self._asking.take(event)

    def _tell_held(self) -> None:
        held, self._held = self._held, []
        for event in held:
            self._narrator.tell(event)

    def _conclude(self, job: Job, model: str) -> None:
        from ...record.export import duration

        self._screen.hide_status()
        if self._request.as_json:
            return
        self._narrator.finish()
        if job.error:
            self._say(f"cowork: {job.error}", "bad")
        used = f"{job.usage.total_tokens:,} tokens" if job.usage.total_tokens else ""
        facts = (job.status.value, duration(job.working_seconds), used, model, job.context_id)
        self._say(" · ".join(fact for fact in facts if fact), "dim")
        if self._outcome.made_plan and self._request.role is AgentRole.PLANNER:
            name = self._request.conversation
            which = f" -c {shlex.quote(name)}" if name else ""
            self._say(f"To approve and execute it: jupyter cowork act{which}", "dim")

    def _exit_code(self, job: Job) -> int:
        if job.status is JobStatus.CANCELLED:
            return INTERRUPTED
        if self._outcome.was_denied:
            return DENIED
        wanted = self._request.role is not AgentRole.PLANNER or self._outcome.made_plan
        good = wanted and not self._outcome.asks_for_changes
        return SUCCESS if job.status is JobStatus.COMPLETED and good else FAILED

    def _say(self, text: str, style: str) -> None:
        if not self._request.as_json:
            self._screen.line(text, style)


async def _first_of(*work: Coroutine[Any, Any, None]) -> None:
    """Run all until the first has ended, well or badly, and cancel the rest."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in work]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
