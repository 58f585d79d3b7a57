"""The registry of tools, through which all calls go."""

from __future__ import annotations

import difflib
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

from pydantic import Field, ValidationError

from ..domain.base_models import describe_problems, field_problems
from ..domain.errors import InvalidInput, NotFound
from ..domain.plurals import count_of
from ..domain.redaction import without_surrogates
from ..domain.roles import AgentRole
from ..policy.decision import check_ceiling, may_use
from ..policy.rules import DELEGATE, NETWORK, RESOURCE_TOOLS
from . import edits, files, search, shell
from .base import Tool, ToolContext, ToolParameters, ToolResult, tool
from .kernel import scratch
from .kernel import tools as kernel_tools
from .notebook import edit_tools, read_tool


class ToolRegistry(Mapping[str, Tool]):
    def __init__(self, tools: Iterable[Tool]) -> None:
        self._own = {tool.name: tool for tool in tools}

    @property
    def _tools(self) -> Mapping[str, Tool]:
        return self._own

    def with_more(
        self,
        more: Callable[[], Mapping[str, Tool]],
        prepare: Callable[[AgentRole], Awaitable[None]],
    ) -> ToolRegistry:
        """Add tools that come and go; ours win where names collide."""
        return _DerivedRegistry(self, more, prepare)

    def plus(self, *tools: Tool) -> ToolRegistry:
        """Add a few tools; changes of this registry still show."""
        added = {tool.name: tool for tool in tools}
        return _DerivedRegistry(self, lambda: added, self.prepare)

    def replacing(self, *tools: Tool) -> ToolRegistry:
        others = {tool.name: tool for tool in tools if tool.name in self}
        return _DerivedRegistry(self, lambda: others, self.prepare, override=True)

    async def prepare(self, role: AgentRole) -> None:
        """Discover the tools of a role, as far as that takes time."""

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def permitted(self, role: AgentRole) -> list[Tool]:
        """Tools that the role may use."""
        variants = (tool.for_role(role) for tool in self._tools.values())
        return [tool for tool in variants if may_use(role, tool.name, tool.permissions)]

    def named(self, name: str, role: AgentRole) -> Tool:
        """Raises NotFound that suggests the role's tools with a similar name."""
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
        """The tool as the call uses it. Raises unless the role holds all permissions it needs."""
        tool = self.named(name, role).for_call(role, parameters or {})
        check_ceiling(role, tool.name, tool.permissions)
        return tool

    def resolve(self, name: str, role: AgentRole, raw_parameters: dict[str, Any]) -> ResolvedCall:
        """Raises CoworkError unless the role permits it and the parameters are valid.

        Nothing runs that was not resolved, although excluded tools are never offered: a model can
        name any tool.
        """
        tool = self.permitted_tool(name, role, raw_parameters)
        return ResolvedCall(tool, validate_parameters(tool, raw_parameters), role)

    async def call(
        self, name: str, raw_parameters: dict[str, Any], context: ToolContext
    ) -> ToolResult:
        return await self.resolve(name, context.role, raw_parameters).run(context)


@dataclass(frozen=True)
class ResolvedCall:
    """A call that a role may make, with valid parameters."""

    tool: Tool
    parameters: ToolParameters
    role: AgentRole

    @cached_property
    def given(self) -> dict[str, Any]:
        """The parameters as policy and previews see them."""
        return self.parameters.model_dump(mode="json", exclude_none=True)

    async def run(self, context: ToolContext) -> ToolResult:
        if context.role != self.role:
            check_ceiling(context.role, self.tool.name, self.tool.permissions)
        result = await self.tool.run(self.parameters, context)
        return replace(
            result,
            text=without_surrogates(result.text),
            summary=" ".join(without_surrogates(result.summary).split()),
            data=without_surrogates(result.data),
        )


