"""A model's answer as it passes by: how long it took, what it cost, and how it ended."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

from ..domain.contexts import Usage
from ..domain.errors import CoworkError
from ..domain.operations import OK, ModelCalled, Observe
from .chunks import Chunk, Restarted, UsageChunk


async def observed(
    answer: AsyncGenerator[Chunk, None], observe: Observe, *, model: str, job_id: str
) -> AsyncGenerator[Chunk, None]:
    """The same answer; once it has ended, however it does, that is told."""
    began, attempts, status = time.monotonic(), 1, "stopped"
    usage: Usage | None = None
    try:
        async with aclosing(answer) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, UsageChunk):
                    usage = chunk.usage
                elif isinstance(chunk, Restarted):
                    attempts = chunk.attempt
                yield chunk
        status = OK
    except Exception as error:
        status = error.code if isinstance(error, CoworkError) else "internal"
        raise
    finally:
        sent = usage.prompt_tokens if usage else None
        written = usage.completion_tokens if usage else None
        seconds = time.monotonic() - began
        observe(ModelCalled(model, status, seconds, attempts, sent, written, job_id))
