"""The tool that finds tools which the prompt has no room to describe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

from pydantic import Field

from .base import Tool, ToolContext, ToolParameters, ToolResult, tool
from .registry import ToolRegistry

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
        """Find and describe more of your tools from a few words about what they should do."""
        query = parameters.query
        found = search(query, registry.permitted(context.role))
        text = (
            "\n".join(found.values()) or f"None of your tools matches '{query}'. Try other words."
        )
        noun = "tool" if len(found) == 1 else "tools"
        return ToolResult(text, f"found {len(found)} {noun} for '{query}'", {"tools": list(found)})

    return find_tools
