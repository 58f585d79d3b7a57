"""An agent: a role with its prompt, its tools and its model, ready to run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ..domain.contexts import Context, Job
from ..domain.errors import NotFound
from ..domain.events import Notice
from ..domain.guidance import GuidanceUsed
from ..domain.messages import Message, TextData
from ..domain.plan import PlanStep
from ..domain.roles import AgentRole, Permission
from ..domain.settings import Connection, Settings, ToolProtocol
from ..llm.base_prompts import BasePrompt
from ..llm.client import LanguageModel
from ..llm.conversation import VisionSupport
from ..llm.known_models import KnownModels
from ..llm.prompt import PromptParts, render_prompt, search_tools
from ..llm.tokens import TokenCounter, head_of
from ..roles.catalog import RoleCatalog
from ..store.journal import Journal
from ..tools.base import Tool, ToolResult
from ..tools.registry import ToolRegistry, find_tools_in
from .delegation import Delegation, delegate_tool
from .foreign import ForeignServers, NoForeignServers
from .log import RunLog
from .mention_scope import LookUpMentions, MentionScope, no_mentions
from .notebook.lookup import describe_notebook_context
from .pool import AsyncioPool, WorkerPool
from .prompting import PromptSources, describe_tool, request_for
from .run.answer_checks import NoGuess, RequestedForm, RunProgress, SourcedFigures, WantedFiles
from .run.answer_form import AnswerForm, wanted_files
from .run.budget import JobBudget
from .run.delivery import Delivery
from .run.expectations import ExpectationGuard, RunExpectations
from .run.figure_check import FigureCheck
from .run.history import Mentioned
from .run.limits import RunLimits
from .run.loop import AgentLoop
from .run.model_request import RequestForm
from .run.model_session import ModelSession
from .run.outcome import Outcome
from .run.stuck import StuckGuard
from .run.table_lookup import describe_tables
from .run.tool_environment import ToolEnvironment
from .run.tool_runner import ToolRunner
from .run.usage import DayAccount


@dataclass
class ModelAccess:
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
class AgentFactory:
    """Makes and runs the agents of one workspace."""

    settings: Settings
    journal: Journal
    tools: ToolEnvironment
    llm: ModelAccess
    prompts: PromptSources
    pool: WorkerPool = field(default_factory=AsyncioPool)
    foreign: ForeignServers = field(default_factory=NoForeignServers)
    roles: RoleCatalog = field(default_factory=RoleCatalog)
    look_up_mentions: LookUpMentions = no_mentions
    day: DayAccount | None = None

    def prompt(self, role: AgentRole, context: Context, request: str = "") -> str:
        role = self.roles.resolve(role)
        # Outside of a conversation a prompt that is not trusted can be looked at.
        find = self.prompts.base.usable if context.id else self.prompts.base.find
        base = find(context.system_prompt_id)
        return render_prompt(self.parts(role, context, request, base, self.tools.registry))

    async def get_ready(self, role: AgentRole, registry: ToolRegistry | None = None) -> None:
        """Learn what a prompt depends on: the tools of servers, and what the model can do."""
        await (registry or self.tools.registry).prepare(self.roles.resolve(role))
        await self.llm.known.look()

    def budget(self, job: Job, role: AgentRole) -> JobBudget:
        log = RunLog(self.journal, job.context_id, job.id, role)
        day = self.day if self.llm.model.traits.spends_tokens else None
        return JobBudget(job, self.settings, log, self.tools.user, day)

    async def run_job(self, context: Context, job: Job) -> Outcome:
        """Let the job's agent work on its request."""
        budget = self.budget(job, job.role)
        return await self.run(context, job.role, job.id, job.request, budget)

    async def run(
        self,
        context: Context,
        role: AgentRole,
        job_id: str,
        request: str,
        budget: JobBudget,
        task_id: str | None = None,
        step: PlanStep | None = None,
        registry: ToolRegistry | None = None,
    ) -> Outcome:
        """Let an agent of this role work on the newest request in the context.

        `step` is the step of an approved plan that it carries out, which grants what it says;
        `registry` has the tools if those of a step run elsewhere.
        """
        role = self.roles.resolve(role)
        log = RunLog(self.journal, context.id, job_id, role, task_id)
        if registry is None:
            registry = self.pool.with_large_tables(self.tools.registry, log)
        context = context.model_copy(update={"notebook": log.notebook})
        return await _AgentRun(self, context, request, log, budget, step, registry).run()

    def mention_scope(self, log: RunLog, notebook: str | None) -> MentionScope:
        """What mentions can refer to, as far as the log's role may read it unasked."""
        return MentionScope(self.tools, log, notebook, self.foreign)

    def expectation_guard(self) -> ExpectationGuard:
        return ExpectationGuard(self.tools.pinned, self.tools.expectation_checks)

    def parts(
        self,
        role: AgentRole,
        context: Context,
        request: str,
        base: BasePrompt | None,
        registry: ToolRegistry,
        protocol: ToolProtocol | None = None,
    ) -> PromptParts:
        """What the prompt of a run consists of; its tools are only described, not called."""
        if role.spec.delegates_to:
            delegates = self.roles.delegates_of(role)
            registry = registry.plus(delegate_tool(self.prompts.externals, delegates, _not_called))
        permitted = registry.permitted(role)
        denied = self.tools.gate.denied_tools(context.id, [tool.name for tool in permitted])
        tools = [tool for tool in permitted if tool.name not in denied]
        finder = find_tools_in(registry, lambda _query, _tools: {})
        model = context.model or self.llm.model.name
        protocol = protocol or self.llm.known.protocol(self.settings.tool_protocol, model)
        parts = self.prompts.parts(role, context, request, base, tools, finder, protocol)
        return replace(parts, delegates=self.roles.delegates_of(role))


