"""The service that every host wraps. Plain Python: it knows nothing of Jupyter."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from .agents.agent import AgentFactory
from .agents.ask.inquiries import Inquiries
from .agents.delegation import DELEGATE, check_delegation
from .agents.expectations import Expectations
from .agents.following import as_guidance
from .agents.guests import McpGuests
from .agents.jobs import Jobs, Work
from .agents.log import RunLog
from .agents.mentions.commands import called_prompt, called_skill
from .agents.mentions.completion import Completion
from .agents.mentions.prompts import WrittenPrompt, written
from .agents.plan.assumptions import Settlement, settle
from .agents.plan.plans import Plans
from .agents.plan.reuse import Reuse
from .agents.reproductions import Reproductions
from .agents.run.cell_watching import CellWatch
from .agents.run.day_account import DayAccount
from .agents.run.outcome import Outcome
from .agents.run.steering import clear_queue, queue_message
from .agents.suggestions.suggestions import Suggestions
from .bus import Journal
from .checkpoints import Checkpoints
from .connections import Connections, CurrentModel
from .conversations import Conversations
from .domain.contexts import HERE, Context, Initiator, Job, JobKind, RequestOrigin
from .domain.errors import CoworkError, InvalidInput, NotFound, Unavailable
from .domain.figures import Assumption
from .domain.health import Health, Problem
from .domain.message_data import TextData
from .domain.messages import ImagePart, Message, TextPart
from .domain.queue import QueuedMessage
from .domain.reproduction import Reproduction
from .domain.role_view import RoleView
from .domain.roles import AgentRole
from .domain.settings import Settings
from .domain.suggestions import SuggestionEvent, SuggestionRequest
from .guidance.first_instructions import first_instructions
from .guidance.instruction_files import FILE_NAME
from .guidance.instructions import InstructionFinder
from .guidance.memory import WorkspaceMemory
from .guidance.skills import Skills
from .health import describe
from .llm.base_prompts import DEFAULT_PROMPT, BasePrompts
from .llm.reachable import HOW_TO_CONNECT, ModelProbe
from .mcp.client.servers import McpServers
from .policy.decision import Decision
from .policy.rulebook import RuleBook
from .policy.trust import Trust
from .record import Audit, Export, ExportFormat, Redactor, audit, export, facts_of
from .record.memory import MemoryProposals
from .roles import RoleCatalog
from .store import PlanRevision
from .workflows import Template, WorkflowCatalog

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CoworkService:
    """What hosts can ask of Cowork and tell it to do.

    Its fields are the parts that `build_service` makes; hosts ask those directly that need no more
    than themselves.
    """

    settings: Settings
    interactive: bool
    journal: Journal
    conversations: Conversations
    jobs: Jobs
    inquiries: Inquiries
    plans: Plans
    reproductions: Reproductions
    suggestions: Suggestions
    expectations: Expectations
    workflows: WorkflowCatalog
    reuse: Reuse
    checkpoints: Checkpoints
    factory: AgentFactory
    cell_watch: CellWatch
    completion: Completion
    connections: Connections
    day: DayAccount
    current_model: CurrentModel
    probe: ModelProbe
    mcp: McpServers
    prompts: BasePrompts
    instructions: InstructionFinder
    skills: Skills
    role_catalog: RoleCatalog
    rules: RuleBook
    trust: Trust
    memory: WorkspaceMemory
    proposals: MemoryProposals
    closing: AsyncExitStack

    async def close(self) -> None:
        """Stop everything; what ran is stored as interrupted."""
        await self.closing.aclose()

    def job_ended(self, job: Job) -> None:
        """What the user said while it ran, and no turn of it has read, begins the next job."""
        self.proposals.job_ended(job)
        self.checkpoints.recorder.job_ended(job.id)
        if self.factory.watch:
            self.factory.watch.job_ended(job.id)
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

    async def health(self, problems: Iterable[Problem] = (), *, fresh: bool = False) -> Health:
        """How this installation is doing; `problems` are what only the host can see."""
        declared = self.role_catalog.problems()
        settled = self.connections.administrator.problems(self.connections.current().model)
        known = [*self.workflows.known_problems(), *declared, *self.rules.problems(), *settled]
        local = self.current_model.local_state()
        state = local or await self.probe.state(fresh=fresh)
        sees = bool(state.name) and self.factory.llm.vision.sees(state.name or "")
        state = state.model_copy(update={"sees": sees})
        return describe(self.settings, state, [*problems, *known])

    def redactor(self) -> Redactor:
        """Knows what to keep out of files that are given to others."""
        return Redactor.of(self.settings, self.connections.secrets())

    def start_instructions(self, *, show: bool) -> tuple[str, str]:
        """Write a first `AGENTS.md`, which its author trusts at once; or only show it."""
        text = first_instructions(self.factory.tools.workspace)
        if not show:
            self.trust.add(self.instructions.create(text))
        return FILE_NAME, text

    def roles(self) -> list[RoleView]:
        """Every role, as cards and menus show them."""
        permitted = self.factory.tools.registry.permitted
        return [
            RoleView.of(role, [tool.name for tool in permitted(role)] + _team_tools(role))
            for role in self.role_catalog.all()
        ]

    def addressee(self, context: Context) -> AgentRole:
        """Who gets the next message of a conversation."""
        return self.role_catalog.living(self.journal.store.addressee(context))

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
        skill: str = "",
        pictures: Sequence[ImagePart] = (),
        prompt: WrittenPrompt | None = None,
    ) -> Message:
        """Say something to the agent; it works on it in a job of its own.

        The stored message carries the job's id. A `policy` holds rules for this job only. With
        a `model` the conversation goes on with that one. To `replan` is to ask for the same goal
        once more: who answers by rules need not understand the words. A `skill` is one to follow.
        A `prompt` of a server is sent instead of the text that calls it.
        """
        if prompt:
            text, pictures = prompt.text, [*prompt.pictures, *pictures]
        rules = self.rules.read_policy(policy)
        context = self._with_chosen(self.conversations.get(context_id), model)
        job = self._new_job(context, JobKind.MESSAGE, role or context.role, text, origin)

        async def work(started: Job) -> Outcome:
            ready = await self._with_model(context)
            return await self.plans.work_on(ready, started.role, started, text)

        called = prompt.name if prompt else ""
        facts: dict[str, bool | str] = {"replan": replan, "skill": skill, "prompt": called}
        message = self._begin(context, job, work, facts, pictures)
        self.rules.set_policy(job.id, rules)
        return message

    async def send_words(
        self,
        context_id: str,
        text: str,
        role: AgentRole | None = None,
        policy: Mapping[str, Any] | None = None,
        model: str | None = None,
        origin: RequestOrigin = HERE,
        pictures: Sequence[ImagePart] = (),
    ) -> Message:
        """The same for words that may call a skill, or a prompt of a server, and nothing else."""
        call = called_prompt(text, self.mcp.names())
        prompt = await written(call, self.mcp) if call else None
        skill, said = called_skill(text, self.skills)
        place = (context_id, said, role, policy, model, origin)
        return self.send_message(*place, skill=skill, pictures=pictures, prompt=prompt)

    def _new_job(
        self, context: Context, kind: JobKind, role: AgentRole, request: str, origin: RequestOrigin
    ) -> Job:
        """A job that says what it is. On another's card it goes on with what that card is about."""
        self._refuse_beyond_limits(context)
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

    def _refuse_beyond_limits(self, context: Context) -> None:
        """What the administrator does not allow does not begin."""
        connection = self.connections.current()
        if not connection.is_guide:
            self.connections.administrator.check_model(context.model or connection.model)
            self.day.check()

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

    def _begin(
        self,
        context: Context,
        job: Job,
        work: Work,
        facts: Mapping[str, bool | str] = MappingProxyType({}),
        pictures: Sequence[ImagePart] = (),
    ) -> Message:
        """Store what the user asked for, and begin what it takes."""
        told = {"cell_id": job.cell_id, **facts}
        message = Message(
            context_id=context.id,
            role="user",
            agent_role=job.role,
            content=[TextPart(text=job.request), *pictures],
            data=TextData.model_validate({name: one for name, one in told.items() if one}),
        )
        self.jobs.start(job, message, work)
        if not context.title:
            self.conversations.name_after(context.id, job.request)
        return message.model_copy(update={"job_id": job.id})

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
        workflow = self.workflows.current().named(name)
        given = workflow.validated(parameters)
        ready = workflow.ready_plan(given)
        plan = self.plans.checked(ready) if ready is not None else None
        used = [as_guidance(workflow)] if isinstance(workflow, Template) else []
        if context_id is None:
            notebook = getattr(given, "notebook", None)
            about = {"notebook": notebook} if isinstance(notebook, str) else {}
            context_id = self.conversations.create(
                title=workflow.title, role=workflow.role, owner=owner, **about
            ).id
        context, text = self.conversations.get(context_id), workflow.render(given)
        job = self._new_job(context, JobKind.WORKFLOW, workflow.role, text, RequestOrigin(by=by))

        async def work(started: Job) -> Outcome:
            if plan is not None:
                return await self.plans.propose(started, plan, used)
            ready = await self._with_model(context)
            return await self.plans.work_on(ready, started.role, started, text)

        return self._begin(context, job, work)

    def enhanced_prompt(
        self, prompt_id: str, role: AgentRole | None = None, context_id: str | None = None
    ) -> tuple[str, AgentRole, str]:
        """A whole system prompt with its id and role, as the context's newest request has it."""
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
        return prompt_id, acting, self.factory.prompt(acting, context, newest)

    async def _with_model(self, context: Context) -> Context:
        """The context with a model to ask: its own, the connected, or the only one served."""
        connection = self.connections.current()
        if connection.is_guide and context.model not in (None, "", connection.name):
            raise Unavailable(
                f"This conversation needs the model '{context.model}'. {HOW_TO_CONNECT}",
                code="no_model",
            )
        if context.model or connection.model:
            return context
        state = await self.probe.state()
        if not state.name:
            raise Unavailable(state.why_not or "No model is connected.", code="no_model")
        return context.model_copy(update={"model": state.name})

    def edit_plan(
        self, context_id: str, plan: dict[str, Any], revision: int, plan_id: str | None = None
    ) -> PlanRevision:
        """Change a plan before it is executed: the current one, unless named."""
        self.conversations.get(context_id)
        return self.plans.edit(context_id, plan, revision, plan_id)

    def settle_assumption(
        self, context_id: str, said: Settlement
    ) -> tuple[list[Assumption], str | None]:
        """Store what the user says of an assumption; all of the same plan or answer as they stand.

        A correction goes to the planner, in a new job, whose id comes second; a job that is under
        way reads it as it reads all that is said meanwhile.
        """
        self.conversations.get(context_id)
        settled = settle(self.plans, context_id, said)
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
        policy: Mapping[str, Any] | None = None,
        model: str | None = None,
        plan_id: str | None = None,
        origin: RequestOrigin = HERE,
    ) -> Job:
        """The user's approval: the role becomes actor, and the plan is executed.

        It is the current plan unless `plan_id` names another. A `policy` holds rules that count
        for this job only. With a `model` the conversation goes on with that one.
        """
        chosen = self._with_chosen(self.conversations.get(context_id), model)
        context = await self._with_model(chosen)
        rules = self.rules.read_policy(policy)
        job = self._new_job(context, JobKind.PLAN, AgentRole.ACTOR, "", origin)
        approved = {"plan_id": plan_id, "plan_revision": revision}
        job = self.plans.execute(job.model_copy(update=approved), context, max_parallel)
        self.rules.set_policy(job.id, rules)
        if context.role is not AgentRole.ACTOR:
            self.conversations.record_role(context_id, AgentRole.ACTOR, origin.by)
        return job

    async def reproduce(self, context_id: str, job_id: str | None = None) -> Reproduction:
        """Check that the conversation's notebook runs, on the card of that job if one is named."""
        context = self.conversations.get(context_id)
        card = self._card(context, job_id) if job_id else None
        return await self.reproductions.start(context, card)

    def suggest(
        self, context_id: str, request: SuggestionRequest
    ) -> AsyncGenerator[SuggestionEvent, None]:
        """Code or words for one cell, as they come; nothing is changed and no job begins."""
        context = self.conversations.get(context_id)
        self._refuse_beyond_limits(context)
        return self.suggestions.stream(context, request, self._with_model)

    def list_jobs(self, context_id: str) -> list[Job]:
        """The jobs of a conversation, oldest first."""
        self.conversations.get(context_id)
        return self.journal.store.jobs(context_id)

    def job(self, job_id: str) -> Job:
        """One job with its tasks."""
        return self.journal.store.job(job_id)

    async def cancel(self, job_id: str) -> Job:
        self.job(job_id)
        return await self.jobs.cancel(job_id)

    def queued_messages(self, context_id: str) -> list[QueuedMessage]:
        """What the user has said and no agent has read yet."""
        self.conversations.get(context_id)
        return self.journal.store.queued_messages(context_id)

    async def move_file(self, old: str, new: str) -> None:
        """The user has renamed or moved a file, or a folder: conversations, plans, runs, cells to
        decide about and what can be taken back go along. What was said and done stays as it was.
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
        if tool == DELEGATE:
            denied = self.factory.tools.gate.denied_tools(context_id or "", [DELEGATE])
            return check_delegation(role, parameters, denied=bool(denied))
        found = self.factory.tools.registry.named(tool, role).for_call(role, parameters)
        log = RunLog(self.journal, context_id or "", "", role)
        return self.factory.tools.gate.check(log, found, parameters).decision()

    def guest_desk(
        self, role: AgentRole, owner: str = "", policy: Mapping[str, Any] | None = None
    ) -> McpGuests:
        """Where agents of others call our tools, in conversations of that owner's.

        A `policy` holds rules for their calls only.
        """
        rules = self.rules.read_policy(policy)
        return McpGuests(self.factory, self.jobs, self.inquiries, role, owner, rules)

    def plan(
        self, context_id: str, plan_id: str | None = None, revision: int | None = None
    ) -> PlanRevision | None:
        """A plan of a conversation: the newest revision of the newest plan, unless named."""
        self.conversations.get(context_id)
        found = self.journal.store.plan(context_id, revision, plan_id)
        if found is None and (plan_id or revision):
            raise NotFound("This conversation has no such plan revision.", code="no_plan")
        return found

    def list_plans(self, context_id: str) -> list[PlanRevision]:
        """The plans of a conversation, each at its newest revision, oldest first."""
        self.conversations.get(context_id)
        return self.journal.store.plans(context_id)

    async def audit(self, context_id: str, job_id: str | None = None) -> Audit:
        """The plan that was executed last, or by that job, beside what the log says happened."""
        store, tools = self.journal.store, self.factory.tools.registry
        return await asyncio.to_thread(lambda: audit(facts_of(store, context_id, job_id), tools))

    async def export(self, context_id: str, kind: ExportFormat) -> Export:
        """The full record of a conversation, as a file that can be given to others."""
        store, tools = self.journal.store, self.factory.tools.registry
        redactor = self.redactor()
        return await asyncio.to_thread(
            lambda: export(facts_of(store, context_id), kind, tools, redactor)
        )


def _team_tools(role: AgentRole) -> list[str]:
    return ["delegate"] if role.spec.delegates_to else []
