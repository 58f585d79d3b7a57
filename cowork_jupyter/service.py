"""The service that every host wraps. Plain Python: it knows nothing of Jupyter."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .domain.cell_changes import CellChange, CellDecision
from .domain.contexts import HERE, Context, Initiator, Job, JobKind, RequestOrigin
from .domain.errors import Conflict, CoworkError, InvalidInput, NotFound, Unavailable
from .domain.events import Event
from .domain.health import Health, Problem
from .domain.identity import now
from .domain.message_data import RoleChangeData, TextData
from .domain.messages import Message, MessageType, TextPart
from .domain.queue import QueuedMessage
from .domain.reproduction import Reproduction
from .domain.role_view import RoleView
from .domain.roles import DEFAULT_ROLE, AgentRole
from .domain.settings import Settings
from .health import describe
from .llm.base_prompts import DEFAULT_PROMPT, role_named
from .llm.reachable import HOW_TO_CONNECT, ModelProbe
from .parts import Parts

if TYPE_CHECKING:
    from .agents.guests import McpGuests
    from .agents.jobs import Work
    from .agents.loop import Outcome
    from .agents.user import Ruling
    from .checkpoints import CheckpointDiff, RollbackResult, Scope
    from .parts import NotebookHost
    from .policy.decision import Decision
    from .record import Audit, Export, ExportFormat, Redactor
    from .store import CheckpointRecord, Inquiry, Page, PlanRevision
    from .tools.kernel.state import Kernels

logger = logging.getLogger(__name__)

MAX_TITLE = 80


class CoworkService(Parts):
    """What hosts can ask of Cowork and tell it to do."""

    def __init__(
        self,
        settings: Settings,
        *,
        interactive: bool = True,
        notebooks: NotebookHost | None = None,
        kernels: Kernels | None = None,
    ) -> None:
        super().__init__(settings, interactive=interactive, notebooks=notebooks, kernels=kernels)
        self._probe = ModelProbe(lambda: self.connections.current())

    def job_ended(self, job: Job) -> None:
        """What the user said while it ran, and no turn of it has read, begins the next job."""
        from .agents.steering import clear_queue

        queued = self.journal.store.queued_messages(job.context_id)
        if not queued or self.jobs.closing:
            return
        is_about_plan = job.role is AgentRole.PLANNER and job.plan_id
        origin = RequestOrigin(card_id=job.card_id) if is_about_plan else HERE
        text = "\n\n".join(one.content for one in queued)
        try:
            self.send_message(job.context_id, text, job.role, origin=origin)
        except CoworkError as error:
            logger.warning("What was queued in %s stays there: %s", job.context_id, error)
            return
        with self.journal.transaction() as tx:
            clear_queue(tx, job.context_id)

    # How things are

    async def health(self, problems: Iterable[Problem] = (), *, fresh: bool = False) -> Health:
        """How this installation is doing; `problems` are what only the host can see."""
        # Plug-ins are not loaded only to look after them; what they did wrong is told once known.
        known = self.workflows.problems if "installed_workflows" in self.__dict__ else []
        known = [*known, *self.rules.problems()]
        local = self.current_model.local_state()
        state = local or await self._probe.state(fresh=fresh)
        return describe(self.settings, state, [*problems, *known])

    def redactor(self) -> Redactor:
        """Knows what to keep out of files that are given to others."""
        from .record import Redactor

        return Redactor.of(self.settings, self.connections.secrets())

    def roles(self) -> list[RoleView]:
        """Every role, as cards and menus show them."""
        return [
            RoleView.of(role, [one.name for one in self.tools.permitted(role)] + _team_tools(role))
            for role in AgentRole
        ]

    # Conversations

    def create_context(
        self,
        *,
        notebook: str | None = None,
        title: str = "",
        role: AgentRole = DEFAULT_ROLE,
        model: str | None = None,
        system_prompt_id: str = DEFAULT_PROMPT,
        owner: str = "",
    ) -> Context:
        if self.prompts.find(system_prompt_id) is None:
            raise InvalidInput(
                f"system_prompt_id: there is no base prompt '{system_prompt_id}'.",
                code="unknown_prompt",
            )
        context = Context(
            notebook=notebook,
            title=title,
            role=role,
            model=model,
            system_prompt_id=system_prompt_id,
        )
        with self.journal.transaction() as tx:
            tx.save_context(context)
            if owner:
                tx.set_owner(context.id, owner)
        return context

    def owner(self, context_id: str) -> str:
        """Who made a conversation; empty if that is not known."""
        return self.journal.store.owner(context_id)

    def context(self, context_id: str) -> Context:
        return self.journal.store.context(context_id)

    def contexts(
        self,
        after: int | None = None,
        limit: int = 100,
        owner: str | None = None,
        notebook: str | None = None,
    ) -> Page[Context]:
        """Conversations, newest first; with an owner, only theirs and nobody's."""
        return self.journal.store.contexts(after, limit, owner, notebook)

    def rename_context(self, context_id: str, title: str) -> Context:
        """Give a conversation another name."""
        named = self.context(context_id).model_copy(update={"title": title})
        return self.journal.store.save_context(named)

    async def delete_context(self, context_id: str) -> None:
        """Remove a conversation; what runs in it is stopped first."""
        from .agents.steering import clear_queue

        with self.journal.transaction() as tx:
            clear_queue(tx, context_id)  # else it would begin another job
        running = self.journal.store.active_job(context_id)
        if running:
            await self.jobs.cancel(running.id)
        self.journal.store.delete_context(context_id)
        await self.checkpointing.lazy_store.forget_context(context_id)

    def names(self, context: Context) -> list[str | None]:
        """What cells of its notebook call it: its title, and nothing if nobody has given it one."""
        first = self.journal.store.goal(context.id)
        is_named = context.title and (first is None or context.title != _title(first.text))
        return [context.title] if is_named else [context.title, None]

    def messages(self, context_id: str, after: int = 0, limit: int = 200) -> Page[Message]:
        """What was said, whole, oldest first."""
        self.context(context_id)
        return self.journal.store.messages(context_id, after, limit)

    def send_message(
        self,
        context_id: str,
        text: str,
        role: AgentRole | None = None,
        policy: Mapping[str, Any] | None = None,
        model: str | None = None,
        origin: RequestOrigin = HERE,
        *,
        replan: bool = False,
    ) -> Message:
        """Say something to the agent; it works on it in a job of its own.

        The stored message carries the job's id. A `policy` holds rules for this job only. With
        a `model` the conversation goes on with that one. To `replan` is to ask for the same goal
        once more: who answers by rules need not understand the words.
        """
        rules = self.rules.read_policy(policy)
        context = self._with_chosen(self.context(context_id), model)
        job = self._new_job(context, JobKind.MESSAGE, role or context.role, text, origin)

        async def work(started: Job) -> Outcome:
            ready = await self._with_model(context)
            return await self.plans.work_on(ready, started.role, started, text)

        message = self._begin(context, job, work, replan=replan)
        self.rules.set_policy(job.id, rules)
        return message

    def _new_job(
        self, context: Context, kind: JobKind, role: AgentRole, request: str, origin: RequestOrigin
    ) -> Job:
        """A job that says what it is. On another's card it goes on with what that card is about."""
        card = self._card(context, origin.card_id) if origin.card_id else None
        return Job(
            context_id=context.id,
            kind=kind,
            role=role,
            request=request,
            plan_id=card.plan_id if card else None,
            plan_revision=card.plan_revision if card else None,
            notebook=context.notebook,
            cell_id=origin.cell_id,
            by=origin.by,
            card_id=card.id if card else "",
        )

    def _card(self, context: Context, job_id: str) -> Job:
        """The job whose card it is, given any job on that card."""
        card = self.journal.store.card(context.id, job_id)
        if card is None:
            raise InvalidInput("card_id: this conversation has no such job.", code="unknown_card")
        return card

    def _with_chosen(self, context: Context, model: str | None) -> Context:
        """The context as it goes on: with another model, if one was chosen and nothing runs."""
        if not model or model == context.model or self.journal.store.active_job(context.id):
            return context
        chosen = context.model_copy(update={"model": model})
        self.journal.store.save_context(chosen)
        return chosen

    def _begin(self, context: Context, job: Job, work: Work, *, replan: bool = False) -> Message:
        """Store what the user asked for, and begin what it takes."""
        facts = {"cell_id": job.cell_id, "replan": replan}
        facts = {name: value for name, value in facts.items() if value}
        message = Message(
            context_id=context.id,
            role="user",
            agent_role=job.role,
            content=[TextPart(text=job.request)],
            data=TextData.model_validate(facts),
        )
        self.jobs.start(job, message, work)
        if not context.title:
            self._name_after(context.id, job.request)
        return message.model_copy(update={"job_id": job.id})

    def _name_after(self, context_id: str, text: str) -> None:
        """A conversation without a name is known by what was asked first."""
        self.rename_context(context_id, _title(text))

    def run_workflow(
        self,
        name: str,
        parameters: dict[str, Any],
        context_id: str | None = None,
        owner: str = "",
        by: Initiator = "person",
    ) -> Message:
        """Begin one of the ready-made actions; without a context, in a new one of the owner's.

        The agent works on its request. A plan that is ready needs no agent: it is shown at once.
        """
        workflow = self.workflows.named(name)
        given = workflow.validated(parameters)
        ready = workflow.ready_plan(given)
        plan = self.plans.checked(ready) if ready is not None else None
        if context_id is None:
            notebook = getattr(given, "notebook", None)
            about = {"notebook": notebook} if isinstance(notebook, str) else {}
            context_id = self.create_context(
                title=workflow.title, role=workflow.role, owner=owner, **about
            ).id
        context, text = self.context(context_id), workflow.render(given)
        job = self._new_job(context, JobKind.WORKFLOW, workflow.role, text, RequestOrigin(by=by))

        async def work(started: Job) -> Outcome:
            if plan is not None:
                return await self.plans.propose(started, plan)
            ready = await self._with_model(context)
            return await self.plans.work_on(ready, started.role, started, text)

        return self._begin(context, job, work)

    def enhanced_prompt(
        self, prompt_id: str, role: AgentRole | None = None, context_id: str | None = None
    ) -> tuple[str, AgentRole, str]:
        """A whole system prompt with its id and role, as the context's newest request has it."""
        # Without a conversation the marks are those of none, so that it is the same each time.
        context = Context(id="") if context_id is None else self.context(context_id)
        named = role_named(prompt_id)
        if named and role not in (None, named):
            why = f"role: '{prompt_id}' names a role already, and not this one."
            raise InvalidInput(why, code="role_mismatch")
        acting = named or role or context.role
        prompt_id = DEFAULT_PROMPT if named else prompt_id
        if self.prompts.find(prompt_id) is None:
            raise NotFound(f"There is no base prompt '{prompt_id}'.")
        jobs = reversed(self.journal.store.jobs(context.id))
        newest = next((job.request for job in jobs if job.kind is not JobKind.CHECK), "")
        context = context.model_copy(update={"system_prompt_id": prompt_id})
        return prompt_id, acting, self.factory.prompt(acting, context, newest)

    async def _with_model(self, context: Context) -> Context:
        """The context with a model to ask: its own, the connected, or the only one served."""
        connection = self.connections.current()
        if connection.is_guide and context.model not in (None, "", connection.name):
            raise Unavailable(f"'{context.model}' was asked for. {HOW_TO_CONNECT}", code="no_model")
        if context.model or connection.model:
            return context
        state = await self._probe.state()
        if not state.name:
            raise Unavailable(state.why_not or "No model is connected.", code="no_model")
        return context.model_copy(update={"model": state.name})

    def edit_plan(
        self, context_id: str, plan: dict[str, Any], revision: int, plan_id: str | None = None
    ) -> PlanRevision:
        """Change a plan before it is executed: the current one, unless named."""
        self.context(context_id)
        return self.plans.edit(context_id, plan, revision, plan_id)

    async def execute_plan(
        self,
        context_id: str,
        revision: int,
        max_parallel: int | None = None,
        policy: Mapping[str, Any] | None = None,
        model: str | None = None,
        plan_id: str | None = None,
        origin: RequestOrigin = HERE,
    ) -> Job:
        """The user's approval: the role becomes actor, and the plan is executed.

        It is the current plan unless `plan_id` names another. A `policy` holds rules that count
        for this job only. With a `model` the conversation goes on with that one.
        """
        chosen = self._with_chosen(self.context(context_id), model)
        context = await self._with_model(chosen)
        rules = self.rules.read_policy(policy)
        job = self._new_job(context, JobKind.PLAN, AgentRole.ACTOR, "", origin)
        approved = {"plan_id": plan_id, "plan_revision": revision}
        job = self.plans.execute(job.model_copy(update=approved), context, max_parallel)
        self.rules.set_policy(job.id, rules)
        if context.role is not AgentRole.ACTOR:
            self._record_role(context_id, AgentRole.ACTOR, origin.by)
        return job

    async def reproduce(self, context_id: str, job_id: str | None = None) -> Reproduction:
        """Check that the conversation's notebook runs, on the card of that job if one is named."""
        context = self.context(context_id)
        card = self._card(context, job_id) if job_id else None
        return await self.reproductions.start(context, card)

    def resume(self, job_id: str, limits: Mapping[str, int | float] | None = None) -> Job:
        """Go on with a job that was interrupted or stopped; `limits` replace its own."""
        return self.plans.resume(job_id, limits)

    async def switch_role(
        self,
        context_id: str,
        role: AgentRole,
        *,
        confirm: bool = False,
        by: Initiator = "person",
    ) -> Context:
        """Let the conversation go on in another role, from the next message on."""
        store = self.journal.store
        running = store.active_job(context_id)
        if running and not confirm:
            raise Conflict(
                "A job is running; switching the role now would stop it. Confirm to do so.",
                code="confirmation_required",
                details={"job_id": running.id},
            )
        if running:
            await self.jobs.cancel(running.id)
        return self._record_role(context_id, role, by)

    def _record_role(self, context_id: str, role: AgentRole, by: Initiator) -> Context:
        before = self.journal.store.context(context_id)
        after = before.model_copy(update={"role": role, "updated_at": now()})
        said = f"The role is now {role.spec.label}."
        facts: dict[str, Any] = {"from": before.role, "to": role}
        if by != "person":
            said += " A cell switched it."
            facts["by"] = by
        data = RoleChangeData.model_validate(facts)
        with self.journal.transaction() as tx:
            tx.save_context(after)
            tx.append_message(
                Message(
                    context_id=context_id,
                    role="system",
                    agent_role=role,
                    message_type=MessageType.ROLE_CHANGE,
                    content=[TextPart(text=said)],
                    data=data,
                )
            )
            tx.append_event(context_id, data)
        return after

    def list_jobs(self, context_id: str) -> list[Job]:
        """The jobs of a conversation, oldest first."""
        self.context(context_id)
        return self.journal.store.jobs(context_id)

    def job(self, job_id: str) -> Job:
        """One job with its tasks."""
        return self.journal.store.job(job_id)

    async def cancel(self, job_id: str) -> Job:
        self.job(job_id)
        return await self.jobs.cancel(job_id)

    def waiting(self) -> list[tuple[Inquiry, Context]]:
        """Everything that waits for the user, and where."""
        found = self.journal.store.pending_inquiries()
        return [(one, self.context(one.context_id)) for one in found]

    def pending_questions(self, context_id: str) -> list[Inquiry]:
        """Questions that wait for the user."""
        self.context(context_id)
        return self.journal.store.pending_inquiries(context_id, "question")

    def pending_permissions(self, context_id: str) -> list[Inquiry]:
        """Calls that wait for the user's permission."""
        self.context(context_id)
        return self.journal.store.pending_inquiries(context_id, "permission")

    def queued_messages(self, context_id: str) -> list[QueuedMessage]:
        """What the user has said and no agent has read yet."""
        self.context(context_id)
        return self.journal.store.queued_messages(context_id)

    def queue_message(self, context_id: str, content: str) -> QueuedMessage:
        """Say something to the agent while it works, for its next turn."""
        from .agents.steering import queue_message

        self.context(context_id)
        return queue_message(self.journal, context_id, content)

    def take_back(self, context_id: str, message_id: str) -> None:
        """Take back what was queued, unless it was read."""
        from .agents.steering import take_back

        take_back(self.journal, context_id, message_id)

    def cell_changes(self, notebook: str) -> list[CellChange]:
        """What agents changed in a notebook and the user has not decided about, oldest first."""
        return self.journal.store.pending_cell_changes(notebook)

    def decide_cell_changes(self, ids: Sequence[str], decision: CellDecision) -> list[CellChange]:
        """What the user says to changes of cells."""
        from .agents.cell_changes import decide

        return decide(self.journal, ids, decision)

    async def move_file(self, old: str, new: str) -> None:
        """The user has renamed or moved a file, or a folder: conversations, plans, runs, cells to
        decide about and what can be taken back go along. What was said and done stays as it was.
        """
        with self.journal.transaction() as tx:
            tx.move_file(old, new)
        if "plans" in self.__dict__:
            self.plans.move_file(old, new)
        await self.checkpointing.lazy_store.move_file(old, new)

    async def checkpoints(self, context_id: str) -> list[CheckpointRecord]:
        """States of the workspace that one can go back to, oldest first."""
        self.context(context_id)
        await self.checkpointing.recorder.finish_interrupted()
        return self.journal.store.checkpoints(context_id)

    def checkpoint(self, checkpoint_id: str) -> CheckpointRecord:
        return self.journal.store.checkpoint(checkpoint_id)

    async def checkpoint_diff(
        self, checkpoint_id: str, scope: Scope = "this", until: str | None = None
    ) -> CheckpointDiff:
        """What a checkpoint changed, or its step, its job, or all up to another checkpoint."""
        await self.checkpointing.recorder.finish_interrupted()
        return await self.checkpointing.undo.diff(checkpoint_id, scope, until)

    async def rollback(
        self,
        checkpoint_id: str,
        *,
        scope: Scope = "since",
        paths: Sequence[str] | None = None,
        overwrite: Sequence[str] = (),
        overwrite_cells: Mapping[str, Sequence[str]] | None = None,
        preview: str | None = None,
        dry_run: bool = False,
    ) -> RollbackResult:
        """Put files back as they were before; what the user changed since is left and listed."""
        await self.checkpointing.recorder.finish_interrupted()
        return await self.checkpointing.undo.rollback(
            checkpoint_id,
            scope=scope,
            paths=paths,
            overwrite=overwrite,
            overwrite_cells=overwrite_cells,
            preview=preview,
            dry_run=dry_run,
        )

    def resolve_permissions(self, request_ids: Sequence[str], ruling: Ruling) -> list[Inquiry]:
        """The user's decision about one or several calls that wait: about all of them, or none."""
        for request_id in request_ids:
            self.inquiries.check(request_id, ruling)
        return [self.inquiries.resolve(one, ruling) for one in dict.fromkeys(request_ids)]

    def check_call(
        self,
        role: AgentRole,
        tool: str,
        parameters: Mapping[str, Any],
        context_id: str | None = None,
    ) -> Decision:
        """What would happen if this role called this tool; nothing is run."""
        from .agents.delegation import DELEGATE, check_delegation
        from .agents.log import RunLog

        if tool == DELEGATE:
            denied = self.factory.gate.denied_tools(context_id or "", [DELEGATE])
            return check_delegation(role, parameters, denied=bool(denied))
        found = self.factory.registry.named(tool, role)
        log = RunLog(self.journal, context_id or "", "", role)
        return self.factory.gate.check(log, found, parameters).decision()

    def guest_desk(
        self, role: AgentRole, owner: str = "", policy: Mapping[str, Any] | None = None
    ) -> McpGuests:
        """Where agents of others call our tools, in conversations of that owner's.

        A `policy` holds rules for their calls only.
        """
        from .agents.guests import McpGuests

        return McpGuests(self.factory, self.jobs, role, owner, self.rules.read_policy(policy))

    def answer(self, question_id: str, value: str) -> Inquiry:
        """The user's answer to a question."""
        return self.inquiries.answer(question_id, value)

    def plan(
        self, context_id: str, plan_id: str | None = None, revision: int | None = None
    ) -> PlanRevision | None:
        """A plan of a conversation: the newest revision of the newest plan, unless named."""
        self.context(context_id)
        found = self.journal.store.plan(context_id, revision, plan_id)
        if found is None and (plan_id or revision):
            raise NotFound("There is no such revision of a plan here.", code="no_plan")
        return found

    def list_plans(self, context_id: str) -> list[PlanRevision]:
        """The plans of a conversation, each at its newest revision, oldest first."""
        self.context(context_id)
        return self.journal.store.plans(context_id)

    async def audit(self, context_id: str, job_id: str | None = None) -> Audit:
        """The plan that was executed last, or by that job, beside what the log says happened."""
        from .record import audit, facts_of

        store, tools = self.journal.store, self.factory.registry
        return await asyncio.to_thread(lambda: audit(facts_of(store, context_id, job_id), tools))

    async def export(self, context_id: str, kind: ExportFormat) -> Export:
        """The full record of a conversation, as a file that can be given to others."""
        from .record import export, facts_of

        store, tools = self.journal.store, self.factory.registry
        redactor = self.redactor()
        return await asyncio.to_thread(
            lambda: export(facts_of(store, context_id), kind, tools, redactor)
        )

    def stored_events(self, context_id: str, after: int, limit: int = 500) -> list[Event]:
        """What has happened after a place, without waiting."""
        return self.journal.store.events(context_id, after, limit)

    def events(self, context_id: str, after: int = 0) -> AsyncGenerator[Event, None]:
        """Everything that happened after a place, then everything as it happens."""
        return self.journal.bus.subscribe(context_id, after)


def _title(text: str) -> str:
    return text.strip().partition("\n")[0][:MAX_TITLE]


def _team_tools(role: AgentRole) -> list[str]:
    return ["delegate"] if role.spec.delegates_to else []
