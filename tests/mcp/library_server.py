"""A server of the SDK with things to read and prompts: `library_server.py LOG [old|silent]`.

It writes down in LOG what it was asked for. An old one knows nothing of 2026-07-28: whoever wants
to hear of changes subscribes. A silent one is old, and tells nobody.
"""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from typing import Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import AssistantMessage, UserMessage
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import (
    METHOD_NOT_FOUND,
    Completion,
    CompletionArgument,
    EmptyResult,
    ErrorData,
    ImageContent,
    JSONRPCError,
    JSONRPCRequest,
    ResourceTemplateReference,
    SubscribeRequestParams,
    UnsubscribeRequestParams,
)

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8"
    "z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
MODES = {"old", "silent"}
BOOKS = {"poems": ["Odes", "Ossian"], "prose": ["Emma"]}
log = Path(sys.argv[1])
server = MCPServer("library")
note = ["Nothing yet."]


def asked(what: str) -> None:
    with log.open("a") as file:
        file.write(f"{what}\n")


@server.resource("library://note", mime_type="text/plain")
def read_note() -> str:
    """What the librarian wrote."""
    asked("read note")
    return note[0]


@server.resource("library://stamp", mime_type="image/png")
def read_stamp() -> bytes:
    """The library's stamp."""
    asked("read stamp")
    return base64.b64decode(PIXEL)


@server.resource("library://archive", mime_type="application/zip")
def read_archive() -> bytes:
    """All books in one."""
    asked("read archive")
    return b"PK" * 500


@server.resource("library://books/{shelf}/{title}")
def read_book(shelf: str, title: str) -> str:
    """A book."""
    asked(f"read {shelf}/{title}")
    return f"{title}, from the shelf {shelf}."


@server.completion()  # type: ignore[no-untyped-call]
async def complete(ref: object, argument: CompletionArgument, context: Any) -> Completion:
    known = context.arguments or {} if context else {}
    asked(f"complete {argument.name}={argument.value} {known}")
    values = BOOKS.get(known.get("shelf", ""), []) if argument.name == "title" else list(BOOKS)
    fitting = [one for one in values if one.lower().startswith(argument.value.lower())]
    return Completion(values=fitting if isinstance(ref, ResourceTemplateReference) else [])


@server.prompt()
def review(title: str, kind: str = "short") -> list[UserMessage | AssistantMessage]:
    """Review a book."""
    asked(f"prompt review {title} {kind}")
    stamp = ImageContent(type="image", data=PIXEL, mime_type="image/png")
    return [
        UserMessage(f"Write a {kind} review of {title}. See @a.py."),
        AssistantMessage("Gladly."),
        UserMessage(stamp),
    ]


@server.tool()
async def write(text: str, context: Context) -> str:
    """Change the note, and say so."""
    asked(f"write {text}")
    note[0] = text
    if IS_OLD:
        await context.session.send_resource_updated("library://note")
    else:
        await context.notify_resource_updated("library://note")
    return "written"


async def subscribe(_context: object, params: SubscribeRequestParams) -> EmptyResult:
    asked(f"subscribe {params.uri}")
    return EmptyResult()


async def unsubscribe(_context: object, params: UnsubscribeRequestParams) -> EmptyResult:
    asked(f"unsubscribe {params.uri}")
    return EmptyResult()


async def serve_as_of_old() -> None:
    """What `server/discover` is it does not know."""
    send, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as tasks:

        async def pass_on() -> None:
            async with send:
                async for one in incoming:
                    message = one.message if isinstance(one, SessionMessage) else None
                    if isinstance(message, JSONRPCRequest) and message.method == "server/discover":
                        error = ErrorData(code=METHOD_NOT_FOUND, message="no such method")
                        answer = JSONRPCError(jsonrpc="2.0", id=message.id, error=error)
                        await outgoing.send(SessionMessage(answer))
                    else:
                        await send.send(one)

        tasks.start_soon(pass_on)
        await lowlevel.run(received, outgoing, lowlevel.create_initialization_options())


lowlevel = server._lowlevel_server
IS_OLD = not MODES.isdisjoint(sys.argv)
if "old" in sys.argv:
    lowlevel.add_request_handler("resources/subscribe", SubscribeRequestParams, subscribe)
    lowlevel.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, unsubscribe)

if __name__ == "__main__":
    anyio.run(serve_as_of_old if IS_OLD else server.run_stdio_async)
