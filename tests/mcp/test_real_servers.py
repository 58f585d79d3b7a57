"""Real servers, as people have them: of npm over pipes, of the SDK over HTTP."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from cowork_jupyter.domain.errors import CoworkError, InvalidInput
from cowork_jupyter.domain.replies import Question
from cowork_jupyter.parts.mcp import offers
from tests.server.live import held_port

from .conftest import PATIENCE, House, call, eventually, http_server, npm

pytestmark = pytest.mark.asyncio


async def test_everything(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text, pictures, resources, structured results, progress and questions of one server."""
    monkeypatch.setenv("EVERYTHING_TOKEN", "tell-nobody-of-this")
    entry = npm("server-everything", env={"A": "${EVERYTHING_TOKEN}", "B": "${NOT_SET:-b}"})
    servers = await house.ready(every=entry)
    tools = servers.tools()
    assert "mcp__every__echo" in tools
    assert tools["mcp__every__echo"].description.startswith("[the server every says: “")

    assert (await call(house, servers, "mcp__every__echo", message="hi")).text == "Echo: hi"
    assert "3" in (await call(house, servers, "mcp__every__get-sum", a=1, b=2)).text

    picture = await call(house, servers, "mcp__every__get-tiny-image")
    assert picture.images[0].media_type == "image/png"
    assert "a picture: image/png" in picture.text

    linked = await call(house, servers, "mcp__every__get-resource-links", count=2)
    assert len(linked.data["resources"]) == 2
    told = await call(house, servers, "mcp__every__get-env")
    assert "tell-nobody-of-this" not in told.text
    assert '"A": "•••"' in told.text
    assert '"B": "b"' in told.text

    steps: list[str] = []
    context = house.context(output=steps.append)
    slow = "mcp__every__trigger-long-running-operation"
    await call(house, servers, slow, context, duration=0.2, steps=2)
    assert steps[-1] == "2/2\n"

    asked: list[Question] = []

    async def decline(question: Question) -> str:
        asked.append(question)
        return "decline"

    elicitation = "mcp__every__trigger-elicitation-request"
    answer = await call(house, servers, elicitation, house.context(ask=decline))
    assert asked[0].question.startswith("The MCP server 'every' asks: ")
    assert "declined" in answer.text

    connection = servers.connection("every")
    await eventually(lambda: "Starting default" in connection.tail.text())
    listed = await offers.resources_of(connection)
    assert await offers.read_resource(connection, listed[0].uri)
    prompts = {one.name: one for one in await offers.prompts_of(connection)}
    argued = prompts["args-prompt"]
    assert [one.name for one in argued.arguments if one.required] == ["city"]
    written = await offers.written_prompt(connection, "args-prompt", {"city": "Aachen"})
    assert "Aachen" in written


async def test_filesystem(house: House) -> None:
    servers = await house.ready(files=npm("server-filesystem", str(house.workspace)))
    file = house.workspace / "new.txt"
    wrote = await call(house, servers, "mcp__files__write_file", path=str(file), content="hello")
    assert "Successfully wrote" in wrote.text
    assert file.read_text() == "hello"
    read = await call(house, servers, "mcp__files__read_text_file", path=str(file))
    assert read.text == "hello"
    with pytest.raises(CoworkError, match="read_text_file of the MCP server 'files' failed") as e:
        await call(house, servers, "mcp__files__read_text_file", path="/etc/passwd")
    assert e.value.code == "tool_failed"
    with pytest.raises(InvalidInput, match="'path' is a required property"):
        await call(house, servers, "mcp__files__read_text_file")
    with pytest.raises(InvalidInput, match="'path': 3 is not of type 'string'"):
        await call(house, servers, "mcp__files__read_text_file", path=3)


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_over_http(house: House, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEATHER_TOKEN", "s3cret-weather")
    with http_server(kind) as (url, process):
        entry = {"url": url, "headers": {"X-Key": "Bearer ${WEATHER_TOKEN}"}}
        servers = await house.ready(weather=entry)
        connection = servers.connection("weather")
        assert connection.config.kind == kind
        assert (await call(house, servers, "mcp__weather__add", a=2, b=3)).text == "5"

        header = await call(house, servers, "mcp__weather__header", name="X-Key")
        assert header.text == "X-Key: •••", "the server got it, and nobody else"
        authority = await call(house, servers, "mcp__weather__header", name="Host")
        assert authority.text == f"Host: {url.split('/')[2]}"

        steps: list[str] = []
        await call(
            house, servers, "mcp__weather__slow", house.context(output=steps.append), steps=3
        )
        assert steps[-1] == "3/3 step 3\n"

        async def aachen(_question: Question) -> str:
            return "Aachen"

        answer = await call(house, servers, "mcp__weather__where", house.context(ask=aachen))
        assert answer.text == "accept: Aachen"
        assert (await call(house, servers, "mcp__weather__where")).text == "decline: "

        assert (
            await offers.read_resource(connection, "weather://today")
            == "[resource weather://today]\nsunny"
        )
        assert "Bonn" in await offers.written_prompt(connection, "report", {"city": "Bonn"})

        assert "mcp__weather__later" not in servers.tools()
        await call(house, servers, "mcp__weather__grow")
        await eventually(lambda: "mcp__weather__later" in servers.tools())

        process.kill()
        process.wait()
        with pytest.raises(CoworkError, match="MCP server 'weather'") as died:
            await call(house, servers, "mcp__weather__add", a=2, b=3)
        assert died.value.code == "mcp_server"


async def test_an_http_server_that_was_restarted_is_found_again(house: House) -> None:
    with held_port() as port:  # or somebody else could have it in between
        with http_server("http", port) as (url, _):
            servers = await house.ready(weather={"url": url})
        with pytest.raises(CoworkError, match="It is unknown whether it was done"):
            await call(house, servers, "mcp__weather__add", a=2, b=3)
        with http_server("http", port):
            async with asyncio.timeout(PATIENCE):
                while servers.connection("weather").state != "ready":
                    with contextlib.suppress(CoworkError):
                        await servers.connection("weather").client()
            assert (await call(house, servers, "mcp__weather__add", a=2, b=3)).text == "5"


async def test_two_calls_at_once_do_not_wait_for_each_other(house: House) -> None:
    servers = await house.ready(every=npm("server-everything"))
    slow = "mcp__every__trigger-long-running-operation"
    waiting = asyncio.create_task(call(house, servers, slow, duration=PATIENCE, steps=1))
    assert (await call(house, servers, "mcp__every__echo", message="hi")).text == "Echo: hi"
    assert not waiting.done()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
