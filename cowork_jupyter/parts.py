"""The parts of the service, each made when it is first needed: health opens no database."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from .domain.contexts import Job
from .domain.events import Event
from .domain.redaction import LogRedaction
from .domain.settings import Settings
from .llm.base_prompts import BasePrompts

if TYPE_CHECKING:
    from .agents.agent import AgentFactory
    from .agents.inquiries import Inquiries
    from .agents.jobs import Jobs
    from .agents.plans import Plans
    from .agents.pool import WorkerPool
    from .agents.reproductions import Reproductions
    from .agents.reuse import Reuse
    from .bus import Journal
    from .checkpoints import Checkpoints, OpenDocuments
    from .connections import Connections, CurrentModel
    from .mcp.client.servers import McpServers
    from .policy.pins import Pins
    from .policy.rulebook import RuleBook
    from .policy.trust import Trust
    from .tools.kernel.state import Kernels
    from .tools.notebook.state import Notebooks
    from .tools.registry import ToolRegistry
    from .workflows import Templates, WorkflowRegistry
    from .workspace.sandbox.sandbox import Sandbox

    class NotebookHost(Notebooks, OpenDocuments, Protocol):
        """A host that knows which notebooks are open, and reads and changes them there."""


class Parts:
    """Wires the parts together for one workspace and one set of settings."""

    def __init__(
        self,
        settings: Settings,
        *,
        interactive: bool = True,
        notebooks: NotebookHost | None = None,
        kernels: Kernels | None = None,
    ) -> None:
        self.settings = settings
        self._notebooks = notebooks
        self._kernels = kernels
        self.interactive = interactive
        """Whether somebody can be asked. If not, what would ask is denied, and nothing waits."""
        self.prompts = BasePrompts(
            settings.data_dir / "prompts",
            settings.workspace,
            trusts=lambda offer: self.trust.is_trusted(offer),
        )
        self._observers: list[Callable[[Event], None]] = []
        self._soon: asyncio.Handle | None = None
        self._log_redaction: LogRedaction | None = None

    def observe(self, observer: Callable[[Event], None]) -> None:
        """Call this with every event from now on; to be said before the first one."""
        self._observers.append(observer)

    @cached_property
    def journal(self) -> Journal:
        """The store and the bus, with what an earlier crash left behind put in order."""
        from .bus import EventBus, Journal
        from .store import Store

        store = Store(self.settings.database, self.connections.mask)
        bus = EventBus(store)
        for observer in self._observers:
            bus.observe(observer)
        for event in store.recover():
            bus.publish(event)
        self._finish_checkpoints_soon()
        return Journal(store, bus)

    def _finish_checkpoints_soon(self) -> None:
        """Of tools that were cut off, too; in the background, since it may take a while."""
        with suppress(RuntimeError):  # no loop runs: then before the first checkpoint
            loop = asyncio.get_running_loop()
            self._soon = loop.call_soon(lambda: self.checkpointing.recorder.recover())

    @cached_property
    def connections(self) -> Connections:
        from .connections import Connections

        made = Connections(self.settings)
        self._log_redaction = LogRedaction(made.mask)
        logging.getLogger(__package__).addHandler(self._log_redaction)
        return made

    @cached_property
    def current_model(self) -> CurrentModel:
        """Whoever answers, to be asked."""
        from .connections import CurrentModel

        return CurrentModel(self.connections)

    @cached_property
    def trust(self) -> Trust:
        """What the user has taken of all that came with the workspace."""
        from .policy.rulebook import settings_offers
        from .policy.trust import Trust

        trust = Trust(self.settings.data_dir / "trust.json", self.settings.workspace)
        trust.look_at(lambda: settings_offers(self.settings.workspace))
        trust.look_at(self.prompts.offers)
        trust.look_at(self.templates.offers)
        return trust

    @cached_property
    def rules(self) -> RuleBook:
        """What the user has said about tools, once and for all."""
        from .policy.rulebook import RuleBook

        def known_tools() -> frozenset[str]:
            from .tools.registry import rule_names  # only where there are rules to look at

            return rule_names()

        folder, own = self.settings.workspace, self.settings.user_settings
        return RuleBook(folder, own, self.trust, known_tools)

    @cached_property
    def inquiries(self) -> Inquiries:
        """What waits for the user."""
        from .agents.inquiries import Inquiries

        return Inquiries(self.journal, self.rules)

    @cached_property
    def jobs(self) -> Jobs:
        from .agents.jobs import Jobs

        return Jobs(self.journal, self.job_ended)

    def job_ended(self, job: Job) -> None:
        """Whatever is to follow the end of a job; here, nothing."""

    @cached_property
    def templates(self) -> Templates:
        """Plans that were saved to be used again."""
        from .workflows import Templates

        folder, workspace = self.settings.data_dir / "templates", self.settings.workspace
        return Templates(folder, workspace, trusts=lambda offer: self.trust.is_trusted(offer))

    @cached_property
    def installed_workflows(self) -> WorkflowRegistry:
        """Ours and those of plug-ins."""
        from .workflows import load_workflows

        return load_workflows()

    @property
    def workflows(self) -> WorkflowRegistry:
        """The actions that users can pick, with the templates there are now."""
        return self.installed_workflows.together_with(self.templates.listing())

    @cached_property
    def sandbox(self) -> Sandbox:
        from .workspace.sandbox.sandbox import Sandbox

        return Sandbox(self.settings)

    @cached_property
    def checkpointing(self) -> Checkpoints:
        """What was changed, and the way back."""
        from .checkpoints import checkpoints_of
        from .record.changes import compare

        return checkpoints_of(self.settings, self.journal, compare, self._notebooks)

    @cached_property
    def tools(self) -> ToolRegistry:
        """What agents can do in this host."""
        from .tools.registry import default_tools, tools_with_kernels

        own = default_tools() if self._kernels is None else tools_with_kernels()
        return own.with_more(self.mcp.tools, self.mcp.prepare)

    @cached_property
    def pins(self) -> Pins:
        """What foreign tools said of themselves when the user let them run."""
        from .policy.pins import Pins

        return Pins(self.settings.data_dir / "mcp_pins.json")

    @cached_property
    def mcp(self) -> McpServers:
        """Other people's servers, whose tools agents can use."""
        from .mcp.client.servers import servers_of

        return servers_of(self.settings, self.trust, self.pins, lambda: self.factory.model)

    @cached_property
    def factory(self) -> AgentFactory:
        """What agents work with."""
        from .agents.agent import AgentFactory
        from .agents.external.configured import ExternalAgents
        from .agents.gate import Gate
        from .agents.user import Nobody, NobodyApproves
        from .llm.frames import Frames
        from .llm.tokens import TokenCounter
        from .llm.vision import VisionSupport
        from .tools.kernel.state import NoKernels
        from .tools.notebook.stored import NotebookFiles
        from .workspace import Workspace

        settings = self.settings
        workspace = Workspace(settings.workspace)
        approver = self.inquiries if self.interactive else NobodyApproves()
        return AgentFactory(
            settings=settings,
            journal=self.journal,
            workspace=workspace,
            registry=self.tools,
            model=self.current_model,
            user=self.inquiries if self.interactive else Nobody(),
            gate=Gate(
                *(workspace, self.rules, approver),
                confined=self._holds_commands(),
                at_risk=self.checkpointing.recorder.at_risk if self.interactive else None,
                notebooks=self._notebooks or NotebookFiles(),
                pins=self.pins,
            ),
            counter=TokenCounter(),
            frames=Frames.kept_in(settings.data_dir / "frames.key"),
            vision=VisionSupport(settings.images),
            prompts=self.prompts,
            templates=self.templates,
            sandbox=self.sandbox,
            recorder=self.checkpointing.recorder,
            kernels=self._kernels or NoKernels(),
            externals=ExternalAgents(settings.user_settings),
        )

    @cached_property
    def pool(self) -> WorkerPool:
        """Where the tools of plan steps run."""
        from .agents.pool import pool_for

        return pool_for(self.settings)

    def _holds_commands(self) -> bool:
        """Whether commands are confined, and read by the shell that decisions are made for."""
        return self.sandbox.kind != "none" and shutil.which("bash") is not None

    @cached_property
    def plans(self) -> Plans:
        """Plans, and carrying them out."""
        from .agents.plans import Plans

        return Plans(self.factory, self.jobs, self.inquiries, self.pool)

    @cached_property
    def reproductions(self) -> Reproductions:
        """Notebooks that are run anew, to see whether they still do."""
        from .agents.reproductions import Reproductions

        return Reproductions(self.factory, self.jobs)

    @cached_property
    def reuse(self) -> Reuse:
        """Plans kept as templates."""
        from .agents.reuse import Reuse

        return Reuse(self.plans, self.templates, lambda: self.workflows)

    async def close(self) -> None:
        """Stop everything; what ran is stored as interrupted."""
        if self._soon:
            self._soon.cancel()
        if "inquiries" in self.__dict__:
            self.inquiries.keep_pending = True
        if "jobs" in self.__dict__:
            await self.jobs.close()
        if "pool" in self.__dict__:
            await self.pool.aclose()
        if "mcp" in self.__dict__:
            await self.mcp.close()
        if "factory" in self.__dict__:
            await self.factory.model.aclose()
        if "sandbox" in self.__dict__:
            self.sandbox.close()
        if "checkpointing" in self.__dict__:
            await self.checkpointing.close()
        if "journal" in self.__dict__:
            self.journal.bus.close()
            self.journal.store.close()
        if self._log_redaction:
            logging.getLogger(__package__).removeHandler(self._log_redaction)
