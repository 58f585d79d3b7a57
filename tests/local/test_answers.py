"""A served model answers like any other: in a stream, in a form, and only to us."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import Any

import httpx
import pytest

from cowork_jupyter.agents.prompting import describe_tool
from cowork_jupyter.llm.chunks import Chunk, Finished, ModelRequest, TextChunk, UsageChunk
from cowork_jupyter.llm.protocols import ToolSpec, reply_schema, request_arguments
from cowork_jupyter.llm.structured import FORMATS
from cowork_jupyter.parts.local_models.model import Endpoint, LocalModel
from cowork_jupyter.tools.registry import tools_with_kernels

pytestmark = pytest.mark.asyncio(loop_scope="module")

GREETING = [{"role": "user", "content": "Say hello."}]
CHOOSE = ToolSpec(
    "choose_file",
    "Choose a file.",
    {
        "type": "object",
        "properties": {"path": {"enum": ["a.csv", "b.csv"]}},
        "required": ["path"],
        "additionalProperties": False,
    },
)


async def answer(model: LocalModel, **arguments: Any) -> list[Chunk]:
    request = ModelRequest(GREETING, arguments={"temperature": 0, **arguments})
    return [chunk async for chunk in model.stream(request)]


def text_of(chunks: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk))


async def slots(endpoint: Endpoint) -> list[dict[str, Any]]:
    """What the server says it is busy with."""
    address = endpoint.base_url.removesuffix("/v1")
    headers = {"Authorization": f"Bearer {endpoint.api_key}"}
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        found: list[dict[str, Any]] = (await client.get(f"{address}/slots", headers=headers)).json()
        return found


async def test_an_answer_comes_in_pieces_with_its_end_and_its_cost(model: LocalModel) -> None:
    chunks = await answer(model, max_tokens=8, ignore_eos=True)
    pieces = [chunk for chunk in chunks if isinstance(chunk, TextChunk)]
    assert len(pieces) > 1
    assert Finished("length") in chunks
    (usage,) = (chunk.usage for chunk in chunks if isinstance(chunk, UsageChunk))
    assert usage.completion_tokens == 8
    assert usage.prompt_tokens > 0


async def test_under_a_schema_the_answer_is_json_of_that_form(model: LocalModel) -> None:
    one_call = reply_schema([CHOOSE])
    one_call["anyOf"] = one_call["anyOf"][:1]  # else it could be a text, however long
    form = {"type": "json_schema", "json_schema": {"name": "reply", "schema": one_call}}
    reply = json.loads(text_of(await answer(model, response_format=form, max_tokens=200)))
    assert reply["tool"] == "choose_file"
    assert reply["parameters"]["path"] in ("a.csv", "b.csv")


async def test_the_schema_of_everything_that_agents_may_reply_is_understood(
    model: LocalModel,
) -> None:
    tools = [describe_tool(tool).spec for tool in tools_with_kernels().values()]
    arguments = request_arguments("json_schema", tools, FORMATS)
    assert text_of(await answer(model, **arguments, max_tokens=4)).startswith("{")


async def test_who_stops_listening_stops_the_writing(model: LocalModel) -> None:
    endless = {"max_tokens": 1_500, "ignore_eos": True}
    began = asyncio.Event()

    async def listen() -> None:
        request = ModelRequest(GREETING, arguments=endless)
        async with aclosing(model.stream(request)) as chunks:
            async for _ in chunks:
                began.set()

    listening, first_word = asyncio.create_task(listen()), asyncio.create_task(began.wait())
    await asyncio.wait({listening, first_word}, return_when=asyncio.FIRST_COMPLETED)
    assert began.is_set(), "it ended before it had said anything"
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
    written, endpoint = [0], await model.server.endpoint()
    while busy := [slot for slot in await slots(endpoint) if slot["is_processing"]]:
        written += [slot["next_token"][0]["n_decoded"] for slot in busy]
        await asyncio.sleep(0.05)
    assert max(written) < 1_000


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer guessed"}])
async def test_nobody_else_is_answered(model: LocalModel, headers: dict[str, str]) -> None:
    endpoint = await model.server.endpoint()
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        body = {"messages": GREETING, "max_tokens": 1}
        address = f"{endpoint.base_url}/chat/completions"
        assert (await client.post(address, json=body, headers=headers)).status_code == 401
    assert endpoint.base_url.startswith("http://127.0.0.1:")


async def test_two_conversations_are_answered_at_once(model: LocalModel) -> None:
    both = await asyncio.gather(*(answer(model, max_tokens=4) for _ in range(2)))
    assert all(text_of(chunks) for chunks in both)
    assert model.server.state().ready
