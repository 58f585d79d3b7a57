"""The service that every host wraps. Plain Python: it knows nothing of Jupyter."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar, Unpack, cast

from ..agents.agent import AgentFactory
from ..agents.ask.pending_requests import PendingRequests
from ..agents.commands import (
    MessageRequest,
    WrittenPrompt,
    fetch_prompt,
    parse_call,
    parse_message,
)
from ..agents.delegation import check_delegation
from ..agents.guidance import AllGuidance
from ..agents.jobs import Jobs
from ..agents.log import RunLog
from ..agents.plan.assumptions import Settlement, settle
from ..agents.plan.plans import Plans
from ..agents.plan.reuse import Reuse
from ..agents.reproductions import Reproductions
from ..agents.run.delivery import as_guidance
from ..agents.run.expectations import Expectations
from ..agents.run.outcome import Outcome
from ..agents.run.steering import clear_queue, queue_message
from ..agents.run.watching import CellWatch
from ..checkpoints import Checkpoints
from ..domain.contexts import (
    BY_PERSON,
    Context,
    Initiator,
    Job,
    JobKind,
    QueuedMessage,
    RequestOrigin,
)
from ..domain.errors import CoworkError, InvalidInput, NotFound, Unavailable
from ..domain.figures import Assumption
from ..domain.health import Health, Problem
from ..domain.messages import ImagePart, Message, Reproduction
from ..domain.role_view import RoleView
from ..domain.roles import AgentRole
from ..domain.settings import Settings
from ..llm.base_prompts import DEFAULT_PROMPT, BasePrompts
from ..llm.model_probe import ModelProbe
from ..policy.decision import Decision
from ..policy.rulebook import RuleBook
from ..policy.rules import DELEGATE
from ..policy.trust import Trust
from ..record import Audit, Export, ExportFormat, Redactor, audit, export, read_log
from ..roles.catalog import RoleCatalog
from ..store.journal import Journal
from ..workflows import Template, WorkflowCatalog
from .connections import Connections, CurrentModel
from .conversations import Conversations
from .health import describe
from .new_jobs import JobTerms, NewJobs
from .parts import installed_parts

logger = logging.getLogger(__name__)
S = TypeVar("S")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CoworkService:
    settings: Settings
    interactive: bool
    journal: Journal
    conversations: Conversations
    jobs: Jobs
    new_jobs: NewJobs
    requests: PendingRequests
    plans: Plans
    reproductions: Reproductions
    expectations: Expectations
    workflows: WorkflowCatalog
    reuse: Reuse
    checkpoints: Checkpoints
    factory: AgentFactory
    cell_watch: CellWatch
    connections: Connections
    current_model: CurrentModel
    probe: ModelProbe
    prompts: BasePrompts
    role_catalog: RoleCatalog
    rules: RuleBook
    trust: Trust
    closing: AsyncExitStack
    _of_parts: dict[object, object] = field(default_factory=dict)

    def of(self, kind: Callable[[CoworkService], S]) -> S:
        """What a part keeps for this service; made when it is first asked for."""
        part_state = self._of_parts.get(kind) or self._of_parts.setdefault(kind, kind(self))
        return cast("S", part_state)

    @property
    def guidance(self) -> AllGuidance:
        return self.factory.prompts.guidance

    async def close(self) -> None:
        """Stop everything; what ran is stored as interrupted."""
        await self.closing.aclose()

    def job_ended(self, job: Job) -> None:
        """Start the next job with queued messages that no turn of this one has read."""
        for part in installed_parts():
            if part.on_job_ended:
                part.on_job_ended(self.settings, self.journal, job)
        self.checkpoints.recorder.job_ended(job.id)
        self.factory.foreign.job_ended(job.id)
        queued = self.journal.store.queued_messages(job.context_id)
        if not queued or self.jobs.closing:
            return
        role = self.conversations.get(job.context_id).role
        is_about_plan = role is job.role is AgentRole.PLANNER and job.plan_id
        origin = RequestOrigin(card_id=job.card_id) if is_about_plan else BY_PERSON
        text = "\n\n".join(message.content for message in queued)
        try:
            self.send_message(job.context_id, text, origin=origin)
        except CoworkError as error:
            logger.warning("What was queued in %s stays there: %s", job.context_id, error)
            return
        with self.journal.transaction() as tx:
            clear_queue(tx, job.context_id)

    async def health(self, problems: Iterable[Problem] = (), *, fresh: bool = False) -> Health:
        declared = self.role_catalog.problems()
        settled = self.connections.administrator.problems(self.connections.current().model)
        own_problems = [
            *self.jobs.problems(),
            *self.workflows.known_problems(),
            *declared,
            *self.rules.problems(),
            *settled,
        ]
        local = self.current_model.local_state()
        state = local or await self.probe.state(fresh=fresh)
        sees = bool(state.name) and self.factory.llm.vision.sees(state.name or "")
        state = state.model_copy(update={"sees": sees})
        return describe(self.settings, state, [*problems, *own_problems])

    def redactor(self) -> Redactor:
        """Removes secrets from files that are given to others."""
        return Redactor.of(self.settings, self.connections.secrets())

    def roles(self) -> list[RoleView]:
        permitted = self.factory.tools.registry.permitted
        return [
            RoleView.of(
                role,
                [tool.name for tool in permitted(role)] + [DELEGATE] * bool(role.spec.delegates_to),
                self.role_catalog.delegates_of(role),
            )
            for role in self.role_catalog.all()
        ]

    def current_role(self, context_id: str) -> AgentRole:
        """Who gets the conversation's next message."""
        return self.role_catalog.resolve(self.conversations.get(context_id).role)

    def send_message(
        self,
        context_id: str,
        text: str,
        role: AgentRole | None = None,
        *,
        replan: bool = False,
        skill: str = "",
        pictures: Sequence[ImagePart] = (),
        prompt: WrittenPrompt | None = None,
        **terms: Unpack[JobTerms],
    ) -> Message:
        """Send a message to the agent, which works on it in a new job.

        The stored message carries the job's id. `replan` asks for the same goal once more: a model
        that answers by rules need not understand the text. A `skill` is one to follow. A `prompt`
        of a server is sent instead of the text that calls it.
        """
        if prompt:
            text, pictures = prompt.text, [*prompt.pictures, *pictures]
        rules = self.rules.read_policy(terms.get("policy"))
        context = self.new_jobs.context(context_id, terms.get("model"))
        origin = terms.get("origin", BY_PERSON)
        job = self.new_jobs.create(context, JobKind.MESSAGE, role or context.role, text, origin)

        async def work(started: Job) -> Outcome:
            ready = await self.new_jobs.with_model(context)
            return await self.factory.run_job(ready, started)

        called = prompt.name if prompt else ""
        facts: dict[str, bool | str] = {"replan": replan, "skill": skill, "prompt": called}
        message = self.new_jobs.start(
            context, job, work, facts, pictures, sets_role=origin.sets_role
        )
        self.rules.set_policy(job.id, rules)
        return message

    def parse_message(self, text: str) -> MessageRequest:
        """Raises InvalidInput for an unknown command."""
        return parse_message(
            text,
            self.role_catalog.all(),
            self.workflows.current(),
            self.factory.foreign.names(),
            self._skill_names,
        )

    def parse_call(self, text: str) -> MessageRequest:
        """The same for hosts where one switches roles and runs workflows otherwise: there all
        other text is said as it is.
        """
        return parse_call(text, self.factory.foreign.names(), self._skill_names())

    def _skill_names(self) -> list[str]:
        return [skill.name for skill in self.guidance.skills()]

    async def send_request(
        self,
        context_id: str,
        request: MessageRequest,
        role: AgentRole | None = None,
        *,
        replan: bool = False,
        pictures: Sequence[ImagePart] = (),
        **terms: Unpack[JobTerms],
    ) -> Message:
        """Do what a message asks for, in a new job."""
        if request.workflow:
            call, origin = request.workflow, terms.get("origin", BY_PERSON)
            return self.run_workflow(call.name, call.parameters, context_id, by=origin.by)
        servers = self.factory.foreign
        return self.send_message(
            context_id,
            request.text,
            request.role or role,
            replan=replan,
            skill=request.skill,
            pictures=pictures,
            prompt=await fetch_prompt(request.prompt, servers) if request.prompt else None,
            **terms,
        )

    def run_workflow(
        self,
        name: str,
        parameters: dict[str, Any],
        context_id: str | None = None,
        owner: str = "",
        by: Initiator = "person",
    ) -> Message:
        """Start a workflow; without a context, in a new one of the owner's.

        The agent works on its request. A ready plan needs no agent: it is shown at once.
        """
        workflow = self.workflows.current().named(name)
        arguments = workflow.validated(parameters)
        ready = workflow.ready_plan(arguments)
        plan = self.plans.validate(ready) if ready else None
        used = [as_guidance(workflow)] if isinstance(workflow, Template) else []
        if context_id is None:
            notebook = getattr(arguments, "notebook", None)
            about = {"notebook": notebook} if isinstance(notebook, str) else {}
            context_id = self.conversations.create(
                title=workflow.title, role=workflow.role, owner=owner, **about
            ).id
        context = self.conversations.get(context_id)
        text = workflow.render(arguments, as_recipe=not self.factory.llm.model.traits.reads_prompt)
        origin = RequestOrigin(by=by)
        job = self.new_jobs.create(context, JobKind.WORKFLOW, workflow.role, text, origin)

        async def work(started: Job) -> Outcome:
            if plan is not None:
                return await self.plans.propose(started, plan, used)
            ready = await self.new_jobs.with_model(context)
            return await self.factory.run_job(ready, started)

        return self.new_jobs.start(context, job, work)

    async def enhanced_prompt(
        self, prompt_id: str, role: AgentRole | None = None, context_id: str | None = None
    ) -> tuple[str, AgentRole, str]:
        """The system prompt for the context's newest request, with its id and role."""
        # Without a conversation the marks are those of none, so that it is the same each time.
        context = Context(id="") if context_id is None else self.conversations.get(context_id)
        is_prompt = self.prompts.find(prompt_id) is not None
        named = None if is_prompt else self.role_catalog.named(prompt_id)
        if named and role not in (None, named):
            why = f"role: '{prompt_id}' already names another role."
            raise InvalidInput(why, code="role_mismatch")
        acting = named or role or context.role
        prompt_id = DEFAULT_PROMPT if named else prompt_id
        if not is_prompt and not named:
            raise NotFound(f"There is no base prompt '{prompt_id}'.")
        jobs = reversed(self.journal.store.jobs(context.id))
        newest = next((job.request for job in jobs if job.kind is not JobKind.CHECK), "")
        context = context.model_copy(update={"system_prompt_id": prompt_id})
        with suppress(Unavailable):  # it can be read without a model, too
            context = await self.new_jobs.with_model(context)
        await self.factory.get_ready(acting)
        return prompt_id, acting, self.factory.prompt(acting, context, newest)

    def settle_assumption(
        self, context_id: str, settlement: Settlement
    ) -> tuple[list[Assumption], str | None]:
        """Store what the user says of an assumption. Returns all of the same plan or answer.

        A correction goes to the planner, in a new job, whose id comes second; a running job reads
        it like any queued message.
        """
        self.conversations.get(context_id)
        settled = settle(self.plans, context_id, settlement)
        if not settled.news:
            return settled.assumptions, None
        if self.journal.store.active_job(context_id):
            queue_message(self.journal, context_id, settled.news)
            return settled.assumptions, None
        origin = RequestOrigin(card_id=settled.job_id)
        message = self.send_message(context_id, settled.news, AgentRole.PLANNER, origin=origin)
        return settled.assumptions, message.job_id

    async def execute_plan(
        self,
        context_id: str,
        revision: int,
        max_parallel: int | None = None,
        plan_id: str | None = None,
        **terms: Unpack[JobTerms],
    ) -> Job:
        """The user's approval: the role becomes actor, and the plan is executed.

        It is the current plan unless `plan_id` names another.
        """
        chosen = self.new_jobs.context(context_id, terms.get("model"))
        context = await self.new_jobs.with_model(chosen)
        rules, origin = (
            self.rules.read_policy(terms.get("policy")),
            terms.get("origin", BY_PERSON),
        )
        job = self.new_jobs.create(context, JobKind.PLAN, AgentRole.ACTOR, "", origin)
        approved = {"plan_id": plan_id, "plan_revision": revision}
        job = self.plans.execute(job.model_copy(update=approved), context, max_parallel)
        self.rules.set_policy(job.id, rules)
        if context.role is not AgentRole.ACTOR:
            self.conversations.record_role(context_id, AgentRole.ACTOR, origin.by)
        return job

    async def reproduce(self, context_id: str, job_id: str | None = None) -> Reproduction:
        context = self.conversations.get(context_id)
        card = self.new_jobs.card(context, job_id) if job_id else None
        return await self.reproductions.start(context, card)

    def queued_messages(self, context_id: str) -> list[QueuedMessage]:
        self.conversations.get(context_id)
        return self.journal.store.queued_messages(context_id)

    async def move_file(self, old: str, new: str) -> None:
        """The user has renamed or moved a file or folder: update conversations, plans, runs, cell
        changes and checkpoints. What was said and done stays as it was.
        """
        with self.journal.transaction() as tx:
            tx.move_file(old, new)
        self.plans.move_file(old, new)
        await self.checkpoints.lazy_store.move_file(old, new)

    def check_call(
        self,
        role: AgentRole,
        tool: str,
        parameters: Mapping[str, Any],
        context_id: str | None = None,
    ) -> Decision:
        """What would happen if this role called this tool; nothing is run."""
        log = RunLog(self.journal, context_id or "", "", role)
        if tool == DELEGATE:
            ruling = self.factory.tools.gate.ruling(DELEGATE, parameters, log)
            delegates = self.role_catalog.delegates_of(role)
            return check_delegation(role, delegates, parameters, ruling)
        resolved = self.factory.tools.registry.named(tool, role).for_call(role, parameters)
        return self.factory.tools.gate.check(log, resolved, parameters).decision()

    async def audit(self, context_id: str, job_id: str | None = None) -> Audit:
        """The plan that was executed last, or by that job, beside what the log says happened."""
        store, tools = self.journal.store, self.factory.tools.registry
        return await asyncio.to_thread(lambda: audit(read_log(store, context_id, job_id), tools))

    async def export(self, context_id: str, kind: ExportFormat) -> Export:
        store, tools = self.journal.store, self.factory.tools.registry
        redactor = self.redactor()
        return await asyncio.to_thread(
            lambda: export(read_log(store, context_id), kind, tools, redactor)
        )
