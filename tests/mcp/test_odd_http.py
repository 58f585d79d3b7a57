"""Addresses where no server is: nothing answers, or something that is no MCP, or too much of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.parts.mcp.sdk import MAX_ANSWER_SIZE

from .conftest import PATIENCE, House, call, odd

pytestmark = pytest.mark.asyncio

Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]
HEAD = "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n"


@asynccontextmanager
async def answering(answer: Answer) -> AsyncIterator[str]:
    """The address of something that reads a request and answers it this way."""

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            await answer(writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # whoever asked has gone
        finally:
            writer.close()

    server = await asyncio.start_server(connect, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    finally:
        server.close()


async def silence(_writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(PATIENCE * 10)


async def a_web_page(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD.format(status="200 OK", kind="text/html").encode() + b"<h1>Hello</h1>")


async def nonsense(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD.format(status="200 OK", kind="application/json").encode() + b'{"a": 1}')


async def an_error(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD.format(status="500 Oh no", kind="text/plain").encode() + b"Oh no")


async def too_much(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD.format(status="200 OK", kind="application/json").encode())
    for _ in range(2 * MAX_ANSWER_SIZE // 2**20):
        writer.write(b"[" * 2**20)
        await writer.drain()


@pytest.mark.parametrize("answer", [silence, a_web_page, nonsense, an_error, too_much])
@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_what_is_no_server_fails_with_a_sentence_and_hurts_nobody(
    house: House, answer: Answer, kind: str
) -> None:
    async with answering(answer) as url:
        house.configure(web={"url": url, "type": kind}, other=odd())
        servers = house.servers(start=2.0 if answer is silence else PATIENCE)
        others = house.servers()
        async with asyncio.timeout(PATIENCE):
            await others.connection("other").client()
            with pytest.raises(CoworkError) as failed:
                await servers.connection("web").client()
        assert failed.value.message.startswith("The MCP server 'web' is not running: ")
        assert "Traceback" not in failed.value.message
        assert (await call(house, others, "mcp__other__echo", text="hi")).text == "hi"


async def test_a_secret_in_an_address_is_in_no_message(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("WEB_TOKEN", "hunter2-in-the-address")
    async with answering(an_error) as url:
        house.configure(web={"url": f"{url}?token=${{WEB_TOKEN}}"})
        servers = house.servers()
        with caplog.at_level("DEBUG"), pytest.raises(CoworkError) as failed:
            await servers.connection("web").client()
    assert "hunter2" not in failed.value.message
    assert "hunter2" not in servers.connection("web").tail.text()
    assert "hunter2" not in caplog.text
