"""What servers offer beside tools: resources to read, and prompts for the user to send."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol, TypeVar

from ...agents.foreign import Prompt, PromptArgument, Resource, ResourceTemplate
from ...policy.visible import visible
from .connection import McpConnection
from .tools import ResultBuilder

MAX_LISTED = 500
MAX_PROMPT = 100_000
_MAX_PAGES = 50


class _Page(Protocol):
    @property
    def next_cursor(self) -> str | None: ...


T = TypeVar("T")
P = TypeVar("P", bound=_Page)


async def resources_of(connection: McpConnection) -> list[Resource]:
    async with connection.asking("The list of resources") as client:
        if client.server_capabilities.resources is None:
            return []
        found = await _all_pages(client.list_resources, lambda page: page.resources)
    mask = connection.mask
    return [
        Resource(
            uri=mask(str(resource.uri))[:2_000],
            name=_words(mask(resource.title or resource.name), 200),
            description=_words(mask(resource.description or "")),
            mime_type=resource.mime_type or "",
        )
        for resource in found
    ]


async def templates_of(connection: McpConnection) -> list[ResourceTemplate]:
    """Templates of resources too numerous to list; some servers do not support them."""
    from mcp import MCPError
    from mcp_types import METHOD_NOT_FOUND

    async with connection.asking("The list of resource templates") as client:
        if client.server_capabilities.resources is None:
            return []
        try:
            ask = client.list_resource_templates
            found = await _all_pages(ask, lambda page: page.resource_templates)
        except MCPError as error:
            if error.code != METHOD_NOT_FOUND:
                raise
            return []
    mask = connection.mask
    return [
        ResourceTemplate(
            template=mask(template.uri_template)[:2_000],
            name=_words(mask(template.title or template.name), 200),
            description=_words(mask(template.description or "")),
        )
        for template in found
    ]


async def values_for(
    connection: McpConnection,
    template: ResourceTemplate,
    variable: str,
    begun: str,
    known: Iterable[tuple[str, str]],
) -> list[str]:
    """Completions of a template's variable, if the server supports them."""
    from mcp_types import ResourceTemplateReference

    async with connection.asking("Completing an address") as client:
        if client.server_capabilities.completions is None:
            return []
        answer = await client.complete(
            ResourceTemplateReference(uri=template.template),
            {"name": variable, "value": begun},
            dict(known) or None,
        )
    return [connection.mask(value)[:500] for value in answer.completion.values[:100]]


async def read_resource(connection: McpConnection, uri: str) -> str:
    """As text; other content is only named."""
    return (await read(connection, uri)).text


async def read(connection: McpConnection, uri: str) -> ResultBuilder:
    async with connection.asking("Reading a resource") as client:
        answer = await client.read_resource(uri)
    gathered = ResultBuilder(connection.mask)
    for content in answer.contents:
        gathered.add_resource(content)
    return gathered


async def prompts_of(connection: McpConnection) -> list[Prompt]:
    async with connection.asking("The list of prompts") as client:
        if client.server_capabilities.prompts is None:
            return []
        found = await _all_pages(client.list_prompts, lambda page: page.prompts)
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
        for prompt in found
    ]


async def written_prompt(connection: McpConnection, name: str, arguments: dict[str, str]) -> str:
    return (await prompt_of(connection, name, arguments)).text


async def prompt_of(
    connection: McpConnection, name: str, arguments: dict[str, str]
) -> ResultBuilder:
    """Including pictures. Messages of the assistant are marked."""
    async with connection.asking(f"The prompt {visible(name)[:100]}") as client:
        got = await client.get_prompt(name, arguments)
    gathered = ResultBuilder(connection.mask, room=MAX_PROMPT)
    for message in got.messages:
        if message.role == "assistant":
            gathered.add_text("[the assistant:]")
        gathered.add(message.content)
    return gathered


async def _all_pages(ask: Callable[..., Awaitable[P]], items_of: Callable[[P], list[T]]) -> list[T]:
    found: list[T] = []
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        page = await ask(cursor=cursor)
        found += items_of(page)
        cursor = page.next_cursor
        if cursor is None or len(found) >= MAX_LISTED:
            break
    return found[:MAX_LISTED]


def _words(text: str, most: int = 1_000) -> str:
    return visible(" ".join(text.split()))[:most]
