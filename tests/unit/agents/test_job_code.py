"""What a job has written and run, as its messages tell."""

from __future__ import annotations

from typing import Any

from cowork_jupyter.agents.run.model_request import code_run, inserted_cells
from cowork_jupyter.domain.messages import Message, MessageType


def called(number: int, tool: str, ok: bool = True, **parameters: Any) -> list[Message]:
    made = {"call_id": f"c{number}", "tool": tool, "parameters": parameters}
    facts = {"cell_id": f"cell{number}"} if tool == "insert_cell" else {}
    came = {"call_id": f"c{number}", "tool": tool, "ok": ok, "facts": facts}
    return [
        Message.model_validate(
            {"context_id": "x", "role": role, "message_type": kind, "content": "", "data": data}
        )
        for role, kind, data in (
            ("assistant", MessageType.TOOL_CALL, made),
            ("tool", MessageType.TOOL_RESULT, came),
        )
    ]


def test_only_what_worked_counts_and_scratch_leaves_nothing_behind() -> None:
    messages = [
        *called(1, "insert_cell", source="a = 1"),
        *called(2, "insert_cell", ok=False, source="b = 1"),
        *called(3, "run_code", code="c = 1", where="notebook"),
        *called(4, "run_code", code="d = 1", where="scratch"),
        *called(5, "run_code", ok=False, code="e = 1"),
        *called(6, "run_code", code="f = 1"),
    ]
    assert inserted_cells(messages) == {"cell1"}
    assert code_run(messages) == ["c = 1", "f = 1"]
