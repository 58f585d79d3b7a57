"""Foreign agents that call our tools over MCP; their calls are treated like those of our own
agents.

A guest has a conversation of its own. A job runs there as long as any of its calls does, so each
call is decided, asked about, recorded and stored as usual, and the user can stop it. The user is
asked in the guest's client too, which hears of progress.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from ...agents.agent import AgentFactory
from ...agents.ask.pending_requests import PendingRequests
from ...agents.ask.user import Approver, PermissionRequest, Ruling
from ...agents.jobs import Jobs
from ...agents.log import RunLog
from ...agents.run.call_log import CallRecord
from ...agents.run.outcome import Outcome
from ...agents.run.tool_runner import ToolRunner
from ...domain.contexts import Context, Job, JobKind, JobStatus
from ...domain.errors import CoworkError, NotFound
from ...domain.events import Choice
from ...domain.messages import Message, TextData, TextPart
from ...domain.replies import ToolCall
from ...domain.roles import AgentRole
from ...llm.tokens import cut_middle, estimate_tokens
from ...policy.rules import Rule
from ...policy.visible import spell_hidden, visible
from ...record.account import rollback_gap
from ...service.service import CoworkService
from ...tools.base import Tool, ToolResult
from ...tools.kernel.scratch import require_notebook
from ...tools.registry import ToolRegistry
from .tool_host import Ask, Consent, GuestCaller, Tell

MAX_RESULT_SIZE = 20_000
"""Tokens per result; some clients take little more."""
_MAX_NAME_LENGTH = 60
REPEAT_SECONDS = 5.0
"""Seconds of silence after which the last message is repeated."""
_MAX_LENGTH = 500
_MAX_QUEUED = 100
_DRAIN_SECONDS = 1.0
"""Seconds that a call waits for its last messages to be delivered."""

Say = Callable[[str], None]

_MAX_SHOWN = 4_000


def guests_of(
    service: CoworkService,
    role: AgentRole,
    owner: str = "",
    policy: Mapping[str, Any] | None = None,
) -> McpGuests:
    """Lets foreign agents call our tools, in conversations of that owner's.

    A `policy` holds rules for their calls only.
    """
    rules = service.rules.read_policy(policy)
    return McpGuests(service.factory, service.jobs, service.requests, role, owner, rules)


class McpGuests:
    """Guests of one user, all under the same role."""

    def __init__(
        self,
        factory: AgentFactory,
        jobs: Jobs,
        requests: PendingRequests,
        role: AgentRole,
        owner: str = "",
        policy: Sequence[Rule] = (),
    ) -> None:
        self.factory = factory
        self.jobs = jobs
        self.requests = requests
        self.role = role
        self.owner = owner
        self.policy = list(policy)
        # What servers of others offer to us is not ours to offer; and a guest is in no notebook.
        self.registry = ToolRegistry(
            require_notebook(tool)
            for tool in factory.tools.registry.values()
            if not tool.fingerprint
        )
        self._guests: dict[str, _Guest] = {}

    def tools(self) -> list[Tool]:
        permitted = self.registry.permitted(self.role)
        denied = self.factory.tools.gate.denied_tools("", [tool.name for tool in permitted])
        return [tool for tool in permitted if tool.name not in denied]

    async def call(self, caller: GuestCaller, tool: str, parameters: dict[str, Any]) -> ToolResult:
        """Run one call once it is allowed. Raises CoworkError if it was denied or failed."""
        name = visible(caller.name.strip())[:_MAX_NAME_LENGTH] or "another agent"
        known = self._guests.setdefault(name, _Guest(self, name))
        record = await known.call(ToolCall(tool=tool, parameters=parameters), caller)
        if record.error is not None:
            raise record.error
        assert record.result is not None
        return _truncate(record.result, tool)


def _truncate(result: ToolResult, tool: str) -> ToolResult:
    """Truncate for the model; the store has it whole."""
    hint = f"To see it, call {tool} again for a smaller part, for example fewer lines."
    return replace(result, text=cut_middle(result.text, MAX_RESULT_SIZE, estimate_tokens, hint))


@dataclass
class _Guest:
    guests: McpGuests
    name: str
    _context_id: str = ""
    _job: _GuestJob | None = None
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def call(self, call: ToolCall, caller: GuestCaller) -> CallRecord:
        """Run one call. Cancelling the wait cancels the call."""
        async with self._starting:
            running = (await self._current_job()).begin(call, caller)
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError:
            running.cancel()
            raise
        if running.cancelled():
            raise CoworkError(f"The user stopped {call.tool}.", code="cancelled")
        (record,) = running.result()
        return record

    async def _current_job(self) -> _GuestJob:
        if self._job is not None and not self._job.over:
            return self._job
        if self._job is not None:
            with suppress(NotFound):  # the user has removed it, with its conversation
                await self.guests.jobs.wait(self._job.log.job_id)
        self._job = self._begin()
        return self._job

    def _begin(self) -> _GuestJob:
        guests, context = self.guests, self._context()
        guest_job = _GuestJob(guests)
        text = f"{self.name} calls tools over MCP, as the {guests.role.spec.label}."
        message = Message(
            context_id=context.id,
            role="user",
            agent_role=guests.role,
            content=[TextPart(text=text)],
            data=TextData(guest=self.name),
        )
        job = Job(
            context_id=context.id, kind=JobKind.GUEST, role=guests.role, request=text, by="guest"
        )
        guests.jobs.start(job, message, guest_job.work)
        guests.factory.tools.gate.rules.set_policy(job.id, guests.policy)
        guest_job.log = RunLog(guests.factory.journal, context.id, job.id, guests.role)
        return guest_job

    def _context(self) -> Context:
        journal = self.guests.factory.journal
        with suppress(NotFound):
            if self._context_id:
                return journal.store.context(self._context_id)
        context = Context(title=f"MCP: {self.name}", role=self.guests.role)
        with journal.transaction() as tx:
            tx.save_context(context)
            if self.guests.owner:
                tx.set_owner(context.id, self.guests.owner)
        self._context_id = context.id
        return context


class _GuestJob:
    """One job: from a guest's first call until none is running."""

    log: RunLog

    def __init__(self, guests: McpGuests) -> None:
        self._guests = guests
        self._calls: set[asyncio.Task[list[CallRecord]]] = set()
        self.over = False

    def begin(self, call: ToolCall, caller: GuestCaller) -> asyncio.Task[list[CallRecord]]:
        running = asyncio.create_task(self._run(call, caller))
        self._calls.add(running)
        running.add_done_callback(self._calls.discard)
        return running

    async def _run(self, call: ToolCall, caller: GuestCaller) -> list[CallRecord]:
        async with reporting_progress(call.tool, caller.tell) as say:
            return await self._runner(say, caller).run([call])

    async def work(self, job: Job) -> Outcome:
        """Ends with the last call, or ends them all when it is stopped."""
        guests = self._guests
        async with guests.factory.tools.recorded_job(job.id, guests.role):
            try:
                while self._calls:
                    await asyncio.wait(self._calls)
                return Outcome()
            except asyncio.CancelledError:
                # Not to be resumed: whoever made the calls has been told that they failed.
                await self._stop()
                return Outcome(JobStatus.CANCELLED)
            finally:
                self.over = True

    async def _stop(self) -> None:
        for call in self._calls:
            call.cancel()
        if self._calls:
            await asyncio.wait(self._calls)

    def _runner(self, say: Say, caller: GuestCaller) -> ToolRunner:
        tools = self._guests.factory.tools
        approver = GuestApprover(tools.gate.approver, self._guests.requests, caller, say)
        gate = replace(tools.gate, approver=approver)
        offered = replace(tools, registry=self._guests.registry, gate=gate)
        return ToolRunner(offered, self.log, listener=say)