@dataclass
class _AgentRun:
    factory: AgentFactory
    context: Context
    request: str
    log: RunLog
    budget: JobBudget
    step: PlanStep | None
    registry: ToolRegistry

    def __post_init__(self) -> None:
        self.limits = RunLimits(self.budget.settings)
        self.resources = self.factory.foreign.followed_by(self.log)

    async def run(self) -> Outcome:
        factory, log = self.factory, self.log
        with self.limits.waiting():
            await factory.get_ready(log.role, self.registry)
        self.base = factory.prompts.base.usable(self.context.system_prompt_id)
        self.parts = self._make_parts()
        self._report()
        session = await self._session()
        if log.task_id is None:
            await session.look_up_mentions(factory.journal.store.goal(log.context_id, log.job_id))
        runner = self._runner(session)
        async with factory.tools.recorded_job(log.job_id, log.role):
            return await self._loop(session, runner).run()

    def _make_parts(self, protocol: ToolProtocol | None = None) -> PromptParts:
        about = (self.log.role, self.context, self.request, self.base)
        return self.factory.parts(*about, self.registry, protocol)

    def _report(self) -> None:
        role, prompt_id = self.log.role, self.context.system_prompt_id
        if not role.is_known:
            self.log.event(_role_unknown(role))
        if self.base is None:
            self.log.event(_prompt_missing(prompt_id))
        # That a skill is listed is not yet a use of it.
        unread = {"skill"} if self._reads_prompt else {"skill", "instructions"}
        used = [text.about for text in self.parts.guidance if text.about.kind not in unread]
        if used:
            self.log.event(GuidanceUsed(items=used))

    @property
    def _reads_prompt(self) -> bool:
        return self.factory.llm.model.traits.reads_prompt

    async def _session(self) -> ModelSession:
        factory, llm = self.factory, self.factory.llm
        tools, log, request = factory.tools, self.log, self.request
        where = await describe_notebook_context(tools, log, factory.settings, llm.counter)
        tables = await describe_tables(tools, log, request)
        return ModelSession(
            model=llm.model,
            log=log,
            limits=self.limits,
            budget=self.budget,
            request_form=self._form(),
            reform=self._reform,
            frame=factory.prompts.frames.of(self.context.id),
            model_name=self.context.model or "",
            counter=llm.counter,
            known=llm.known,
            small_model=llm.small_model,
            vision=llm.vision,
            note="\n\n".join(filter(None, [where, tables.text])),
            form=AnswerForm.of(request) if self.step is None else AnswerForm(),
            is_about_tables=tables.is_asked_about,
            is_step=self.step is not None,
            look_up=self._look_up,
        )

    def _form(self) -> RequestForm:
        parts = self.parts
        memory = (text.text for text in parts.guidance if text.about.kind == "memory")
        return RequestForm(
            system=render_prompt(parts),
            protocol=parts.protocol,
            profile=parts.profile,
            arguments=request_for(parts, in_task=self.log.task_id is not None),
            tools=frozenset(tool.spec.name for tool in parts.tools),
            runs_code=parts.runs_code,
            memory="\n".join(memory),
        )

    def _reform(self, protocol: ToolProtocol) -> RequestForm:
        self.parts = self._make_parts(protocol)
        return self._form()

    async def _look_up(self, message: Message, room: int) -> Mentioned:
        log, count = self.log, self.factory.llm.counter
        scope = self.factory.mention_scope(log, log.notebook)
        scope = replace(scope, follow=self.resources.follow)
        text_data = message.data if isinstance(message.data, TextData) else TextData()
        # What a server wrote points at nothing: only the user may have things read unasked.
        text = "" if text_data.prompt else message.text
        mentioned = await self.factory.look_up_mentions(scope, text, room, count)
        if text_data.skill and self._reads_prompt:
            mentioned.guidance = self._skill_text(text_data.skill, room)
        return mentioned

    def _skill_text(self, name: str, room: int) -> str:
        try:
            skill = self.factory.prompts.guidance.open_skill(name)
        except NotFound as gone:  # switched off, or changed, since it was called
            return f"The user asked for the skill '{name}'. {gone.message}"
        count = self.factory.llm.counter
        text = head_of(skill.text, room, count)
        self.log.event(GuidanceUsed(items=[skill.used(count(text))]))
        return f"The user asked for the skill '{name}'. Follow it:\n\n{text}\n\n"

    def _runner(self, session: ModelSession) -> ToolRunner:
        tools = replace(self.factory.tools, registry=self._all_tools(session))
        figures = FigureCheck(
            self.log,
            tools.registry,
            tools.gate.notebooks,
            tools.workspace,
            session.notes,
            may_object=self._reads_prompt,
        )
        runner = ToolRunner(tools, self.log, self.step, self.limits.waiting, figures=figures)
        runner.follow = self.resources.follow
        return runner

    def _all_tools(self, session: ModelSession) -> ToolRegistry:
        registry, factory = self.registry, self.factory
        if self.log.role.spec.delegates_to:
            externals = factory.prompts.externals
            delegates = factory.roles.delegates_of(self.log.role)
            slots = asyncio.Semaphore(factory.settings.max_parallel)
            about = (self.context, self.log, self.limits, self.budget, slots)
            delegation = Delegation(factory.run, factory.tools, externals, delegates, *about)
            registry = registry.plus(delegate_tool(externals, delegates, delegation.hand_over))
        if not self.parts.others:
            return registry

        def search(query: str, tools: Sequence[Tool]) -> dict[str, str]:
            matches = search_tools([describe_tool(tool) for tool in tools], query)
            # Some servers let the model call only what the request names, so it names these too.
            new = [tool for tool in matches if tool not in self.parts.tools]
            self.parts = replace(self.parts, tools=[*self.parts.tools, *new])
            # The prompt stays as it is, for servers that cache it.
            session.request_form = replace(self._form(), system=session.request_form.system)
            return {tool.spec.name: tool.line for tool in matches}

        return registry.plus(find_tools_in(registry, search))

    def _loop(self, session: ModelSession, runner: ToolRunner) -> AgentLoop:
        factory, role = self.factory, self.log.role
        figures, wanted = runner.figures, self._wanted_files(runner)
        assert figures is not None
        progress = RunProgress()
        expectations = None
        if self._answers_for_tables():
            expectations = RunExpectations(factory.expectation_guard(), self.log)
        return AgentLoop(
            log=self.log,
            session=session,
            runner=runner,
            figures=figures,
            limits=self.limits,
            budget=self.budget,
            guard=StuckGuard(self.log, factory.tools.user, self.limits),
            checks=[
                NoGuess(session, progress),
                WantedFiles(wanted, runner, progress),
                RequestedForm(session.form),
                SourcedFigures(figures, session, asks_for_files=bool(wanted)),
            ],
            delivery=Delivery(
                log=self.log,
                runner=runner,
                figures=figures,
                agents=factory.prompts.externals.names(),
                templates=factory.prompts.fitting_templates(role, self.request),
                roles=factory.roles,
            ),
            progress=progress,
            expectations=expectations,
            resources=self.resources,
        )

    def _wanted_files(self, runner: ToolRunner) -> tuple[str, ...]:
        """Who may not write, or hears no objection, is asked for nothing."""
        may_write = self.log.role.permits([Permission.CREATE_FILES])
        if self.step is not None or not (may_write and self._reads_prompt):
            return ()
        return wanted_files(self.request, runner.exists)

    def _answers_for_tables(self) -> bool:
        """Whether the run can break an expectation, and nobody but itself checks that."""
        spec = self.log.role.spec
        can_change = spec.permissions - {Permission.READ_FILES} or spec.delegates_to
        return self.log.task_id is None and bool(can_change)


async def _not_called(
    _role: AgentRole, _text: str, _agent: str, _files: Sequence[str]
) -> ToolResult:
    raise AssertionError


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
