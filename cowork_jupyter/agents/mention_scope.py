"""What a role may look at for a mention: only what it could read itself without asking."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..domain.effects import TableState
from ..domain.errors import CoworkError, Forbidden, NotFound
from ..llm.tokens import Count
from ..tools.base import ToolResult
from ..tools.kernel.state import Variable
from ..tools.notebook.state import NotebookState
from ..workspace import Kind, Workspace, kind_of
from .foreign import ForeignServer, ForeignServers, NoForeignServers
from .log import RunLog
from .run.history import Mentioned
from .run.tool_environment import ToolEnvironment

KERNEL_SECONDS = 1.0
TABLE_SECONDS = 0.2
NO_DATA = frozenset({"module", "function", "type", "method", "builtin_function_or_method"})
"""Types of names that are not data, decorators among them."""

_NOT_UNASKED = "This role cannot read it without asking you, so it was not sent."


@dataclass(frozen=True)
class MentionScope:
    tools: ToolEnvironment
    log: RunLog
    notebook: str | None = None
    foreign: ForeignServers = field(default_factory=NoForeignServers)
    follow: Callable[[str, str], None] = lambda _server, _uri: None
    """Called with server and URI of each resource that was read."""

    async def call(self, tool: str, **parameters: Any) -> ToolResult:
        result = await self.tools.call_unasked(self.log, tool, parameters, self.notebook)
        if result is None:
            raise Forbidden(_NOT_UNASKED)
        return result

    def workspace_for(self, tool: str, **parameters: Any) -> Workspace:
        workspace = self.tools.unasked_workspace(self.log, tool, **parameters)
        if workspace is None:
            raise Forbidden(_NOT_UNASKED)
        return workspace

    def offers(self, tool: str) -> bool:
        return tool in self.tools.registry

    # The kernel

    @cached_property
    def kernel(self) -> str:
        """The path that identifies the kernel; empty if there is none."""
        path = self.notebook or self.tools.kernels.home
        return path if path and self.offers("inspect_variable") else ""

    async def variables(self) -> Mapping[str, Variable]:
        """The data in the kernel by name; nothing if it does not answer at once."""
        if not self.kernel:
            return {}
        try:
            workspace = self.workspace_for("list_variables", path=self.kernel)
            async with asyncio.timeout(KERNEL_SECONDS):
                listed = await self.tools.kernels.variables(workspace, self.kernel)
        except (CoworkError, TimeoutError):  # there is no kernel, it is busy, or closed to the role
            return {}
        return {
            variable.name: variable for variable in listed.items if variable.type not in NO_DATA
        }

    async def tables(self) -> Mapping[str, TableState]:
        """The tables in the kernel by name; those seen last while it is busy."""
        if not self.kernel:
            return {}
        try:
            workspace = self.workspace_for("inspect_variable", name="x", path=self.kernel)
            async with asyncio.timeout(KERNEL_SECONDS):
                seen = await self.tools.kernels.tables(workspace, self.kernel, (), TABLE_SECONDS)
        except Forbidden:
            return {}
        except (CoworkError, TimeoutError):
            remembered = self.tools.memory.tables(self.kernel)
            return remembered.tables if remembered else {}
        return seen.tables

    # Files and the notebook

    def kind_of(self, path: str) -> Kind | None:
        try:
            with self.tools.workspace.locate(path) as place:
                return kind_of(place.stat().st_mode)
        except CoworkError:
            return None

    async def cells(self) -> tuple[NotebookState, Workspace]:
        path = self.notebook
        if path is None:
            raise NotFound("This conversation does not belong to a notebook.")
        workspace = self.workspace_for("read_notebook", path=path)
        return await self.tools.gate.notebooks.read(workspace, path), workspace

    # Other servers

    def server(self, name: str) -> ForeignServer | None:
        try:
            return self.foreign.server(name)
        except NotFound:
            return None

    def may_read(self, server: ForeignServer) -> bool:
        try:
            self.check_server(server)
        except Forbidden:
            return False
        return True

    def check_server(self, server: ForeignServer) -> None:
        """Raise Forbidden unless the role may use it and no rule denies it."""
        role = self.log.role
        if not role.permits(server.permissions):
            raise Forbidden(f"{role.spec.label} may not use the MCP server '{server.name}'.")
        if self.tools.gate.denied_tools(self.log.context_id, server.rule_names):
            raise Forbidden(f"A rule denies the MCP server '{server.name}'.")


LookUpMentions = Callable[[MentionScope, str, int, Count], Awaitable[Mentioned]]
"""Resolves the mentions of a message, in at most so many tokens. Never raises."""


async def no_mentions(*_: object) -> Mentioned:
    return Mentioned()
