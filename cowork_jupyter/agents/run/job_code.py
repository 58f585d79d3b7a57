"""The code that a job has written and run so far, in any of its tasks."""

from __future__ import annotations

from collections.abc import Sequence

from ...domain.message_data import ToolCallData, ToolResultData
from ...domain.messages import Message
from ...tools.base import SCRATCH


def inserted_cells(messages: Sequence[Message]) -> frozenset[str]:
    """The cells that were inserted."""
    results = [one.data for one in messages if isinstance(one.data, ToolResultData)]
    inserted = [one.facts.cell_id for one in results if one.ok and one.tool == "insert_cell"]
    return frozenset(filter(None, inserted))


def code_run(messages: Sequence[Message]) -> list[str]:
    """What ran without an error where the user's variables are, but in no cell."""
    calls = [one.data for one in messages if isinstance(one.data, ToolCallData)]
    code = {one.call_id: one.parameters.get("code", "") for one in calls if _runs_code(one)}
    results = [one.data for one in messages if isinstance(one.data, ToolResultData)]
    return [str(code[one.call_id]) for one in results if one.ok and one.call_id in code]


def _runs_code(call: ToolCallData) -> bool:
    return call.tool == "run_code" and call.parameters.get("where") != SCRATCH
