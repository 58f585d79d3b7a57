"""Loaded into a Jupyter server beside ours: the tools that the conformance suite asks for by name.

They are declared as all tools are, and are called the way that all are; only their names and
texts are the suite's.
"""

from __future__ import annotations

import asyncio
from typing import Any

from jupyter_server.auth.identity import IdentityProvider, User
from pydantic import BaseModel, ConfigDict, Field
from tornado.web import RequestHandler

from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.domain.messages import ImagePart
from cowork_jupyter.parts.mcp_server import guests
from cowork_jupyter.tools import registry
from cowork_jupyter.tools.base import ToolContext, ToolParameters, ToolResult, tool

RED_PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8"
    "z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)


class Nothing(ToolParameters):
    """These take none."""


class address(BaseModel):  # noqa: N801 (the suite looks for this name)
    street: str = ""
    city: str = ""


class Person(ToolParameters):
    model_config = ConfigDict(
        json_schema_extra={"$schema": "https://json-schema.org/draft/2020-12/schema"}
    )

    name: str = ""
    lives_at: address = Field(default_factory=address)


@tool(category="files", permissions=[], idempotent=True)
async def test_simple_text(parameters: Nothing, context: ToolContext) -> ToolResult:
    """Gives a text."""
    return ToolResult("This is a simple text response for testing.", "gave a text")


@tool(category="files", permissions=[], idempotent=True)
async def test_image_content(parameters: Nothing, context: ToolContext) -> ToolResult:
    """Gives a picture."""
    return ToolResult("a picture", "gave a picture", images=(ImagePart(data=RED_PIXEL),))


@tool(category="files", permissions=[], idempotent=True)
async def test_error_handling(parameters: Nothing, context: ToolContext) -> ToolResult:
    """Fails."""
    raise CoworkError("This tool intentionally returns an error for testing")


@tool(category="files", permissions=[], idempotent=True)
async def test_tool_with_progress(parameters: Nothing, context: ToolContext) -> ToolResult:
    """Says how it is getting on."""
    for done in (0, 50, 100):
        context.output(f"{done} of 100 done")
    return ToolResult("all done", "did it in three pieces")


@tool(category="files", permissions=[], idempotent=True)
async def json_schema_2020_12_tool(parameters: Person, context: ToolContext) -> ToolResult:
    """Has a schema with all that schemas can have."""
    return ToolResult("", "did nothing")


class Greeted(ToolParameters):
    name: str = "you"


class Seconds(ToolParameters):
    seconds: float = 1.0
    label: str = ""


@tool(category="files", permissions=[], idempotent=True)
async def greet(parameters: Greeted, context: ToolContext) -> ToolResult:
    """Greets."""
    return ToolResult(f"Hello, {parameters.name}!", "greeted")


@tool(category="files", permissions=[], idempotent=True)
async def slow_compute(parameters: Seconds, context: ToolContext) -> ToolResult:
    """Takes its time."""
    await asyncio.sleep(parameters.seconds)
    return ToolResult("done", "took its time")


@tool(category="files", permissions=[], idempotent=True)
async def failing_job(parameters: Nothing, context: ToolContext) -> ToolResult:
    """Fails after a while."""
    await asyncio.sleep(1)
    raise CoworkError("This job fails")


@tool(category="files", permissions=[], idempotent=True)
async def protocol_error_job(parameters: Nothing, context: ToolContext) -> ToolResult:
    """Turns out not to be there."""
    await asyncio.sleep(1)
    raise CoworkError("This job is none", code="unknown_tool")


TOOLS = (
    greet,
    slow_compute,
    failing_job,
    protocol_error_job,
    test_simple_text,
    test_image_content,
    test_error_handling,
    test_tool_with_progress,
    json_schema_2020_12_tool,
)


class Anybody(IdentityProvider):
    """The same user for every request: the suite brings no token along everywhere."""

    token = ""

    def get_user(self, handler: RequestHandler) -> User:
        return User("suite")


def _load_jupyter_server_extension(_app: Any) -> None:
    from cowork_jupyter.parts.mcp_server import protocol

    guests._DRAIN_SECONDS = 60.0  # the suite wants to hear all of them, on a busy machine too
    protocol.PATIENCE = 0.5  # and to be given tasks soon
    ours = registry.tools_with_kernels
    registry.tools_with_kernels = lambda more=(), *, confined=True: registry.ToolRegistry(
        [*ours(more, confined=confined).values(), *TOOLS]
    )


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]
