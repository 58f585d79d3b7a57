"""The code that a job has written and run so far, in any of its tasks."""

from __future__ import annotations

from collections.abc import Sequence

from ...domain.message_data import ToolCallData, ToolResultData
from ...domain.messages import Message
from ...tools.base import SCRATCH


def inserted_cells(messages: Sequence[Message]) -> frozenset[str]:
    """The cells that were inserted."""
    results = [message.data for message in messages if isinstance(message.data, ToolResultData)]
    inserted = [
        result.facts.cell_id for result in results if result.ok and result.tool == "insert_cell"
    ]
    return frozenset(filter(None, inserted))


def code_run(messages: Sequence[Message]) -> list[str]:
    """What ran without an error where the user's variables are, but in no cell."""
    calls = [message.data for message in messages if isinstance(message.data, ToolCallData)]
    code = {call.call_id: call.parameters.get("code", "") for call in calls if _runs_code(call)}
    results = [message.data for message in messages if isinstance(message.data, ToolResultData)]
    return [str(code[result.call_id]) for result in results if result.ok and result.call_id in code]


def _runs_code(call: ToolCallData) -> bool:
    return call.tool == "run_code" and call.parameters.get("where") != SCRATCH