def running_message(tool: str) -> str:
    return f"{tool} is running"


@asynccontextmanager
async def reporting_progress(tool: str, tell: Tell) -> AsyncIterator[Say]:
    """Deliver messages to the guest in order, and repeat the last one.

    Nothing is reported for a call that ends before that and says nothing.
    """
    words = asyncio.Queue[str](_MAX_QUEUED)

    def say(text: str) -> None:
        if text := text.strip()[-_MAX_LENGTH:]:
            with suppress(asyncio.QueueFull):
                words.put_nowait(text)

    passing_on = asyncio.create_task(_pass_on(words, tell, running_message(tool)))
    try:
        yield say
        with suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_SECONDS):
                await words.join()
    finally:
        passing_on.cancel()


async def _pass_on(words: asyncio.Queue[str], tell: Tell, last: str) -> None:
    while True:
        new = False
        with suppress(TimeoutError):
            async with asyncio.timeout(REPEAT_SECONDS):
                last, new = await words.get(), True
        with suppress(Exception):  # it may have gone, which is noticed elsewhere
            await tell(last)
        if new:
            words.task_done()


@dataclass(frozen=True)
class GuestApprover:
    """Asks in our panel and, if possible, in the guest's client. The first answer counts."""

    approver: Approver
    requests: PendingRequests
    caller: GuestCaller
    say: Say

    async def decide(self, request: PermissionRequest, log: RunLog) -> Ruling:
        self.say(f"Waiting for the user: {request.tool} {request.resource}")
        if self.caller.ask is None:
            ruling = await self.approver.decide(request, log)
        else:
            ruling = await self._elicit(self.caller.ask, request, log)
        if ruling.decision == "allow":
            self.say(running_message(request.tool))
        return ruling

    async def _elicit(self, ask: Ask, request: PermissionRequest, log: RunLog) -> Ruling:
        here = asyncio.create_task(self.requests.decide(request, log))
        there = asyncio.ensure_future(ask(describe_request(request)))
        try:
            await asyncio.wait([here, there], return_when=asyncio.FIRST_COMPLETED)
            if not here.done():
                await self._take_over(there.result(), here, request, log)
            return await here if not here.cancelled() else await self.approver.decide(request, log)
        finally:
            there.cancel()
            here.cancel()

    async def _take_over(
        self,
        consent: Consent | None,
        here: asyncio.Task[Ruling],
        request: PermissionRequest,
        log: RunLog,
    ) -> None:
        if consent is not None:
            decision: Choice = "allow" if consent.is_given else "deny"
            ruling = Ruling(decision=decision, feedback=consent.reason, by=self.caller.name)
            self.requests.resolve_call(request.call_id, ruling, log)
        elif self.approver is not self.requests:  # nobody is here
            here.cancel()
            await asyncio.wait([here])


def describe_request(request: PermissionRequest) -> str:
    text = request.shown.text
    cut = text[:_MAX_SHOWN]
    lines = [f"{request.tool} {request.resource}".strip(), *request.why]
    if gap := rollback_gap(request):
        lines.append(gap)
    lines += ["", cut]
    if len(cut) < len(text) or not request.shown.complete:
        lines.append("… This is only the beginning. See the rest in JupyterLab.")
    return spell_hidden("\n".join(lines))
