"""Builds the service: makes every part with what it needs, and registers how each is closed."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from ..agents.agent import AgentFactory, ModelAccess
from ..agents.ask.gate import Gate
from ..agents.ask.pending_requests import AttendedRequests, PendingRequests
from ..agents.ask.user import Nobody
from ..agents.guidance import AllGuidance
from ..agents.jobs import Jobs
from ..agents.plan.plans import Plans
from ..agents.plan.reuse import Reuse
from ..agents.prompting import PromptSources
from ..agents.reproductions import Reproductions
from ..agents.run.expectations import Expectations
from ..agents.run.tool_environment import ToolEnvironment
from ..agents.run.usage import DayAccount
from ..agents.run.watching import CellWatch
from ..checkpoints import Checkpoints, OpenDocuments, create_checkpoints
from ..domain.events import Event
from ..domain.operations import Observe, Operation
from ..domain.redaction import LogRedaction
from ..domain.settings import Settings
from ..effects.silenced import SilencedWarnings
from ..llm.base_prompts import BasePrompts
from ..llm.conversation import VisionSupport
from ..llm.frames import Frames
from ..llm.known_models import KnownModels
from ..llm.model_probe import ModelProbe
from ..llm.providers import default_prices
from ..llm.tokens import TokenCounter
from ..policy.rulebook import RuleBook, settings_offers
from ..policy.rules import NETWORK, Effect, Scope
from ..policy.trust import Pins, Trust
from ..record.changes import compare
from ..roles.catalog import RoleCatalog, plugin_roles
from ..store import Store
from ..store.journal import Journal
from ..tools.kernel.scratch_kernel import ScratchKernels
from ..tools.kernel.state import Kernels, NoKernels
from ..tools.notebook.state import Notebooks
from ..tools.notebook.stored import NotebookFiles
from ..tools.registry import tools_with_kernels, tools_without_kernels
from ..workflows import Templates, WorkflowCatalog
from ..workspace import Workspace
from ..workspace.sandbox.sandbox import Sandbox
from .connections import Connections, CurrentModel, state_of
from .conversations import Conversations
from .new_jobs import NewJobs
from .operation_log import JobWatch, log_operation
from .parts import (
    ForeignServersNeeds,
    data_linter,
    external_agents,
    foreign_servers,
    guidance_of_parts,
    look_up_mentions,
    measure_file,
    pool_for,
    rule_names,
    tools_of_parts,
)
from .retention import DeletedConversations, Retention
from .service import CoworkService


class NotebookHost(Notebooks, OpenDocuments, Protocol):
    """A host that knows which notebooks are open, and reads and changes them there."""


def build_service(
    settings: Settings,
    *,
    interactive: bool | Callable[[], bool] = True,
    notebooks: NotebookHost | None = None,
    kernels: Kernels | None = None,
    observers: Iterable[Callable[[Event], None]] = (),
    operators: Iterable[Observe] = (),
) -> CoworkService:
    """The service of one workspace. No file is opened and nothing is started before it is needed.

    `interactive` says whether somebody can be asked, or how to find out each time. If not, what
    would ask is denied, and nothing waits. `observers` hear every event, `operators` what is logged
    and counted.
    """
    closing = AsyncExitStack()  # ends the parts in reverse order: jobs first, the record last
    all_operators = (log_operation, *operators)

    def observe(operation: Operation) -> None:
        for operator in all_operators:
            operator(operation)

    connections = Connections(settings)
    administrator = connections.administrator
    usual = default_prices(settings.currency)
    settings = replace(settings, prices={**usual, **settings.prices, **administrator.prices})
    day = DayAccount(settings.data_dir / "day_usage.sqlite", administrator, settings)
    _keep_out_of_logs(connections, closing)
    guidance = _Guidance.of(settings)
    journal, checkpoints, deleted = _record(
        settings, connections, closing, notebooks, observers, observe, guidance.roles
    )
    rules = RuleBook(
        *(settings.workspace, settings.user_settings, guidance.trust, rule_names, administrator)
    )
    pins = Pins(settings.data_dir / "mcp_pins.json")

    sandbox = Sandbox(_with_ruled_network(settings, rules))
    closing.callback(sandbox.close)
    model = CurrentModel(connections, settings.request_options, day, observe)
    closing.push_async_callback(lambda: factory.llm.model.aclose())
    foreign = foreign_servers(
        settings,
        ForeignServersNeeds(guidance.trust, pins, lambda: factory.llm.model, observe),
    )
    closing.push_async_callback(foreign.close)
    confined = sandbox.kind != "none"
    scratch = ScratchKernels(sandbox) if confined else None
    if scratch:
        closing.push_async_callback(scratch.close)
    registry = tools_without_kernels if kernels is None else tools_with_kernels
    tools = registry(tools_of_parts(), confined=confined)
    tools = tools.with_more(guidance.of_parts.tools, tools.prepare)

    pool = pool_for(settings)
    closing.push_async_callback(pool.aclose)
    jobs = Jobs(journal, lambda job: service.job_ended(job))
    closing.push_async_callback(jobs.close)
    requests = PendingRequests(journal, rules)
    closing.callback(requests.close)
    user: PendingRequests | AttendedRequests | Nobody = requests if interactive else Nobody()
    if callable(interactive):
        user = AttendedRequests(requests, interactive)

    workspace = Workspace(settings.workspace)
    factory = AgentFactory(
        settings=settings,
        journal=journal,
        tools=ToolEnvironment(
            registry=tools.with_more(foreign.tools, foreign.prepare),
            workspace=workspace,
            gate=Gate(
                *(workspace, rules, user),
                # Decisions are made for commands as bash reads them.
                confined=confined and shutil.which("bash") is not None,
                at_risk=checkpoints.recorder.at_risk if interactive else None,
                notebooks=notebooks or NotebookFiles(),
                pins=pins,
                observe=observe,
            ),
            user=user,
            sandbox=sandbox,
            recorder=checkpoints.recorder,
            kernels=kernels or NoKernels(),
            scratch=scratch,
            silenced=SilencedWarnings(settings.user_settings),
            linter=data_linter(),
            measure_file=measure_file(),
            observe=observe,
        ),
        llm=_model_access(settings, model, connections),
        prompts=guidance.prompt_sources(settings),
        pool=pool,
        foreign=foreign,
        roles=guidance.roles,
        look_up_mentions=look_up_mentions(),
        day=day,
    )
    plans = Plans(factory, jobs, requests, pool)
    workflows = WorkflowCatalog(guidance.templates)
    conversations = Conversations(
        journal, jobs, guidance.prompts, deleted, settings.workspace, scratch
    )
    probe = ModelProbe(connections.current, state_of)
    service = CoworkService(
        settings=settings,
        interactive=bool(interactive),
        journal=journal,
        conversations=conversations,
        jobs=jobs,
        new_jobs=NewJobs(
            journal=journal,
            conversations=conversations,
            jobs=jobs,
            connections=connections,
            model=model,
            probe=probe,
            day=day,
        ),
        requests=requests,
        plans=plans,
        reproductions=Reproductions(factory, jobs),
        expectations=Expectations(factory.tools, journal),
        workflows=workflows,
        reuse=Reuse(plans, workflows),
        checkpoints=checkpoints,
        factory=factory,
        cell_watch=CellWatch(factory.tools),
        connections=connections,
        current_model=model,
        probe=probe,
        prompts=guidance.prompts,
        role_catalog=guidance.roles,
        rules=rules,
        trust=guidance.trust,
        closing=closing,
    )
    return service


def _record(
    settings: Settings,
    connections: Connections,
    closing: AsyncExitStack,
    notebooks: NotebookHost | None,
    observers: Iterable[Callable[[Event], None]],
    observe: Observe,
    roles: RoleCatalog,
) -> tuple[Journal, Checkpoints, DeletedConversations]:
    def recover() -> None:
        """Recover checkpoints of tools that were cut off, and remove what was deleted; in the
        background, since it may take a while.
        """
        with suppress(RuntimeError):  # no loop runs: then before the first checkpoint
            loop = asyncio.get_running_loop()
            for work in (checkpoints.recorder.recover, deleted.schedule_removal, retention.begin):
                closing.callback(loop.call_soon(work).cancel)

    journal = Journal(
        lambda: Store(settings.database, connections.mask, roles.resolve),
        observers=(*observers, JobWatch(observe)),
        on_open=recover,
    )
    closing.callback(journal.close)
    checkpoints = create_checkpoints(settings, journal, compare, notebooks, observe)
    closing.push_async_callback(checkpoints.close)
    deleted = DeletedConversations(journal, checkpoints.lazy_store)
    closing.push_async_callback(deleted.close)
    retention = Retention(journal, checkpoints.lazy_store, settings.retention_days)
    closing.push_async_callback(retention.close)
    return journal, checkpoints, deleted


@dataclass(frozen=True)
class _Guidance:
    """What users and workspaces tell agents; what a workspace brings must be trusted first."""

    trust: Trust
    prompts: BasePrompts
    templates: Templates
    roles: RoleCatalog
    of_parts: AllGuidance

    @classmethod
    def of(cls, settings: Settings) -> _Guidance:
        folder, own = settings.workspace, settings.data_dir
        trust = Trust(own / "trust.json", folder)
        trusts = trust.is_trusted
        guidance = cls(
            trust=trust,
            prompts=BasePrompts(own / "prompts", folder, trusts=trusts),
            templates=Templates(own / "templates", folder, trusts=trusts),
            roles=RoleCatalog(own / "roles", folder, trusts=trusts, plugins=plugin_roles),
            of_parts=AllGuidance(guidance_of_parts(settings, trust)),
        )
        trust.add_finder(partial(settings_offers, folder))
        for source in (guidance.prompts, guidance.templates, guidance.of_parts, guidance.roles):
            trust.add_finder(source.offers)
        return guidance

    def prompt_sources(self, settings: Settings) -> PromptSources:
        return PromptSources(
            settings=settings,
            base=self.prompts,
            templates=self.templates,
            frames=Frames(settings.data_dir / "frames.key"),
            externals=external_agents(settings),
            guidance=self.of_parts,
        )


def _model_access(settings: Settings, model: CurrentModel, connections: Connections) -> ModelAccess:
    models = settings.data_dir / "models.json"
    return ModelAccess(
        model,
        TokenCounter(),
        VisionSupport(settings.images),
        KnownModels(models, connections.current, settings.context_size),
        connections.current,
    )


def _with_ruled_network(settings: Settings, rules: RuleBook) -> Settings:
    """A user's setting gives commands the network unasked, unless an administrator has rules about
    it.
    """
    ruled = any(
        rule.scope is Scope.ADMIN and rule.names(NETWORK) and rule.counts_as is not Effect.ALLOW
        for rule in rules.all()
    )
    keeps = settings.sandbox_network != "allow" or not ruled
    return settings if keeps else replace(settings, sandbox_network="ask")


def _keep_out_of_logs(connections: Connections, closing: AsyncExitStack) -> None:
    """Mask keys in whatever our loggers write."""
    log = logging.getLogger(__package__)
    handler = LogRedaction(connections.mask, log)
    log.addHandler(handler)
    closing.callback(log.removeHandler, handler)
