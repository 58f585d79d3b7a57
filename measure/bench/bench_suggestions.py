"""Suggestions: what we add before a model's first word, and how soon a completion is asked for."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Iterator
from contextlib import aclosing

from cowork_jupyter.domain.suggestions import (
    CellError,
    NearbyCell,
    SuggestionDone,
    SuggestionRequest,
    SuggestionText,
)
from cowork_jupyter.parts.suggestions.suggestions import Suggestions
from cowork_jupyter.service.service import CoworkService
from tests.scripted import ScriptedServer, text

from .bench_stream import folder, service_on
from .rows import Row

ROUNDS = 30
CELLS = 60
ANSWER = "```python\nx = 1\n```"


def measure() -> Iterator[Row]:
    yield from asyncio.run(both())


def request(kind: str, number: int) -> SuggestionRequest:
    cells = [
        NearbyCell(id=f"c{n}", source=f"import math\nt{n} = [math.sqrt(x) for x in range({n})]")
        for n in range(CELLS)
    ]
    source = f"total = sum(t{CELLS - 3}) + nothing{number}\ntotal."
    error = CellError(name="NameError", value="name 'nothing' is not defined")
    asked = {"kind": kind, "cell_id": f"c{CELLS - 1}", "source": source, "cells": cells}
    return SuggestionRequest.model_validate(
        {**asked, "error": error if kind == "fix" else None, "cursor": len(source)}
    )


async def both() -> list[Row]:
    with ScriptedServer() as server, folder() as place:
        service = service_on(place, server.base_url)
        context = service.conversations.create()
        added = [await first_word(service, server, context.id, n) for n in range(ROUNDS + 1)]
        built = [await completion_built(service, context.id, n) for n in range(ROUNDS + 1)]
        await service.close()
    # The first round loads libraries and opens the connection.
    return [
        Row(
            "Fix, added before the model's first word",
            statistics.median(added[1:]),
            "ms",
            60,
            f"to its request and from its first byte, {CELLS} cells, no kernel; median of "
            f"{ROUNDS}, longest {max(added[1:]):.1f} ms",
        ),
        Row(
            "completion request built",
            statistics.median(built[1:]),
            "ms",
            10,
            f"{CELLS} cells; median of {ROUNDS}, longest {max(built[1:]):.1f} ms",
        ),
    ]


async def first_word(
    service: CoworkService, server: ScriptedServer, context_id: str, number: int
) -> float:
    """Milliseconds to the first word. The scripted model answers at once, so all of it is ours."""
    server.add(text(ANSWER))
    began, seen = time.perf_counter(), 0.0
    async with aclosing(
        service.of(Suggestions).stream(context_id, request("fix", number))
    ) as lines:
        async for line in lines:
            if isinstance(line, SuggestionText) and not seen:
                seen = time.perf_counter()
            assert line.type != "error", line
            if isinstance(line, SuggestionDone):
                assert line.source == "x = 1"
    return (seen - began) * 1000


async def completion_built(service: CoworkService, context_id: str, number: int) -> float:
    context = service.conversations.get(context_id)
    asked = request("complete", number)
    began = time.perf_counter()
    assert await service.of(Suggestions).completion_request(context, asked)
    return (time.perf_counter() - began) * 1000
