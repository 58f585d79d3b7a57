"""What the agent can do: each tool a typed function with permissions."""

from .base import Parameters, Tool, ToolContext, ToolResult, tool
from .registry import ToolRegistry, default_tools

__all__ = [
    "Parameters",
    "Tool",
    "ToolContext",
    "ToolRegistry",
    "ToolResult",
    "default_tools",
    "tool",
]
