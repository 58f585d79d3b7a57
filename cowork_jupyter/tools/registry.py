"""All tools by name, and the one door through which they are called."""

from __future__ import annotations

import difflib
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from ..domain.errors import InvalidInput, NotFound
from ..domain.roles import AgentRole
from ..domain.surrogates import without_surrogates
from ..domain.validation import describe_problems, field_problems
from ..policy.decision import check_ceiling
from ..policy.rules import NETWORK, RESOURCE_TOOLS
from . import edits, files, folders, search, shell, symbols
from .base import Tool, ToolContext, ToolParameters, ToolResult
from .kernel import looking, running, scratch
from .notebook import changing, creating, reading
from .recall import recall
from .tables.tools import TABLE_TOOLS, table_tools


class ToolRegistry(Mapping[str, Tool]):
    """Tools by name."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._own = {tool.name: tool for tool in tools}

    @property
    def _tools(self) -> Mapping[str, Tool]:
        """All that there are at this moment."""
        return self._own

    def with_more(
        self,
        more: Callable[[], Mapping[str, Tool]],
        prepare: Callable[[AgentRole], Awaitable[None]],
    ) -> ToolRegistry:
        """These, and others that come and go; ours count where names are the same."""
        return _Growing(self, more, prepare)

    def plus(self, *tools: Tool) -> ToolRegistry:
        """These, whatever becomes of them, and a few more."""
        added = {tool.name: tool for tool in tools}
        return _Growing(self, lambda: added, self.prepare)

    def replacing(self, *tools: Tool) -> ToolRegistry:
        """These, with others in the place of those that have the same names."""
        return _Replacing(self, {tool.name: tool for tool in tools if tool.name in self})

    async def prepare(self, role: AgentRole) -> None:
        """Find out which tools there are for a role, as far as that takes time."""

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def permitted(self, role: AgentRole) -> list[Tool]:
        """The tools that the role may use: those it holds ALL permissions of.

        What would refuse every call of the role is none of them.
        """
        may_write = role.spec.commands_may_write
        return [
            tool
            for tool in (tool.for_role(role) for tool in self._tools.values())
            if role.permits(tool.permissions) and (may_write or not tool.unconfined)
        ]

    def named(self, name: str, role: AgentRole) -> Tool:
        """The tool, or an error that suggests those of the role's tools with a similar name."""
        if name in self._tools:
            return self._tools[name]
        offered = [tool.name for tool in self.permitted(role)]
        close = difflib.get_close_matches(name, offered, n=3, cutoff=0.5)
        hint = (
            f"Did you mean {' or '.join(close)}?"
            if close
            else f"Choose one of: {', '.join(offered)}."
        )
        raise NotFound(f"There is no tool '{name}'. {hint}", code="unknown_tool")

    def permitted_tool(
        self, name: str, role: AgentRole, parameters: Mapping[str, Any] | None = None
    ) -> Tool:
        """The tool as the call uses it, if there is one and the role holds all that it needs."""
        tool = self.named(name, role).for_call(role, parameters or {})
        check_ceiling(role, tool.name, tool.permissions)
        return tool

    def resolve(
        self, name: str, role: AgentRole, raw_parameters: dict[str, Any]
    ) -> tuple[Tool, ToolParameters]:
        """The permitted tool with its validated parameters; raises CoworkError."""
        tool = self.permitted_tool(name, role, raw_parameters)
        return tool, validated(tool, raw_parameters)

    async def call(
        self, name: str, raw_parameters: dict[str, Any], context: ToolContext
    ) -> ToolResult:
        """Run a tool, if the role permits it and the parameters make sense.

        The ceiling is checked here although excluded tools are never offered: a model can
        name any tool, and nothing before this point is trusted to have looked.
        """
        tool, parameters = self.resolve(name, context.role, raw_parameters)
        result = await tool.run(parameters, context)
        return replace(
            result,
            text=without_surrogates(result.text),
            summary=without_surrogates(result.summary),
            data=without_surrogates(result.data),
        )


