from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ..domain.roles import Permission
from .base import Remark, ToolContext, ToolParameters, ToolResult, tool


class Recall(ToolParameters):
    """What is looked for."""

    query: Annotated[str, Field(min_length=1, max_length=1000, description="Words to look for.")]
    limit: Annotated[int, Field(ge=1, le=20, description="Maximum number of excerpts.")] = 5


@tool(category="conversation", permissions=[Permission.READ_FILES], idempotent=True, travels=False)
async def recall(parameters: Recall, context: ToolContext) -> ToolResult:
    """Find what was said earlier in this conversation: the user's words and answers, plans,
    results of steps.
    """
    query = parameters.query
    found = context.recall(query, parameters.limit)
    text = "\n\n".join(map(_line, found))
    noun = "excerpt" if len(found) == 1 else "excerpts"
    nothing = f"Nothing in this conversation matches '{query}'. Try other words."
    return ToolResult(text or nothing, f"recalled {len(found)} {noun} for '{query}'")


def _line(remark: Remark) -> str:
    step = f", step {remark.step_id}" if remark.step_id else ""
    return f"[{remark.at}] {remark.speaker}{step}: {remark.text}"