class _DerivedRegistry(ToolRegistry):
    """The tools of `base` and more, merged again whenever either mapping is another object."""

    def __init__(
        self,
        base: ToolRegistry,
        more: Callable[[], Mapping[str, Tool]],
        prepare: Callable[[AgentRole], Awaitable[None]],
        *,
        override: bool = False,
    ) -> None:
        super().__init__([])
        self._base, self._more, self._prepare, self._override = base, more, prepare, override
        self._merged: tuple[Mapping[str, Tool], Mapping[str, Tool], Mapping[str, Tool]] | None
        self._merged = None

    @property
    def _tools(self) -> Mapping[str, Tool]:
        own, more = self._base._tools, self._more()
        if self._merged is None or self._merged[0] is not own or self._merged[1] is not more:
            others = {name: more[name] for name in more if self._override or name not in own}
            self._merged = (own, more, {**own, **others})
        return self._merged[2]

    async def prepare(self, role: AgentRole) -> None:
        await self._prepare(role)


def validate_parameters(tool: Tool, raw: dict[str, Any]) -> ToolParameters:
    """Raises InvalidInput that names each bad field."""
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


def default_tools(more: Iterable[Tool] = ()) -> ToolRegistry:
    """Tools that need nothing but a workspace, and `more` of parts."""
    return ToolRegistry(
        [
            files.read_file,
            files.list_directory,
            files.get_file_info,
            search.grep,
            search.search_code,
            search.search_symbol,
            *more,
            search.recall,
            edits.create_file,
            edits.update_file,
            edits.delete_file,
            shell.execute_command,
            read_tool.read_notebook,
            edit_tools.insert_cell,
            edit_tools.edit_cell,
            edit_tools.move_cell,
            edit_tools.delete_cell,
            edit_tools.create_notebook,
        ]
    )


_ELSEWHERE = frozenset({DELEGATE, "find_tools", "read_skill", *RESOURCE_TOOLS})
"""Tools that are built where they are needed."""


def rule_names_of(more: Iterable[str]) -> frozenset[str]:
    """Names that rules can be about, with those of parts."""
    return frozenset(tools_with_kernels()) | {*more, *_ELSEWHERE, NETWORK}


def tools_with_kernels(more: Iterable[Tool] = (), *, confined: bool = True) -> ToolRegistry:
    """The default tools and those that need a host with kernels.

    `confined`: code can run in a sandbox, too.
    """
    return ToolRegistry(
        [
            *default_tools(more).values(),
            kernel_tools.run_cell,
            scratch.run_code_anywhere if confined else kernel_tools.run_code,
            kernel_tools.list_variables,
            kernel_tools.inspect_variable,
        ]
    )


def tools_without_kernels(more: Iterable[Tool] = (), *, confined: bool) -> ToolRegistry:
    """Tools for a terminal. Code runs in a sandbox there, or not at all."""
    code = [scratch.run_code_alone] if confined else []
    return ToolRegistry([*default_tools(more).values(), *code])


Search = Callable[[str, Sequence[Tool]], Mapping[str, str]]
"""Descriptions by name of the tools that match a query best, best first."""


class FindTools(ToolParameters):
    """What is wanted."""

    query: Annotated[
        str, Field(min_length=1, max_length=1000, description="What the tool should do.")
    ]


def find_tools_in(registry: ToolRegistry, search: Search) -> Tool:
    """Build the tool `find_tools` for one registry.

    Any role may use it. It names only what the role permits, and calling what it names goes through
    the same checks as any other call.
    """

    @tool(category="more tools", permissions=[], idempotent=True)
    async def find_tools(parameters: FindTools, context: ToolContext) -> ToolResult:
        """Find more of your tools, by a few words about what they should do."""
        query = parameters.query
        matches = search(query, registry.permitted(context.role))
        text = (
            "\n".join(matches.values()) or f"None of your tools matches '{query}'. Try other words."
        )
        summary = f"found {count_of(len(matches), 'tool')} for '{query}'"
        return ToolResult(text, summary, {"tools": list(matches)})

    return find_tools
