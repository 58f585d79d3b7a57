"""What a part of `cowork_jupyter.parts` can bring, and where the core asks for it.

Nothing of the core imports a part: they are loaded by the names in one list, the first time that
somebody asks. Jupyter does so at every start, so the doors of parts are light, as this is: what
they name is imported when it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from argparse import ArgumentParser, _SubParsersAction
    from asyncio import AbstractEventLoop
    from pathlib import Path

    from jupyter_server.serverapp import ServerApp

    from ..agents.external import ExternalAgents
    from ..agents.foreign import ForeignServers
    from ..agents.guidance import GuidanceFinder
    from ..agents.mention_scope import LookUpMentions
    from ..agents.pool import WorkerPool
    from ..domain.contexts import Job
    from ..domain.events import Event
    from ..domain.health import DoctorFinding
    from ..domain.operations import Observe, Operation
    from ..domain.settings import Settings
    from ..effects.data_linter import DataLinter
    from ..effects.evaluation import MeasureFile
    from ..llm.client import LanguageModel, LocalLanguageModel
    from ..policy.trust import Pins, Trust
    from ..store.journal import Journal
    from ..tools.base import Tool
    from ..tools.registry import ToolRegistry


class ServerObserver(Protocol):
    def on_event(self, event: Event) -> None: ...

    def on_operation(self, operation: Operation) -> None: ...

    def on_delivery(self, event: Event) -> None:
        """A page has it now."""


@dataclass(frozen=True)
class ForeignServersNeeds:
    trust: Trust
    pins: Pins
    model: Callable[[], LanguageModel]
    """For servers that may send it requests."""
    observe: Observe


@dataclass(frozen=True, kw_only=True)
class Part:
    requires: tuple[str, ...] = ()
    """Modules without which the part is not there."""
    tools: Callable[[], Sequence[Tool]] = tuple
    tool_names: frozenset[str] = frozenset()
    """Names of its tools, which rules may use even where they are not there."""
    measure_file: Callable[[], MeasureFile] | None = None
    """Checks what a plan expects of a file; without it, only simple things of small CSV files."""
    data_linter: Callable[[], DataLinter] | None = None
    """Warns of mistakes in code that works on data; without it, effects have no warnings."""
    pools: Mapping[str, Callable[[Settings], WorkerPool]] = field(default_factory=dict)
    """Where steps of plans run, by the value of `Cowork.workers`."""
    built_in_model: Callable[[], LanguageModel] | None = None
    """Answers where no model is connected."""
    local_model: Callable[[Path, Mapping[str, Any] | None], LocalLanguageModel] | None = None
    """Serves a file of weights on this machine."""
    add_commands: Callable[[_SubParsersAction[ArgumentParser]], None] | None = None
    """Of `jupyter cowork`."""
    guidance: Callable[[Settings, Trust], GuidanceFinder] | None = None
    """What agents are told; what a workspace brings must be trusted first."""
    look_up_mentions: Callable[[], LookUpMentions] | None = None
    """Gives an agent what a message points at with `@`."""
    on_job_ended: Callable[[Settings, Journal, Job], None] | None = None
    routes: str = ""
    """The module whose import registers endpoints."""
    external_agents: Callable[[Settings], ExternalAgents] | None = None
    foreign_servers: Callable[[Settings, ForeignServersNeeds], ForeignServers] | None = None
    """Servers whose tools agents may use."""
    doctor_check: Callable[[Settings], DoctorFinding] | None = None
    server_observer: Callable[[ServerApp, AbstractEventLoop], ServerObserver] | None = None
    """What hears of everything in a Jupyter server."""
    handlers: Callable[[], Sequence[tuple[str, type[Any]]]] = tuple
    """Of the Jupyter server: patterns of addresses, with what answers there."""


@cache
def listed_parts() -> Mapping[str, Part]:
    names = import_module("cowork_jupyter.parts").PARTS
    return {name: import_module(f"cowork_jupyter.parts.{name}").PART for name in names}


def installed_parts() -> list[Part]:
    """Those whose libraries are there."""
    return [part for part in listed_parts().values() if all(map(find_spec, part.requires))]


def tools_of_parts() -> list[Tool]:
    return [tool for part in installed_parts() for tool in part.tools()]


def shipped_tools() -> ToolRegistry:
    """All tools that need nothing but a workspace."""
    from ..tools.registry import default_tools

    return default_tools(tools_of_parts())


def rule_names() -> frozenset[str]:
    """Everything a user's rule can be about, in any host, except tools of MCP servers."""
    from ..tools.registry import rule_names_of

    return rule_names_of(name for part in listed_parts().values() for name in part.tool_names)


def measure_file() -> MeasureFile | None:
    loaders = (part.measure_file for part in installed_parts())
    return next((load() for load in loaders if load), None)


def data_linter() -> DataLinter:
    from ..effects.data_linter import NO_LINTER

    loaders = (part.data_linter for part in installed_parts())
    return next((load() for load in loaders if load), NO_LINTER)


def built_in_model() -> LanguageModel | None:
    makers = (part.built_in_model for part in installed_parts())
    return next((make() for make in makers if make), None)


def local_model(file: Path, options: Mapping[str, Any] | None = None) -> LocalLanguageModel:
    from ..domain.errors import Unavailable

    for part in installed_parts():
        if part.local_model:
            return part.local_model(file, options)
    raise Unavailable(
        f"This installation cannot serve {file.stem}: it was made without local models. "
        "Connect a model server instead.",
        code="no_model",
        retryable=False,
    )


def guidance_of_parts(settings: Settings, trust: Trust) -> list[GuidanceFinder]:
    makers = (part.guidance for part in installed_parts())
    return [make(settings, trust) for make in makers if make]


def look_up_mentions() -> LookUpMentions:
    from ..agents.mention_scope import no_mentions

    loaders = (part.look_up_mentions for part in installed_parts())
    return next((load() for load in loaders if load), no_mentions)


def register_routes() -> None:
    for part in installed_parts():
        if part.routes:
            import_module(part.routes)


def external_agents(settings: Settings) -> ExternalAgents:
    from ..agents.external import NoExternalAgents

    makers = (part.external_agents for part in installed_parts())
    return next((make(settings) for make in makers if make), NoExternalAgents())


def foreign_servers(settings: Settings, needs: ForeignServersNeeds) -> ForeignServers:
    from ..agents.foreign import NoForeignServers

    makers = (part.foreign_servers for part in installed_parts())
    return next((make(settings, needs) for make in makers if make), NoForeignServers())


def pool_for(settings: Settings) -> WorkerPool:
    from ..agents.pool import AsyncioPool, MissingPool

    if settings.workers == "asyncio":
        return AsyncioPool()
    for part in installed_parts():
        if settings.workers in part.pools:
            return part.pools[settings.workers](settings)
    return MissingPool(settings.workers)
