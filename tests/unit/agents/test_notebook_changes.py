"""What changed in a notebook is told by cell, without what the agent did itself."""

from __future__ import annotations

from typing import Any

from cowork_jupyter.agents.notebook.context import Changes, apply_own_calls, find_changes, marks_of
from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.domain.messages import Message, MessageType, ToolResultData
from cowork_jupyter.tools.notebook.state import CellState, NotebookState

PATH = "n.ipynb"


def notebook(**cells: tuple[str, int | None]) -> NotebookState:
    made = [CellState(name, "code", source, count) for name, (source, count) in cells.items()]
    return NotebookState(PATH, tuple(made))


def result(tool: str, facts: dict[str, Any], *, ok: bool = True, error: Any = None) -> Message:
    told = {"tool": tool, "ok": ok, "facts": facts, "error": error}
    data = ToolResultData.model_validate({"call_id": "call_1", **told})
    return Message(context_id="c", role="tool", message_type=MessageType.TOOL_RESULT, data=data)


def test_cells_are_added_edited_removed_and_run() -> None:
    before = marks_of(notebook(a=("1", 1), b=("2", None), c=("3", 3), d=("4", 4)))
    now = notebook(a=("1", 5), b=("two", None), d=("4", 4), e=("5", None))
    expected = Changes(added=("e",), edited=("b",), removed=("c",), run=("a",))
    assert find_changes(before, now) == expected
    assert (
        find_changes(before, notebook(d=("4", 4), a=("1", 1), b=("2", None), c=("3", 3)))
        == Changes()
    )


def test_clearing_the_outputs_is_not_running() -> None:
    assert find_changes(marks_of(notebook(a=("1", 4))), notebook(a=("1", None))) == Changes()


def test_what_the_agent_did_is_no_news_to_it() -> None:
    edited, made = notebook(a=("edited", 1)).cells[0], notebook(e=("made", None)).cells[0]
    where = {"notebook": PATH, "cell_id": "d"}
    failure = CoworkError("It failed.", code="cell_failed", details=where).as_dict()
    own = [
        result("edit_cell", {"paths": [PATH], "cell_id": "a", "fingerprint": edited.fingerprint}),
        result("insert_cell", {"paths": [PATH], "cell_id": "e", "fingerprint": made.fingerprint}),
        result("delete_cell", {"paths": [PATH], "cell_id": "b", "fingerprint": None}),
        result("run_cell", {"notebook": PATH, "cell_id": "c"}),
        result("run_cell", {}, ok=False, error=failure),
        result("edit_cell", {"paths": ["x.ipynb"], "cell_id": "f", "fingerprint": "1"}),
        result("move_cell", {"paths": [PATH], "cell_id": "f", "fingerprint": None}),
        result("read_file", {"paths": [PATH]}),
    ]
    start = notebook(a=("1", 1), b=("2", 2), c=("3", None), d=("4", None), f=("6", None))
    left = apply_own_calls(marks_of(start), PATH, own)
    now = notebook(a=("edited", 1), c=("3", 9), d=("4", 10), e=("made", None), f=("6", None))
    assert find_changes(left, now) == Changes()
    after_that = notebook(a=("typed", 1), c=("3", 9), d=("4", 10), f=("6", None))
    assert find_changes(left, after_that) == Changes(edited=("a",), removed=("e",))


def test_nothing_can_be_said_of_cells_that_go_by_their_place() -> None:
    assert marks_of(NotebookState(PATH, (CellState("#0", "code", "x"),))) == {}
