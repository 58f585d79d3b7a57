"""Servers of others: their tools, and what they offer beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from pydantic import BaseModel

from ..domain.errors import NotFound
from ..domain.messages import ImagePart
from ..domain.roles import AgentRole, Permission
from ..tools.base import Tool
from .log import RunLog


class Resource(BaseModel):
    """A resource of an MCP server."""

    uri: str
    name: str
    description: str = ""
    mime_type: str = ""


class ResourceTemplate(BaseModel):
    """A URI template of resources."""

    template: str
    name: str
    description: str = ""


class PromptArgument(BaseModel):
    """An argument of a prompt."""

    name: str
    description: str = ""
    required: bool = False


class Prompt(BaseModel):
    """A prompt of an MCP server."""

    name: str
    description: str = ""
    arguments: list[PromptArgument] = []


class ForeignContent(Protocol):
    """What a server gave: untrusted text, and pictures."""

    @property
    def text(self) -> str: ...

    @property
    def images(self) -> Sequence[ImagePart]: ...


class ForeignServer(Protocol):
    """One that is in use. Its methods start it if necessary."""

    @property
    def name(self) -> str: ...

    @property
    def is_ready(self) -> bool: ...

    @property
    def permissions(self) -> frozenset[Permission]:
        """What a role must hold to use it."""

    @property
    def rule_names(self) -> tuple[str, ...]:
        """Names of rules about reading its resources."""

    async def resources(self) -> list[Resource]: ...

    async def templates(self) -> list[ResourceTemplate]: ...

    async def values_for(
        self,
        template: ResourceTemplate,
        variable: str,
        begun: str,
        known: Iterable[tuple[str, str]],
    ) -> list[str]:
        """Completions of a template's variable."""

    async def read(self, uri: str) -> ForeignContent: ...

    async def prompts(self) -> list[Prompt]: ...

    async def prompt(self, name: str, arguments: dict[str, str]) -> ForeignContent: ...


class FollowedResources(Protocol):
    """Resources that a run has read; it hears when they change."""

    def follow(self, server: str, uri: str) -> None: ...

    def next_changes(self) -> list[str]:
        """Since the last call, without duplicates, as messages mention them."""


class ForeignServers(Protocol):
    def names(self) -> list[str]:
        """Those in use."""

    def server(self, name: str) -> ForeignServer:
        """Raises NotFound."""

    def tools(self) -> Mapping[str, Tool]:
        """The same object as long as they are the same; starts nothing."""

    async def prepare(self, role: AgentRole) -> None:
        """Learn which tools there are for a role."""

    def followed_by(self, log: RunLog) -> FollowedResources: ...

    def job_ended(self, job_id: str) -> None:
        """Nothing is followed for it any more."""

    async def close(self) -> None: ...


class _Nothing:
    def follow(self, server: str, uri: str) -> None: ...

    def next_changes(self) -> list[str]:
        return []


class NoForeignServers:
    _tools: Mapping[str, Tool] = {}

    def names(self) -> list[str]:
        return []

    def server(self, name: str) -> ForeignServer:
        raise NotFound(f"The server '{name[:100]}' is unknown.")

    def tools(self) -> Mapping[str, Tool]:
        return self._tools

    async def prepare(self, role: AgentRole) -> None: ...

    def followed_by(self, log: RunLog) -> FollowedResources:  # noqa: ARG002
        return _Nothing()

    def job_ended(self, job_id: str) -> None: ...

    async def close(self) -> None: ...
