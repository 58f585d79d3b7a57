"""What is told of a model's call, however it ends."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from cowork_jupyter.domain.contexts import Usage
from cowork_jupyter.domain.operations import ModelCalled, Operation
from cowork_jupyter.llm.chunks import Chunk, Finished, Restarted, TextChunk, UsageChunk
from cowork_jupyter.llm.client import observe_answer
from cowork_jupyter.llm.failures import RateLimited

pytestmark = pytest.mark.asyncio


async def answer(*chunks: Chunk, error: Exception | None = None) -> AsyncGenerator[Chunk, None]:
    for chunk in chunks:
        yield chunk
    if error:
        raise error


async def told(stream: AsyncGenerator[Chunk, None], most: int = 9) -> ModelCalled:
    heard: list[Operation] = []
    async with aclosing(observe_answer(stream, heard.append, model="m", job_id="job_1")) as chunks:
        async for _ in chunks:
            most -= 1
            if not most:
                break
    (only,) = heard
    assert isinstance(only, ModelCalled)
    return only


async def test_an_answer_with_its_attempts_and_tokens() -> None:
    spent = UsageChunk(Usage(prompt_tokens=5, completion_tokens=2))
    call = await told(answer(Restarted("busy", 2, 0.1), TextChunk("a"), Finished("stop"), spent))
    assert (call.status, call.attempts, call.prompt_tokens, call.completion_tokens) == (
        *("ok", 2),
        *(5, 2),
    )
    assert call.line().startswith("model called model=m status=ok seconds=0.0")
    assert call.line().endswith("attempts=2 prompt_tokens=5 completion_tokens=2 job=job_1")


async def test_one_that_is_not_read_to_its_end_was_stopped() -> None:
    assert (await told(answer(TextChunk("a"), TextChunk("b")), most=1)).status == "stopped"


async def test_a_failure_is_told_by_its_code_and_goes_on() -> None:
    heard: list[Operation] = []
    stream = answer(error=RateLimited("a long story"))
    with pytest.raises(RateLimited):
        async for _ in observe_answer(stream, heard.append, model="a name", job_id=""):
            pass
    (only,) = heard
    assert only.line().startswith('model called model="a name" status=model_rate_limited ')
    assert "story" not in only.line()
