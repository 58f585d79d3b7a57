"""The agent's tools: typed functions with permissions."""

from .base import Tool, ToolContext, ToolParameters, ToolResult, tool
from .registry import ToolRegistry, default_tools

__all__ = [
    "Tool",
    "ToolContext",
    "ToolParameters",
    "ToolRegistry",
    "ToolResult",
    "default_tools",
    "tool",
]
