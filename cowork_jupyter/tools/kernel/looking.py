"""Tools that look at the variables in a kernel. They run only our own code."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ...domain.errors import InvalidInput
from ...domain.roles import Permission
from ..base import ToolContext, ToolParameters, ToolResult, tool
from .running import NotebookPath, kernel_path
from .state import Variable


class ListVariables(ToolParameters):
    """In whose kernel."""

    path: NotebookPath = None


class InspectVariable(ToolParameters):
    """Which variable, in whose kernel."""

    name: Annotated[str, Field(min_length=1, max_length=500, description="Variable name.")]
    path: NotebookPath = None


@tool(category="kernel", permissions=[Permission.READ_FILES], idempotent=True, travels=False)
async def list_variables(parameters: ListVariables, context: ToolContext) -> ToolResult:
    """List the variables in a notebook's kernel: names, types, shapes and sizes."""
    path = kernel_path(parameters.path, context)
    found = await context.kernels.variables(context.workspace, path)
    lines = [_line(item) for item in found.items]
    if found.total > len(lines):
        lines.append(f"[{found.total - len(lines):,} more names are not shown]")
    count = f"{found.total:,} variable{'' if found.total == 1 else 's'}"
    text = "\n".join(lines) or "The kernel has no variables yet."
    return ToolResult(text, f"listed {count} of {found.path}", {"notebook": found.path})


@tool(category="kernel", permissions=[Permission.READ_FILES], idempotent=True, travels=False)
async def inspect_variable(parameters: InspectVariable, context: ToolContext) -> ToolResult:
    """Look at a variable in a notebook's kernel: for a table its columns, types, missing values,
    statistics and first rows; for other values what is in them.
    """
    if not parameters.name.isidentifier():
        raise InvalidInput(
            f"'{parameters.name}' is not a variable name; expressions are not evaluated.",
            code="no_name",
        )
    path = kernel_path(parameters.path, context)
    found = await context.kernels.inspect(context.workspace, path, parameters.name)
    text = "\n".join([_line(found), *found.lines])
    data = {"notebook": path, "name": found.name, "type": found.type}
    return ToolResult(text, f"looked at {found.name} ({found.type})", data)


def _line(variable: Variable) -> str:
    about = f" · {variable.about}" if variable.about else ""
    return f"{variable.name}: {variable.type}{about}"
