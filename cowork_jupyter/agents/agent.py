"""An agent: a role with its prompt, its tools and its model, ready to run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ..bus import Journal
from ..domain.connection import Connection
from ..domain.contexts import Context, Job
from ..domain.errors import NotFound
from ..domain.guidance import Guidance, GuidanceUsed
from ..domain.message_data import TextData
from ..domain.messages import Message
from ..domain.notices import Notice
from ..domain.plan import PlanStep
from ..domain.roles import AgentRole, Permission
from ..domain.settings import Settings, ToolProtocol
from ..guidance.skill_catalogue import guidance_of
from ..guidance.skill_tool import body_of
from ..guidance.skills import Skills
from ..llm.base_prompts import BasePrompt
from ..llm.client import LanguageModel
from ..llm.known_models import KnownModels
from ..llm.prompt import PromptParts, render_prompt, search_tools
from ..llm.tokens import TokenCounter
from ..llm.vision import VisionSupport
from ..mcp.client.servers import McpServers
from ..roles import RoleCatalog
from ..tools.base import Tool
from ..tools.find_tools import find_tools_in
from ..tools.registry import ToolRegistry
from .delegation import Delegation
from .log import RunLog
from .mentions.lookup import Mentioned, head_of, look_up
from .mentions.reach import Reach
from .notebook.lookup import describe_notebook_context
from .pools.pool import AsyncioPool, WorkerPool
from .prompting import PromptSources, described, request_for
from .run.answer_form import AnswerForm, wanted_files
from .run.budget import Budget, JobBudget
from .run.day_account import DayAccount
from .run.expectations import HeldExpectations
from .run.figure_check import FigureCheck
from .run.limits import RunLimits
from .run.loop import AgentLoop
from .run.model_request import RequestForm
from .run.model_session import ModelSession
from .run.outcome import Outcome
from .run.resource_watch import JobResources, ResourceWatch
from .run.table_lookup import describe_tables
from .run.tool_environment import ToolEnvironment
from .run.tool_runner import ToolRunner


@dataclass
class ModelAccess:
    """The model to ask, and what is known of it by now."""

    model: LanguageModel
    counter: TokenCounter = field(default_factory=TokenCounter)
    vision: VisionSupport = field(default_factory=VisionSupport)
    known: KnownModels = field(default_factory=KnownModels)
    connection: Callable[[], Connection] = Connection

    @property
    def small_model(self) -> str:
        """For summaries and completions; empty for the model itself."""
        return self.connection().small_model


@dataclass
class CurrentParts:
    """What a run's prompt consists of now: tools may be found, or the protocol change."""

    parts: PromptParts
    log: RunLog

    def become(self, parts: PromptParts) -> RequestForm:
        self.parts = parts
        return self.form

    @property
    def form(self) -> RequestForm:
        parts = self.parts
        return RequestForm(
            system=render_prompt(parts),
            protocol=parts.protocol,
            arguments=request_for(parts, in_task=self.log.task_id is not None),
            tools=frozenset(tool.spec.name for tool in parts.tools),
            runs_code=parts.runs_code,
            memory="\n".join(
                guidance.text for guidance in parts.guidance if guidance.about.kind == "memory"
            ),
        )


