"""One conversation that a client has open.

One coroutine follows the stored events and reports them in order; so whatever a client is told
before a turn's end really happened before it. Requests to the user run beside it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import aclosing

from acp import Client, RequestError, schema
from acp.helpers import SessionUpdate, update_available_commands, update_current_mode

from ...agents.run.limits import GO_ON, STOP
from ...domain.base_models import Data
from ...domain.contexts import JobStatus, RequestOrigin
from ...domain.errors import Conflict, CoworkError
from ...domain.events import (
    Event,
    EventType,
    JobCompleted,
    JobStarted,
    PermissionRequested,
    PermissionResolved,
    PlanUpdated,
    QuestionAnswered,
    QuestionAsked,
    ReasoningStreamed,
    TaskStarted,
    TextStreamed,
    ToolOutput,
    UsageCharged,
)
from ...domain.identity import new_id
from ...domain.messages import Message, MessageType, RoleChangeData, TextData
from ...domain.replies import Question
from ...domain.roles import AgentRole
from ...service.service import CoworkService
from ...store import UserRequest
from . import commands
from .options import SessionOptions
from .prompts import ClientPrompt
from .requests import AcpRequests, parse_answer, question_text
from .session_state import (
    INTERNAL,
    MessageIds,
    RunningOutput,
    SessionUsage,
    ShownPlan,
    Turn,
    is_streamed,
)
from .updates import UpdateBuilder, agent_message, agent_thought

logger = logging.getLogger(__name__)

_CHANGED = "The plan has changed since you saw it here. Read it, then type `/execute` again."
_UNUSED = (
    "\n\n> Ignored the MCP servers {names} of this client: only servers in your own settings "
    "are used.\n\n"
)
_BUSY = "A turn is in progress in this session. Wait for it, or cancel it."


class AcpSession:
    def __init__(
        self,
        service: CoworkService,
        context_id: str,
        client: Client,
        *,
        forms: bool,
        ignored_servers: Sequence[str] = (),
    ) -> None:
        """`forms`: whether the client shows forms. `unused`: MCP servers that it named."""
        self._service = service
        self._id = context_id
        self._client = client
        self._forms = forms
        self._ignored_servers = ignored_servers
        self._updates = UpdateBuilder(service.settings.workspace, service.factory.tools.registry)
        self._turn: Turn | None = None
        self._requests = AcpRequests(
            *(service, context_id, client, self._updates),
            answer=self._give_answer,
            ask_in_words=self._ask_in_words,
            cancel=self.cancel,
        )
        self.options = SessionOptions(service, context_id)
        self._plan = ShownPlan()
        self._outputs = RunningOutput()
        self._usage = SessionUsage(service, context_id)
        self._ids = MessageIds()
        self._streamed: set[str] = set()
        """Ids of messages that were sent while they were written."""
        self._following: asyncio.Task[None] | None = None

    # Called by the agent

    def open(self) -> None:
        """Start reporting events from now on."""
        store = self._service.journal.store
        after, running = store.last_seq(self._id), store.active_job(self._id)
        for message in store.job_messages(running.id) if running else ():
            self._ids.take(message)
        self._following = asyncio.create_task(self._follow(after))

    async def close(self) -> None:
        if self._turn is not None:
            self._turn.end("cancelled")
        await self._requests.close()
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)

    async def greet(self) -> None:
        await self._send(update_available_commands(commands.available()))

    async def replay(self) -> None:
        """Report the whole conversation again, and the state of its plan."""
        ids = MessageIds()
        after: int | None = 0
        while after is not None:
            page = self._service.conversations.messages(self._id, after)
            for message in page.items:
                for update in self._updates.of_message(message, ids.take(message)):
                    await self._send(update)
            after = page.next
        revision = self._service.plans.find(self._id)
        if revision is not None:
            self._plan.take(revision.plan, revision.revision)
            for job in self._service.jobs.of(self._id):
                if (job.plan_id, job.plan_revision) == (revision.plan_id, revision.revision):
                    self._plan.failures |= {task.step_id: task.error for task in job.tasks}
            await self._show_plan()

    async def prompt(self, prompt: ClientPrompt) -> schema.StopReason:
        """One turn: a message, an answer to an open question, or a command."""
        if prompt.pictures:
            self.options.check_vision()
        if self._turn is not None:
            raise Conflict(_BUSY, code="job_running")
        turn = self._turn = Turn()
        try:
            await self._begin(prompt, turn)
            return await turn.ended
        finally:
            self._turn = None

    async def cancel(self) -> None:
        if self._turn is not None:
            self._turn.cancelled = True
        running = self._service.journal.store.active_job(self._id)
        if running is not None:
            await self._service.jobs.cancel(running.id)

    # One turn

    async def _begin(self, prompt: ClientPrompt, turn: Turn) -> None:
        text = prompt.text
        waiting = self._service.requests.pending(self._id, "question")
        if waiting and self._service.journal.store.active_job(self._id):
            await self._answer(waiting, text, turn)
            return
        self._plan.is_new = False
        if self._ignored_servers:
            names, self._ignored_servers = ", ".join(self._ignored_servers), ()
            await self._remark(_UNUSED.format(names=names))
        command, rest = commands.split(text)
        try:
            await self._do(command, ClientPrompt(rest, prompt.pictures), turn)
        except CoworkError as error:
            if not command:
                raise
            await self._say_and_end(error.message, turn)
        if turn.cancelled:
            await self.cancel()

    async def _do(self, command: str, rest: ClientPrompt, turn: Turn) -> None:
        pictures = rest.pictures
        if command == commands.EXECUTE:
            await self._execute()
        elif command == commands.PLAN:
            goal = rest.text or "Make a plan."
            self._service.send_message(self._id, goal, AgentRole.PLANNER, pictures=pictures)
        elif command:
            said = await commands.report(self._service, self._id, command, rest.text)
            await self._say_and_end(said, turn)
        else:
            origin = self._origin()
            request = self._service.parse_call(rest.text)
            await self._service.send_request(self._id, request, origin=origin, pictures=pictures)

    def _origin(self) -> RequestOrigin:
        """A message to a planner is about the plan that the client shows."""
        plan = self._service.plans.find(self._id)
        is_planner = self._service.conversations.get(self._id).role is AgentRole.PLANNER
        return RequestOrigin(card_id=plan.job_id if plan and is_planner else None)

    async def _execute(self) -> None:
        """Approve the plan, which must be the one that the user was shown."""
        newest = self._service.plans.find(self._id)
        if newest is not None and self._plan.take(newest.plan, newest.revision):
            await self._show_plan()
            raise Conflict(_CHANGED, code="stale_revision")
        plan_id = newest.plan_id if newest else None
        revision = newest.revision if newest else 0
        await self._service.execute_plan(self._id, revision, plan_id=plan_id)

    async def _say_and_end(self, text: str, turn: Turn) -> None:
        await self._remark(f"{text}\n\n")
        turn.end("end_turn")

    async def _answer(self, waiting: list[UserRequest], text: str, turn: Turn) -> None:
        """Answer the oldest question; if another one is open, ask that next."""
        first, *others = waiting
        question = Question.model_validate(first.data)
        value = parse_answer(text, question)
        if value is None:
            await self._say_and_end(
                f"That is not one of the answers.\n\n{question_text(question)}", turn
            )
            return
        self._give_answer(first.id, question, value)
        if others:
            following = Question.model_validate(others[0].data)
            await self._say_and_end(question_text(following), turn)

    def _give_answer(self, question_id: str, question: Question, value: str) -> None:
        self._service.requests.answer(question_id, value)
        offered = {option.value for option in question.options}
        if self._turn is not None and value == STOP and GO_ON in offered:
            tokens = "tokens" in question.question
            self._turn.limit = "max_tokens" if tokens else "max_turn_requests"

    # Events to updates

    async def _follow(self, after: int) -> None:
        async with aclosing(self._service.journal.bus.subscribe(self._id, after)) as events:
            async for event in events:
                try:
                    await self._on_event(event)
                except ConnectionError:
                    logger.debug("The client is gone.")
                    return
                except Exception as error:  # a failed update must not stop the others
                    logger.exception("%s could not be told", event.type)
                    if self._turn is not None and event.type is EventType.JOB_COMPLETED:
                        self._turn.fail(error)

    async def _send(
        self, update: SessionUpdate | schema.ConfigOptionUpdate | schema.UsageUpdate
    ) -> None:
        await self._client.session_update(session_id=self._id, update=update)

    async def _remark(self, text: str) -> None:
        """Say something that is not stored."""
        await self._send(agent_message(text, new_id("remark")))

    async def _send_options(self) -> None:
        if update := self.options.changes():
            await self._send(update)

    async def _on_event(self, event: Event) -> None:
        match event.data:
            case TextStreamed(text=text) if event.task_id is None:
                await self._stream(agent_message(text, self._ids.next_id(event.job_id)))
            case ReasoningStreamed(text=text) if event.task_id is None:
                await self._stream(agent_thought(text, self._ids.next_id(event.job_id)))
            case Message() as message:
                await self._on_message(message)
            case PlanUpdated() as plan:
                self._plan.take(plan, plan.revision)
                await self._show_plan()
            case TaskStarted() as task:  # and its subclass TaskCompleted
                self._plan.failures[task.step_id] = task.error
            case RoleChangeData(to=role):
                await self._send(update_current_mode(role))
                await self._send_options()
            case JobStarted():
                await self._send_options()  # the request may have chosen another model
            case UsageCharged() as charged if event.task_id is None:
                self._usage.take(charged)
            case PermissionRequested() as request:
                self._requests.ask_permission(request)
            case QuestionAsked() as question:
                await self._on_question(question.id, question)
            case PermissionResolved(id=decided) | QuestionAnswered(id=decided):
                self._requests.withdraw(decided)
            case JobCompleted() as job:
                await self._on_end(job.status, job.error)
            case ToolOutput() as output:
                if update := self._outputs.add(output.call_id, output.text):
                    await self._send(update)
            case Data() as notice if event.type is EventType.NOTICE:
                if said := getattr(notice, "message", None):
                    await self._remark(f"\n\n> {said}\n\n")

    async def _stream(self, chunk: schema.AgentMessageChunk | schema.AgentThoughtChunk) -> None:
        if chunk.message_id:
            self._streamed.add(chunk.message_id)
        await self._send(chunk)

    async def _on_message(self, message: Message) -> None:
        """Report a message unless the client has it: it knows its own, and the main run's text came
        as deltas. Steps' messages come whole, because parallel steps would mix their deltas.
        """
        message_id = self._ids.take(message)
        is_reported = message.message_type in (MessageType.QUESTION, MessageType.ERROR)
        if message.message_type is MessageType.TEXT:
            is_reported = message.role != "assistant"
        if is_streamed(message) and isinstance(message.data, TextData) and message.data.problem:
            is_reported = True  # unusable, so already reported
        for update in () if is_reported else self._updates.of_message(message, message_id):
            if getattr(update, "message_id", None) not in self._streamed:
                await self._send(update)

    async def _show_plan(self) -> None:
        if update := self._plan.update():
            await self._send(update)

    async def _on_end(self, status: JobStatus, error: str | None) -> None:
        self._outputs.clear()
        if any(self._plan.failures.values()):
            await self._show_plan()  # again, with the failures
        if status is JobStatus.COMPLETED and (said := self._plan.how_to_approve()):
            await self._remark(said)
        if usage := self._usage.update():
            await self._send(usage)
        if self._turn is None:
            return
        if status is JobStatus.COMPLETED:
            self._turn.end("end_turn")
        elif self._turn.limit and status is not JobStatus.INTERRUPTED:
            self._turn.end(self._turn.limit)
        elif status is not JobStatus.FAILED:
            self._turn.end("cancelled")
        else:
            self._turn.fail(RequestError(INTERNAL, error or "It failed.", {"code": "job_failed"}))

    # Questions

    async def _on_question(self, question_id: str, question: Question) -> None:
        if self._forms:
            self._requests.ask_by_form(question_id, question)
        else:
            await self._ask_in_words(question)

    async def _ask_in_words(self, question: Question) -> None:
        """The turn ends with the question; the next prompt is the answer."""
        await self._remark(f"\n\n{question_text(question)}")
        if self._turn is not None:
            self._turn.end("end_turn")
