"""One conversation that a client has open: what happens in it is told, and what it asks is asked.

One coroutine follows the stored events and tells them in their order; so whatever a client is
told before a turn's end has really come before it. What waits for the user is asked beside it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import aclosing

from acp import Client, RequestError, schema
from acp.helpers import (
    SessionUpdate,
    text_block,
    tool_content,
    update_agent_message_text,
    update_agent_thought_text,
    update_available_commands,
    update_current_mode,
    update_tool_call,
)

from ..agents.run.limits import GO_ON, STOP
from ..domain.contexts import JobStatus, RequestOrigin
from ..domain.data import Data
from ..domain.errors import Conflict, CoworkError
from ..domain.events import (
    Event,
    EventType,
    JobCompleted,
    PermissionRequested,
    PermissionResolved,
    PlanUpdated,
    QuestionAnswered,
    QuestionAsked,
    ReasoningStreamed,
    TaskStarted,
    TextStreamed,
)
from ..domain.message_data import RoleChangeData
from ..domain.messages import Message, MessageType
from ..domain.notices import ToolOutput
from ..domain.plan import Plan
from ..domain.replies import Question
from ..domain.roles import AgentRole
from ..domain.team import rights_of
from ..record.markdown import fenced
from ..service import CoworkService
from ..store import Inquiry
from . import asking, commands
from .inquiries import AcpInquiries
from .problems import INTERNAL
from .turn import Turn
from .updates import Portrayal, plan_update

logger = logging.getLogger(__name__)

OUTPUT_PAUSE = 0.25
"""Seconds between two looks at the output of a command that runs."""
_PLAN_READY = (
    "The plan is ready (revision {revision}). Type `/execute` to approve and execute it, or "
    "say what to change.\n\n"
)
_CHANGED = "The plan has changed since you saw it here. Read it, then type `/execute` again."
_UNUSED = (
    "\n\n> Ignored the MCP servers {names} of this client: only servers in your own settings "
    "are used.\n\n"
)
_BUSY = "A turn is in progress in this session. Wait for it, or cancel it."


class AcpSession:
    """A context of the service, as one client sees it."""

    def __init__(
        self,
        service: CoworkService,
        context_id: str,
        client: Client,
        *,
        forms: bool,
        unused: Sequence[str] = (),
    ) -> None:
        """`forms`: whether the client can show them. `unused` are MCP servers that it named."""
        self._service = service
        self._id = context_id
        self._client = client
        self._forms = forms
        self._unused = unused
        self._portrayal = Portrayal(service.settings.workspace, service.factory.tools.registry)
        self._turn: Turn | None = None
        self._inquiries = AcpInquiries(
            *(service, context_id, client, self._portrayal),
            answer=self._give,
            in_words=self._ask_in_words,
            cancel=self.cancel,
        )
        self._failures: dict[str, str | None] = {}
        self._plan: tuple[Plan, int] | None = None
        self._plan_made = False
        self._outputs: dict[str, tuple[str, float]] = {}
        """Of commands that run: what they said so far, and when that was told."""
        self._following: asyncio.Task[None] | None = None

    # What the client does

    def open(self) -> None:
        """Begin to tell what happens from now on."""
        after = self._service.journal.store.last_seq(self._id)
        self._following = asyncio.create_task(self._follow(after))

    async def close(self) -> None:
        if self._turn is not None:
            self._turn.end("cancelled")
        await self._inquiries.close()
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)

    async def greet(self) -> None:
        """Say which commands there are."""
        await self._tell(update_available_commands(commands.available()))

    async def replay(self) -> None:
        """Tell the whole conversation again, and how its plan stands."""
        after: int | None = 0
        while after is not None:
            page = self._service.conversations.messages(self._id, after)
            for message in page.items:
                for update in self._portrayal.of_message(message):
                    await self._tell(update)
            after = page.next
        revision = self._service.plan(self._id)
        if revision is not None:
            self._take_plan(revision.plan, revision.revision)
            for job in self._service.list_jobs(self._id):
                if (job.plan_id, job.plan_revision) == (revision.plan_id, revision.revision):
                    self._failures |= {task.step_id: task.error for task in job.tasks}
            await self._show_plan()

    async def prompt(self, text: str) -> schema.StopReason:
        """One turn: work, or an answer to what was asked, or a command."""
        if self._turn is not None:
            raise Conflict(_BUSY, code="job_running")
        turn = self._turn = Turn()
        try:
            await self._begin(text, turn)
            return await turn.ended
        finally:
            self._turn = None

    async def cancel(self) -> None:
        if self._turn is not None:
            self._turn.cancelled = True
        running = self._service.journal.store.active_job(self._id)
        if running is not None:
            await self._service.cancel(running.id)

    def roles(self) -> list[AgentRole]:
        """Those that it can go on in."""
        return self._service.role_catalog.all()

    async def set_role(self, role: AgentRole) -> None:
        """Switch the role."""
        if self._service.conversations.get(self._id).role != role:
            await self._service.conversations.switch_role(self._id, role)

    # One turn

    async def _begin(self, text: str, turn: Turn) -> None:
        waiting = self._service.inquiries.pending(self._id, "question")
        if waiting and self._service.journal.store.active_job(self._id):
            await self._answer(waiting, text, turn)
            return
        self._plan_made = False
        if self._unused:
            names, self._unused = ", ".join(self._unused), ()
            await self._tell(update_agent_message_text(_UNUSED.format(names=names)))
        command, rest = commands.split(text)
        try:
            await self._do(command, rest, turn)
        except CoworkError as error:
            if not command:
                raise
            await self._say_and_end(error.message, turn)
        if turn.cancelled:
            await self.cancel()

    async def _do(self, command: str, rest: str, turn: Turn) -> None:
        if command == commands.EXECUTE:
            await self._execute()
        elif command == commands.PLAN:
            self._service.send_message(self._id, rest or "Make a plan.", AgentRole.PLANNER)
        elif command:
            said = await commands.report(self._service, self._id, command, rest)
            await self._say_and_end(said, turn)
        else:
            self._service.send_message(self._id, rest, origin=self._origin())

    def _origin(self) -> RequestOrigin:
        """What is said to a planner is about the plan that the client shows."""
        plan = self._service.plan(self._id)
        is_planner = self._service.conversations.get(self._id).role is AgentRole.PLANNER
        return RequestOrigin(card_id=plan.job_id if plan and is_planner else None)

    async def _execute(self) -> None:
        """The user's approval of the plan, which must be the one that they were shown."""
        newest = self._service.plan(self._id)
        if newest is not None and self._take_plan(newest.plan, newest.revision):
            await self._show_plan()
            raise Conflict(_CHANGED, code="stale_revision")
        plan_id = newest.plan_id if newest else None
        revision = newest.revision if newest else 0
        await self._service.execute_plan(self._id, revision, plan_id=plan_id)

    async def _say_and_end(self, text: str, turn: Turn) -> None:
        await self._tell(update_agent_message_text(f"{text}\n\n"))
        turn.end("end_turn")

    async def _answer(self, waiting: list[Inquiry], text: str, turn: Turn) -> None:
        """The words answer the oldest question; if another one is open, that is next."""
        first, *others = waiting
        question = Question.model_validate(first.data)
        value = asking.answer_in(text, question)
        if value is None:
            await self._say_and_end(
                f"That is not one of the answers.\n\n{asking.question_text(question)}", turn
            )
            return
        self._give(first.id, question, value)
        if others:
            following = Question.model_validate(others[0].data)
            await self._say_and_end(asking.question_text(following), turn)

    def _give(self, question_id: str, question: Question, value: str) -> None:
        self._service.inquiries.answer(question_id, value)
        offered = {option.value for option in question.options}
        if self._turn is not None and value == STOP and GO_ON in offered:
            tokens = "tokens" in question.question
            self._turn.limit = "max_tokens" if tokens else "max_turn_requests"

    # What happens is told

    async def _follow(self, after: int) -> None:
        async with aclosing(self._service.journal.bus.subscribe(self._id, after)) as events:
            async for event in events:
                try:
                    await self._on(event)
                except ConnectionError:
                    logger.debug("The client is gone.")
                    return
                except Exception as error:  # one thing that cannot be told hides no other
                    logger.exception("%s could not be told", event.type)
                    if self._turn is not None and event.type is EventType.JOB_COMPLETED:
                        self._turn.fail(error)

    async def _tell(self, update: SessionUpdate) -> None:
        await self._client.session_update(session_id=self._id, update=update)

    async def _on(self, event: Event) -> None:
        match event.data:
            case TextStreamed(text=text) if event.task_id is None:
                await self._tell(update_agent_message_text(text))
            case ReasoningStreamed(text=text) if event.task_id is None:
                await self._tell(update_agent_thought_text(text))
            case Message() as message:
                await self._on_message(message)
            case PlanUpdated() as plan:
                self._take_plan(plan, plan.revision)
                await self._show_plan()
            case TaskStarted() as task:  # and completed
                self._failures[task.step_id] = task.error
            case RoleChangeData(to=role):
                await self._tell(update_current_mode(role))
            case PermissionRequested() as request:
                self._inquiries.ask_permission(request)
            case QuestionAsked() as question:
                await self._on_question(question.id, question)
            case PermissionResolved(id=decided) | QuestionAnswered(id=decided):
                self._inquiries.let_go(decided)
            case JobCompleted() as job:
                await self._on_end(job.status, job.error)
            case ToolOutput() as output:
                await self._on_output(output.call_id, output.text)
            case Data() as notice if event.type is EventType.NOTICE:
                if said := getattr(notice, "message", None):
                    await self._tell(update_agent_message_text(f"\n\n> {said}\n\n"))

    async def _on_message(self, message: Message) -> None:
        """What was not told yet: the client knows its own words, and the main run's came as
        deltas. Those of steps come whole, because steps that run side by side would mix theirs.
        """
        is_reported = message.message_type in (MessageType.QUESTION, MessageType.ERROR)
        if message.message_type is MessageType.TEXT:
            is_reported = message.role != "assistant" or message.task_id is None
        if not is_reported:
            for update in self._portrayal.of_message(message):
                await self._tell(update)

    async def _on_output(self, call_id: str, text: str) -> None:
        """What a command says while it runs, all of it each time, so not too often."""
        said, told_at = self._outputs.get(call_id, ("", 0.0))
        said, now = said + text, time.monotonic()
        if now - told_at >= OUTPUT_PAUSE:
            told_at = now
            block = tool_content(text_block(fenced(said)))
            await self._tell(update_tool_call(call_id, content=[block]))
        self._outputs[call_id] = (said, told_at)

    def _take_plan(self, plan: Plan, revision: int) -> bool:
        """The plan as it is now; whether it is another one than the client was shown."""
        before = self._plan
        another = before is None or (before[0].id, before[1]) != (plan.id, revision)
        if another:
            self._plan_made = True
            self._failures.clear()
        self._plan = (plan, revision)
        return another

    async def _show_plan(self) -> None:
        if self._plan is not None:
            await self._tell(plan_update(*self._plan, self._failures))

    async def _on_end(self, status: JobStatus, error: str | None) -> None:
        self._outputs.clear()
        if any(self._failures.values()):
            await self._show_plan()  # once more, with what failed
        if status is JobStatus.COMPLETED and self._plan_made and self._plan:
            plan, revision = self._plan
            rights = f"{said}\n\n" if (said := rights_of(plan)) else ""
            ready = _PLAN_READY.format(revision=revision)
            await self._tell(update_agent_message_text(rights + ready))
        if self._turn is None:
            return
        if status is JobStatus.COMPLETED:
            self._turn.end("end_turn")
        elif status is not JobStatus.FAILED:
            self._turn.end("cancelled")
        elif self._turn.limit:
            self._turn.end(self._turn.limit)
        else:
            self._turn.fail(RequestError(INTERNAL, error or "It failed.", {"code": "job_failed"}))

    # What the user is asked

    async def _on_question(self, question_id: str, question: Question) -> None:
        if self._forms:
            self._inquiries.ask_by_form(question_id, question)
        else:
            await self._ask_in_words(question)

    async def _ask_in_words(self, question: Question) -> None:
        """The turn ends with the question; the next prompt is the answer."""
        await self._tell(update_agent_message_text(f"\n\n{asking.question_text(question)}"))
        if self._turn is not None:
            self._turn.end("end_turn")