@dataclass
class AgentFactory:
    """Makes and runs the agents of one workspace."""

    settings: Settings
    journal: Journal
    tools: ToolEnvironment
    llm: ModelAccess
    prompts: PromptSources
    pool: WorkerPool = field(default_factory=AsyncioPool)
    """Reads large tables."""
    mcp: McpServers | None = None
    """Its resources can be mentioned."""
    watch: ResourceWatch | None = None
    """Reports changes of resources that jobs have read."""
    skills: Skills = field(default_factory=Skills)
    """Can be called with `/`."""
    roles: RoleCatalog = field(default_factory=RoleCatalog)
    day: DayAccount | None = None
    """The usage of all jobs of a day."""

    def prompt(self, role: AgentRole, context: Context, request: str = "") -> str:
        role = self.roles.living(role)
        base = self.prompts.base.find(context.system_prompt_id)
        return render_prompt(self._parts(role, context, request, base, self.tools.registry))

    def budget(self, job: Job, role: AgentRole) -> JobBudget:
        """The account of a job; whoever runs the job makes one for all that works in it."""
        log = RunLog(self.journal, job.context_id, job.id, role)
        day = None if self.llm.model.is_guide else self.day
        return JobBudget(job, self.settings, log, self.tools.user, day)

    async def run(
        self,
        context: Context,
        role: AgentRole,
        job_id: str,
        request: str,
        budget: Budget,
        task_id: str | None = None,
        step: PlanStep | None = None,
        registry: ToolRegistry | None = None,
    ) -> Outcome:
        """Let an agent of this role work on the newest request in the context.

        `step` is the step of an approved plan that it carries out, which grants what it says;
        `registry` has the tools if those of a step run elsewhere.
        """
        role = self.roles.living(role)
        log = RunLog(self.journal, context.id, job_id, role, task_id)
        offered = (
            self.pool.with_large_tables(self.tools.registry, log) if registry is None else registry
        )
        context = context.model_copy(update={"notebook": log.notebook})
        limits = RunLimits(budget.settings)
        with limits.waiting():
            await offered.prepare(role)
            await self.llm.known.look()
        base = self.prompts.base.usable(context.system_prompt_id)
        current = CurrentParts(self._parts(role, context, request, base, offered), log)

        def reform(protocol: ToolProtocol) -> RequestForm:
            parts = self._parts(role, context, request, base, offered, protocol)
            return current.become(parts)

        if not role.is_known:
            log.event(_role_unknown(role))
        if not current.parts.base:
            log.event(_prompt_missing(context.system_prompt_id))
        if guidance := self._guided_by(current.parts):
            log.event(GuidanceUsed(items=guidance))
        resources = JobResources(self.watch, log) if self.watch else None
        where = await describe_notebook_context(self.tools, log, self.settings, self.llm.counter)
        tables = await describe_tables(self.tools, log, request)
        session = ModelSession(
            model=self.llm.model,
            log=log,
            limits=limits,
            budget=budget,
            request_form=current.form,
            reform=reform,
            frame=self.prompts.frames.of(context.id),
            model_name=context.model or "",
            counter=self.llm.counter,
            known=self.llm.known,
            small_model=self.llm.small_model,
            vision=self.llm.vision,
            note="\n\n".join(filter(None, [where, tables.text])),
            form=AnswerForm.of(request) if step is None else AnswerForm(),
            is_about_tables=tables.is_asked_about,
            is_step=step is not None,
            look_up=partial(self._look_up, log, resources),
        )
        if task_id is None:
            await session.look_up_mentions(self.journal.store.goal(context.id, job_id))
        registry = self._with_delegation(offered, context, log, limits, budget)
        if current.parts.others:
            registry = self._with_find_tools(registry, current, session)
        figures = FigureCheck(
            log,
            registry,
            self.tools.gate.notebooks,
            self.tools.workspace,
            session.notes,
            may_object=not self.llm.model.is_guide,
        )
        tools = replace(self.tools, registry=registry)
        runner = ToolRunner(tools, log, step, limits.waiting, figures=figures)
        if resources:
            runner.follow = resources.follow
        async with self.tools.recorded_job(job_id, role):
            wanted = self._wanted_files(request, runner) if step is None else ()
            held = self.held_expectations() if _answers_for_tables(role, task_id) else None
            user = self.tools.user
            loop = AgentLoop(
                *(log, session, runner, figures, user, limits, budget, wanted, held),
                agents=self.prompts.externals.all(),
                templates=self.prompts.fitting_templates(role, request),
                resources=resources,
            )
            return await loop.run()

    async def _look_up(
        self, log: RunLog, resources: JobResources | None, message: Message, room: int
    ) -> Mentioned:
        """Resolve the mentions of a user's message, and the skill that it calls."""
        reach, count = self.reach(log, log.notebook), self.llm.counter
        if resources:
            reach = replace(reach, follow=resources.follow)
        said = message.data if isinstance(message.data, TextData) else TextData()
        # What a server wrote points at nothing: only the user may have things read unasked.
        found = await look_up(reach, "" if said.prompt else message.text, room, count)
        called = said.skill
        if called and not self.llm.model.is_guide:  # which reads no guidance
            found.guidance = self._called_skill(log, called, room)
        return found

    def _called_skill(self, log: RunLog, name: str, room: int) -> str:
        try:
            skill = self.skills.open(name)
        except NotFound as gone:  # switched off, or changed, since it was called
            return f"The user wants the skill '{name}' followed. {gone.message}"
        text = head_of(body_of(skill), room, self.llm.counter)
        log.event(GuidanceUsed(items=[guidance_of(skill, self.llm.counter(text))]))
        return f"The user wants the skill '{name}' followed:\n\n{text}\n\n"

    def reach(self, log: RunLog, notebook: str | None) -> Reach:
        """What mentions can refer to, as far as the log's role may read it unasked."""
        return Reach(self.tools, log, notebook, self.mcp)

    def held_expectations(self) -> HeldExpectations:
        return HeldExpectations(self.tools.pinned, self.tools.expectation_checks)

    def _guided_by(self, parts: PromptParts) -> list[Guidance]:
        """That a skill is listed is not yet a use of it, and the guide reads no instructions."""
        unread = {"skill", "instructions"} if self.llm.model.is_guide else {"skill"}
        return [guidance.about for guidance in parts.guidance if guidance.about.kind not in unread]

    def _wanted_files(self, request: str, runner: ToolRunner) -> tuple[str, ...]:
        """The guide reports itself what it wrote; who may not write is asked for nothing."""
        permits = runner.log.role.permits([Permission.CREATE_FILES])
        may_write = permits and not self.llm.model.is_guide
        return wanted_files(request, runner.exists) if may_write else ()

    def _parts(
        self,
        role: AgentRole,
        context: Context,
        request: str,
        base: BasePrompt | None,
        registry: ToolRegistry,
        protocol: ToolProtocol | None = None,
    ) -> PromptParts:
        log = RunLog(self.journal, context.id, "", role)
        nothing = self.budget(Job(context_id=context.id), role)
        limits = RunLimits(self.settings)
        whole = self._with_delegation(registry, context, log, limits, nothing)
        permitted = whole.permitted(role)
        denied = self.tools.gate.denied_tools(context.id, [tool.name for tool in permitted])
        tools = [tool for tool in permitted if tool.name not in denied]
        finder = find_tools_in(registry, lambda _query, _tools: {})  # only to describe it
        model = context.model or self.llm.model.name
        protocol = protocol or self.llm.known.protocol(self.settings.tool_protocol, model)
        return self.prompts.parts(role, context, request, base, tools, finder, protocol)

    def _with_delegation(
        self,
        registry: ToolRegistry,
        context: Context,
        log: RunLog,
        limits: RunLimits,
        budget: Budget,
    ) -> ToolRegistry:
        """A role that leads gets one more tool."""
        if not log.role.spec.delegates_to:
            return registry
        externals = self.prompts.externals
        delegation = Delegation(self.run, self.tools, externals, context, log, limits, budget)
        return registry.plus(delegation.tool())

    def _with_find_tools(
        self, registry: ToolRegistry, current: CurrentParts, session: ModelSession
    ) -> ToolRegistry:
        def search(query: str, tools: Sequence[Tool]) -> dict[str, str]:
            found = search_tools([described(tool) for tool in tools], query)
            # Some servers let the model call only what the request names, so it names these too.
            new = [tool for tool in found if tool not in current.parts.tools]
            grown = current.become(replace(current.parts, tools=[*current.parts.tools, *new]))
            # The prompt stays as it is, for servers that cache it.
            session.request_form = replace(grown, system=session.request_form.system)
            return {tool.spec.name: tool.line for tool in found}

        return registry.plus(find_tools_in(registry, search))


def _answers_for_tables(role: AgentRole, task_id: str | None) -> bool:
    """Whether a run can break an expectation, and nobody but itself checks that."""
    can_change = role.spec.permissions - {Permission.READ_FILES} or role.spec.delegates_to
    return task_id is None and bool(can_change)


def _role_unknown(role: AgentRole) -> Notice:
    message = (
        f"The role '{role}' is missing, or came with this folder and is not trusted yet; "
        "it may only read."
    )
    return Notice(code="role_unknown", message=message)


def _prompt_missing(prompt_id: str) -> Notice:
    """A conversation outlives a file; better to go on and say so than to end it."""
    message = (
        f"The base prompt '{prompt_id}' is missing, or came with this folder and is not "
        "trusted yet; using the default one."
    )
    return Notice(code="prompt_missing", message=message)
