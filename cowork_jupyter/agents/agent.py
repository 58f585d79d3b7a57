"""An agent: a role with its prompt, its tools and its model, ready to run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

from ..bus import Journal
from ..checkpoints import Recorder
from ..domain.contexts import Context, Job
from ..domain.notices import Notice
from ..domain.plan import PlanStep
from ..domain.roles import AgentRole
from ..domain.settings import Settings
from ..llm.base_prompts import BasePrompt, BasePrompts
from ..llm.client import LanguageModel
from ..llm.frames import Frames
from ..llm.prompt import (
    DescribedTool,
    PromptParts,
    choose_tools,
    describe_tool,
    render_prompt,
    room_for_tools,
    search_tools,
)
from ..llm.protocols import ToolSpec, request_arguments
from ..llm.relevance import closest
from ..llm.tokens import TokenCounter
from ..llm.vision import VisionSupport
from ..tools.base import Tool, ToolParameters
from ..tools.find_tools import find_tools_in
from ..tools.kernel.state import Kernels, NoKernels
from ..tools.registry import ToolRegistry
from ..workflows.templates import Templates
from ..workspace import Workspace
from ..workspace.sandbox.sandbox import Sandbox
from .budget import Budget, JobBudget
from .delegation import Delegation
from .external.configured import ExternalAgents
from .gate import Gate
from .limits import RunLimits
from .log import RunLog
from .loop import AgentLoop, Outcome
from .model_session import ModelSession
from .notebook_lookup import describe_notebook_context
from .tool_runner import ToolRunner
from .user import User

MAX_TEMPLATES = 3
"""Saved plans that a planner is shown."""


@dataclass
class AgentFactory:
    """What all agents of one workspace share."""

    settings: Settings
    journal: Journal
    workspace: Workspace
    registry: ToolRegistry
    model: LanguageModel
    user: User
    gate: Gate
    counter: TokenCounter
    frames: Frames = field(default_factory=Frames)
    """Marks off what others wrote."""
    vision: VisionSupport = field(default_factory=VisionSupport)
    """Knows which models can be shown pictures."""
    prompts: BasePrompts = field(default_factory=BasePrompts)
    templates: Templates = field(default_factory=Templates)
    sandbox: Sandbox | None = None
    """What confines commands; without one they are not."""
    recorder: Recorder | None = None
    """Takes checkpoints; without one nothing can be taken back."""
    kernels: Kernels = field(default_factory=NoKernels)
    """Where code of notebooks runs."""
    externals: ExternalAgents = field(default_factory=ExternalAgents)
    """Agents of others that work can be handed to."""

    def prompt(self, role: AgentRole, context: Context, request: str = "") -> str:
        """The system prompt that this role gets in this context."""
        base = self.prompts.find(context.system_prompt_id)
        return render_prompt(self._parts(role, context, request, base))

    def budget(self, job: Job, role: AgentRole) -> JobBudget:
        """The account of a job; whoever runs the job makes one, for all that works in it."""
        log = RunLog(self.journal, job.context_id, job.id, role)
        return JobBudget(job, self.settings, log, self.user)

    async def run(
        self,
        context: Context,
        role: AgentRole,
        job_id: str,
        request: str,
        budget: Budget,
        task_id: str | None = None,
        step: PlanStep | None = None,
    ) -> Outcome:
        """Let an agent of this role work on what is newest in the context.

        `step` is the step of an approved plan that it carries out, which grants what it says.
        """
        log = RunLog(self.journal, context.id, job_id, role, task_id)
        context = context.model_copy(update={"notebook": log.notebook})
        limits = RunLimits(budget.settings)
        with limits.waiting():
            await self.registry.prepare(role)
        base = self.prompts.usable(context.system_prompt_id)
        parts = self._parts(role, context, request, base)
        if not parts.base:
            log.event(_prompt_missing(context.system_prompt_id))
        session = ModelSession(
            model=self.model,
            log=log,
            limits=limits,
            budget=budget,
            system=render_prompt(parts),
            frame=self.frames.of(context.id),
            model_name=context.model or "",
            tools=frozenset(one.spec.name for one in parts.tools),
            arguments=_arguments(parts, in_task=task_id is not None),
            counter=self.counter,
            vision=self.vision,
            note=await describe_notebook_context(self, log),
            is_step=step is not None,
        )
        tools = self._tools(context, log, limits, budget)
        registry = self._with_find_tools(tools, parts, session) if parts.others else tools
        runner = ToolRunner(
            *(registry, self.workspace, log, self.gate, step, limits.waiting, self.sandbox),
            recorder=self.recorder,
            kernels=self.kernels,
            user=self.user,
        )
        async with self._recorded(job_id, role):
            return await AgentLoop(log, session, runner, self.user, limits, budget).run()

    def _recorded(self, job_id: str, role: AgentRole) -> AbstractAsyncContextManager[None]:
        """Checkpoints before the job, and of all that it changed by its end."""
        if self.recorder is None:
            return nullcontext()
        return self.recorder.during(job_id, role.spec.permissions)

    def _parts(
        self, role: AgentRole, context: Context, request: str, base: BasePrompt | None
    ) -> PromptParts:
        """What the prompt is made of; with `find_tools` if not all tools fit into it."""
        log = RunLog(self.journal, context.id, "", role)
        nothing = self.budget(Job(context_id=context.id), role)
        registry = self._tools(context, log, RunLimits(self.settings), nothing)
        permitted = registry.permitted(role)
        denied = self.gate.denied_tools(context.id, [tool.name for tool in permitted])
        tools = [described(tool) for tool in permitted if tool.name not in denied]
        finder = find_tools_in(self.registry, lambda _query, _tools: {})  # only to describe it
        parts = PromptParts(
            role=role,
            tools=[described(finder)],
            others=len(tools),
            base=base.text if base else "",
            protocol=self.settings.tool_protocol,
            facts={**self._facts(context), **self.externals.facts(role)},
            templates=self._templates(role, request),
            frame=self.frames.of(context.id),
        )
        chosen, others = choose_tools(tools, request, room_for_tools(parts))
        return replace(parts, tools=[*chosen, *parts.tools] if others else chosen, others=others)

    def _tools(
        self, context: Context, log: RunLog, limits: RunLimits, budget: Budget
    ) -> ToolRegistry:
        """The tools there are for this run: a role that leads has one more."""
        if not log.role.spec.delegates_to:
            return self.registry
        delegation = Delegation(self, context, log, limits, budget)
        return self.registry.plus(delegation.tool())

    def _with_find_tools(
        self, registry: ToolRegistry, parts: PromptParts, session: ModelSession
    ) -> ToolRegistry:
        """All tools, and the one that finds them."""
        known = parts

        def search(query: str, tools: Sequence[Tool]) -> dict[str, str]:
            nonlocal known
            found = search_tools([described(tool) for tool in tools], query)
            # Some servers let the model call only what the request names, so it names these too.
            new = [one for one in found if one not in known.tools]
            known = replace(known, tools=[*known.tools, *new])
            session.arguments = _arguments(known, in_task=session.log.task_id is not None)
            return {one.spec.name: describe_tool(one.spec) for one in found}

        return registry.plus(find_tools_in(registry, search))

    def _templates(self, role: AgentRole, request: str) -> list[str]:
        """The few saved plans that fit the request, for those who make plans."""
        if "plan" not in role.spec.formats:
            return []
        outlines = [one.outline for one in self.templates.listing().items]
        return closest(outlines, request, MAX_TEMPLATES)

    def _facts(self, context: Context) -> dict[str, str]:
        facts = {
            "workspace": f"{self.settings.workspace.name} (paths are relative to it)",
            "date": datetime.now(UTC).date().isoformat(),
        }
        return {**facts, "notebook": context.notebook} if context.notebook else facts


def _prompt_missing(prompt_id: str) -> Notice:
    """A conversation outlives a file; better to go on and say so than to end it."""
    message = (
        f"The base prompt '{prompt_id}' is gone, or came with this folder and is not trusted yet; "
        "the default one is used."
    )
    return Notice(code="prompt_missing", message=message)


def described(tool: Tool) -> DescribedTool:
    """A tool as the prompt describes it."""
    return DescribedTool(tool.category, spec_of(tool))


def spec_of(tool: Tool) -> ToolSpec:
    """A tool as the model sees it."""
    return ToolSpec(tool.name, tool.description, _schema_of(tool.parameters))


@cache
def _schema_of(parameters: type[ToolParameters]) -> dict[str, Any]:
    """Made once, because making it takes milliseconds. Nobody changes it."""
    return parameters.model_json_schema()


def _arguments(parts: PromptParts, *, in_task: bool) -> dict[str, Any]:
    specs = [one.spec for one in parts.tools]
    formats = parts.role.spec.formats
    return request_arguments(parts.protocol, specs, (*formats, "result") if in_task else formats)
