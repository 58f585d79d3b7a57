"""The parts of the service, each made when it is first needed: health opens no database."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from .domain.events import Event
from .domain.settings import Settings
from .llm.base_prompts import BasePrompts

if TYPE_CHECKING:
    from .agents.agent import AgentKit
    from .agents.jobs import Jobs
    from .agents.plans import Plans
    from .agents.pool import WorkerPool
    from .agents.user import Inbox
    from .bus import Journal
    from .workflows import WorkflowRegistry


class Parts:
    """Wires the parts together for one workspace and one set of settings."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.prompts = BasePrompts(settings.data_dir / "prompts", settings.workspace)
        self._observers: list[Callable[[Event], None]] = []

    def observe(self, observer: Callable[[Event], None]) -> None:
        """Call this with every event from now on; to be said before the first one."""
        self._observers.append(observer)

    @cached_property
    def journal(self) -> Journal:
        """The store and the bus, with what an earlier crash left behind put in order."""
        from .bus import EventBus, Journal
        from .store import Store

        store = Store(self.settings.database)
        bus = EventBus(store)
        for observer in self._observers:
            bus.observe(observer)
        for event in store.recover():
            bus.publish(event)
        return Journal(store, bus)

    @cached_property
    def inbox(self) -> Inbox:
        """The questions that wait for the user."""
        from .agents.user import Inbox

        return Inbox(self.journal)

    @cached_property
    def jobs(self) -> Jobs:
        """What runs."""
        from .agents.jobs import Jobs

        return Jobs(self.journal)

    @cached_property
    def workflows(self) -> WorkflowRegistry:
        """The actions that users can pick, with those of plug-ins."""
        from .workflows import load_workflows

        return load_workflows()

    @cached_property
    def kit(self) -> AgentKit:
        """What agents work with."""
        from .agents.agent import AgentKit
        from .llm.client import Model
        from .llm.tokens import TokenCounter
        from .tools.registry import default_tools
        from .workspace import Workspace

        settings = self.settings
        return AgentKit(
            settings=settings,
            journal=self.journal,
            workspace=Workspace(settings.workspace),
            registry=default_tools(),
            model=Model(base_url=settings.base_url, model=settings.model, api_key=settings.api_key),
            user=self.inbox,
            counter=TokenCounter(),
            prompts=self.prompts,
        )

    @cached_property
    def pool(self) -> WorkerPool:
        """Where the tools of plan steps run."""
        from .agents.pool import pool_for

        return pool_for(self.settings)

    @cached_property
    def plans(self) -> Plans:
        """Plans, and carrying them out."""
        from .agents.plans import Plans

        return Plans(self.kit, self.jobs, self.inbox, self.pool)

    async def close(self) -> None:
        """Stop everything; what ran is stored as interrupted."""
        if "jobs" in self.__dict__:
            await self.jobs.close()
        if "pool" in self.__dict__:
            await self.pool.aclose()
        if "kit" in self.__dict__:
            await self.kit.model.aclose()
        if "journal" in self.__dict__:
            self.journal.bus.close()
            self.journal.store.close()
