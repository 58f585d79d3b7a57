"""What a role may look at for a mention: only what it could read itself, with nobody asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...domain.effects import TableState
from ...domain.errors import CoworkError, Forbidden, NotFound
from ...mcp.client.connection import McpConnection
from ...mcp.client.resources import READ, rule_name
from ...mcp.client.servers import McpServers
from ...tools.base import Clearance, ToolContext, ToolResult
from ...tools.kernel.state import Variable
from ...tools.notebook.state import NotebookState
from ...tools.registry import validated
from ...workspace import Kind, Workspace, kind_of
from ..log import RunLog
from ..run.tool_environment import ToolEnvironment

KERNEL_SECONDS = 1.0
"""For a kernel, which may be busy."""
TABLE_SECONDS = 0.2
"""Work in the kernel to describe its tables."""
NO_DATA = frozenset({"module", "function", "type", "method", "builtin_function_or_method"})
"""Types of names that are not data. Decorators are such names, too."""

_NOT_UNASKED = "This role cannot read it without asking you, so it was not sent."


@dataclass(frozen=True)
class Reach:
    """The eyes of one run."""

    tools: ToolEnvironment
    log: RunLog
    notebook: str | None = None
    """The notebook that it is about."""
    mcp: McpServers | None = None
    follow: Callable[[str, str], None] = lambda _server, _uri: None
    """Hears of each resource of a server that was read."""

    async def call(self, tool: str, **parameters: Any) -> ToolResult:
        """What a tool says that needs no approval here."""
        clearance, found = self._leave(tool, parameters), self.tools.registry[tool]
        context = ToolContext(
            workspace=clearance.guard(self.tools.workspace),
            role=self.log.role,
            mask=self.log.mask,
            clearance=clearance,
            sandbox=self.tools.sandbox,
            notebooks=self.tools.gate.notebooks,
            kernels=self.tools.kernels,
            notebook=self.notebook,
        )
        return await found.run(validated(found, parameters), context)

    def workspace_for(self, tool: str, **parameters: Any) -> Workspace:
        """The workspace as such a call would see it."""
        return self._leave(tool, parameters).guard(self.tools.workspace)

    def _leave(self, tool: str, parameters: Mapping[str, Any]) -> Clearance:
        found = self.tools.registry[tool]
        clearance = self.tools.gate.leave_without_asking(found, parameters, self.log)
        if clearance is None:
            raise Forbidden(_NOT_UNASKED)
        return clearance

    def offers(self, tool: str) -> bool:
        """Whether there is such a tool here."""
        return tool in self.tools.registry

    # The kernel

    @cached_property
    def kernel(self) -> str:
        """Whose kernel it is; empty if there is none."""
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
            known = self.tools.memory.tables(self.kernel)
            return known.tables if known else {}
        return seen.tables

    # Files and the notebook

    def kind_of(self, path: str) -> Kind | None:
        """What stands at a path of the workspace, if anything does."""
        try:
            with self.tools.workspace.locate(path) as place:
                return kind_of(place.stat().st_mode)
        except CoworkError:
            return None

    async def cells(self) -> tuple[NotebookState, Workspace]:
        """The notebook as it is now, and how it may be reached."""
        path = self.notebook
        if path is None:
            raise NotFound("This conversation does not belong to a notebook.")
        workspace = self.workspace_for("read_notebook", path=path)
        return await self.tools.gate.notebooks.read(workspace, path), workspace

    # Other servers

    def server(self, name: str) -> McpConnection | None:
        """An MCP server that is in use."""
        try:
            return self.mcp.connection(name) if self.mcp else None
        except NotFound:
            return None

    def may_read(self, connection: McpConnection) -> bool:
        """Whether the role may have anything read there."""
        try:
            self.check_server(connection)
        except Forbidden:
            return False
        return True

    def check_server(self, connection: McpConnection) -> None:
        """Raise unless the role may use it, and no rule says otherwise."""
        config, role = connection.config, self.log.role
        if not role.permits(config.permissions_for("")):
            raise Forbidden(f"{role.spec.label} may not use the MCP server '{config.name}'.")
        names = [READ, rule_name(config, "read")]
        if self.tools.gate.denied_tools(self.log.context_id, names):
            raise Forbidden(f"A rule denies the MCP server '{config.name}'.")
