"""Client of the confined process."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from typing import cast

from ...domain.errors import CoworkError, InvalidInput, Unavailable
from ..base import ToolContext
from ..kernel.hints import did_you_mean
from ..shell import CommandOutput, follow, started
from .confined.order import Order, TableReply

MEMORY_MB = 512
"""DuckDB's memory; beyond it spills to temporary files."""
SPILL_MB = 4096
_MAX_THREADS = 4
_MAX_ARGUMENT = 100_000
_ANSWER = "\n\x1e"
_QUOTED = re.compile(r"[\"']([^\"'\n]{1,200})[\"']|with name (\S+) does not exist")
_MAX_LISTED = 30

# The folder is imported as a package of its own: as part of ours it would load all of ours.
_PROGRAM = """
import sys, types
package = sys.modules["cowork_tables"] = types.ModuleType("cowork_tables")
package.__path__ = [{folder!r}]
from cowork_tables.main import main
main(sys.argv[1:])
"""


def limits() -> dict[str, int]:
    threads = min(os.cpu_count() or 1, _MAX_THREADS)
    return {"memory_mb": MEMORY_MB, "spill_mb": SPILL_MB, "threads": threads}


async def ask(order: Order, context: ToolContext, seconds: float) -> TableReply:
    """Raises CoworkError if the process reports an error or does not answer."""
    output = CommandOutput(lambda _text: None)
    async with started(_arguments(order), context) as (process, reader):
        try:
            async with asyncio.timeout(seconds):
                await follow(process, reader, output)
        except TimeoutError:
            raise InvalidInput(
                f"It took more than {seconds:g} seconds and was stopped. Ask for less at once, or "
                "set timeout_seconds.",
                code="timed_out",
            ) from None
    output.finish()
    before, mark, said = output.text.rpartition(_ANSWER)
    if not mark:
        why = (before or said).strip().rpartition("\n")[2][:300]
        raise Unavailable(
            f"The process that reads tables ended without an answer ({process.returncode}). {why}",
            code="tables_failed",
            retryable=False,
        )
    answer = cast("TableReply", json.loads(said))
    if "error" in answer:
        raise _failure(answer)
    return answer


def _arguments(order: Order) -> list[str]:
    program = _PROGRAM.format(folder=str(Path(__file__).parent / "confined"))
    text = json.dumps(order)
    pieces = [text[start : start + _MAX_ARGUMENT] for start in range(0, len(text), _MAX_ARGUMENT)]
    return [sys.executable, "-I", "-X", "utf8", "-c", program, *pieces]


def _failure(answer: TableReply) -> CoworkError:
    message, known = answer["error"].rstrip(".!"), answer.get("known", [])
    missing = [column or table for column, table in _QUOTED.findall(message)]
    hint = did_you_mean(missing, known)
    if known and not hint:
        more = f" and {len(known) - _MAX_LISTED} more" if len(known) > _MAX_LISTED else ""
        hint = f"There are {', '.join(map(repr, known[:_MAX_LISTED]))}{more}."
    return InvalidInput(f"{message}. {hint}".rstrip(), code="bad_query")
