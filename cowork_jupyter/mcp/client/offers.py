"""What servers offer to the user rather than to the agent: texts to read, prompts to send."""

from __future__ import annotations

from pydantic import BaseModel

from ...policy.visible import visible
from .connection import McpConnection
from .results import Gathered

MAX_LISTED = 500


class Resource(BaseModel):
    """Something that can be read."""

    uri: str
    name: str
    description: str = ""
    mime_type: str = ""


class PromptArgument(BaseModel):
    """A value that a prompt takes."""

    name: str
    description: str = ""
    required: bool = False


class Prompt(BaseModel):
    """A message that the server can write."""

    name: str
    description: str = ""
    arguments: list[PromptArgument] = []


async def resources_of(connection: McpConnection) -> list[Resource]:
    """The first of what can be read there."""
    async with connection.asking("The list of resources") as client:
        if client.server_capabilities.resources is None:
            return []
        page = await client.list_resources()
    mask = connection.mask
    return [
        Resource(
            uri=mask(str(resource.uri))[:2_000],
            name=_words(mask(resource.title or resource.name), 200),
            description=_words(mask(resource.description or "")),
            mime_type=resource.mime_type or "",
        )
        for resource in page.resources[:MAX_LISTED]
    ]


async def read_resource(connection: McpConnection, uri: str) -> str:
    """What stands there, as text; what is no text is named."""
    async with connection.asking("Reading a resource") as client:
        read = await client.read_resource(uri)
    gathered = Gathered(connection.mask)
    for content in read.contents:
        gathered.add_resource(content)
    return gathered.text


async def prompts_of(connection: McpConnection) -> list[Prompt]:
    """The prompts it has."""
    async with connection.asking("The list of prompts") as client:
        if client.server_capabilities.prompts is None:
            return []
        page = await client.list_prompts()
    mask = connection.mask
    return [
        Prompt(
            name=mask(prompt.name)[:200],
            description=_words(mask(prompt.description or "")),
            arguments=[
                PromptArgument(
                    name=each.name[:200],
                    description=_words(mask(each.description or "")),
                    required=bool(each.required),
                )
                for each in (prompt.arguments or [])[:50]
            ],
        )
        for prompt in page.prompts[:MAX_LISTED]
    ]


async def written_prompt(connection: McpConnection, name: str, arguments: dict[str, str]) -> str:
    """The prompt with its values, for the user to read and to send."""
    async with connection.asking(f"The prompt {visible(name)[:100]}") as client:
        got = await client.get_prompt(name, arguments)
    gathered = Gathered(connection.mask)
    for message in got.messages:
        gathered.add(message.content)
    return gathered.text


def _words(text: str, most: int = 1_000) -> str:
    return visible(" ".join(text.split()))[:most]