class _Growing(ToolRegistry):
    """A registry of which some tools are looked up anew each time."""

    def __init__(
        self,
        base: ToolRegistry,
        more: Callable[[], Mapping[str, Tool]],
        prepare: Callable[[AgentRole], Awaitable[None]],
    ) -> None:
        super().__init__([])
        self._base, self._more, self._prepare = base, more, prepare
        self._both: tuple[Mapping[str, Tool], Mapping[str, Tool], Mapping[str, Tool]] | None = None

    @property
    def _tools(self) -> Mapping[str, Tool]:
        own, more = self._base._tools, self._more()
        if self._both is None or self._both[0] is not own or self._both[1] is not more:
            others = {name: tool for name, tool in more.items() if name not in own}
            self._both = (own, more, {**own, **others})
        return self._both[2]

    async def prepare(self, role: AgentRole) -> None:
        """Whatever those need that come and go."""
        await self._prepare(role)


class _Replacing(ToolRegistry):
    """A registry of which some tools are others."""

    def __init__(self, base: ToolRegistry, others: Mapping[str, Tool]) -> None:
        super().__init__([])
        self._base, self._others = base, others

    @property
    def _tools(self) -> Mapping[str, Tool]:
        return {**self._base._tools, **self._others}

    async def prepare(self, role: AgentRole) -> None:
        """Whatever the others need."""
        await self._base.prepare(role)


def validated(tool: Tool, raw: dict[str, Any]) -> ToolParameters:
    """The parameters as the tool's own model, or one error that names each bad field."""
    try:
        json.dumps(raw, ensure_ascii=False).encode()
        return tool.parameters.model_validate(raw)
    except (UnicodeEncodeError, RecursionError, TypeError) as error:
        raise InvalidInput(
            f"{tool.name}: the parameters are not a JSON object, or contain invalid characters.",
            code="bad_parameters",
        ) from error
    except ValidationError as error:
        problems = field_problems(error, tool.parameters.model_fields)
        raise InvalidInput(
            f"{tool.name}: {describe_problems(problems)}.",
            code="bad_parameters",
            details={"problems": [str(problem) for problem in problems]},
        ) from error


def default_tools() -> ToolRegistry:
    """The tools that work on any workspace."""
    return ToolRegistry(
        [
            files.read_file,
            folders.list_directory,
            files.get_file_info,
            search.grep,
            search.search_code,
            symbols.search_symbol,
            *table_tools(),
            recall,
            edits.create_file,
            edits.update_file,
            edits.delete_file,
            shell.execute_command,
            reading.read_notebook,
            changing.insert_cell,
            changing.edit_cell,
            changing.move_cell,
            changing.delete_cell,
            creating.create_notebook,
        ]
    )


_ELSEWHERE = frozenset({"delegate", "find_tools", "read_skill", *RESOURCE_TOOLS})
"""Tools that are made where they are needed."""


def rule_names() -> frozenset[str]:
    """All that a rule of the user's can be about, in any host, tools of MCP servers aside."""
    return frozenset(tools_with_kernels()) | TABLE_TOOLS | {*_ELSEWHERE, NETWORK}


def tools_with_kernels(*, confined: bool = True) -> ToolRegistry:
    """All of those, and the ones that need a host which keeps kernels.

    `confined`: code can run in a sandbox, too.
    """
    return ToolRegistry(
        [
            *default_tools().values(),
            running.run_cell,
            scratch.run_code_anywhere if confined else running.run_code,
            looking.list_variables,
            looking.inspect_variable,
        ]
    )


def tools_without_kernels(*, confined: bool) -> ToolRegistry:
    """Those for a terminal. Code runs in a sandbox there, or not at all."""
    code = [scratch.run_code_alone] if confined else []
    return ToolRegistry([*default_tools().values(), *code])
