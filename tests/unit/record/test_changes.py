"""What happened to a file, for people."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pandas as pd

from cowork_jupyter.checkpoints import Change, FileDiff, FileEntry
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.record.changes import MAX_DIFF, MAX_TEXT_SIZE, compare, compare_plans


def entry(content: bytes) -> FileEntry:
    return FileEntry("file", 0o644, len(content), 1, hashlib.sha256(content).digest())


def compared(path: str, before: bytes | None, after: bytes | None) -> FileDiff:
    sides = [None if content is None else entry(content) for content in (before, after)]
    contents = {hashlib.sha256(content).digest(): content for content in (before, after) if content}

    def read(digest: bytes, most: int) -> bytes | None:
        content = contents.get(digest, b"")
        return content if len(content) <= most else None

    return compare(Change(path, *sides), read)


def test_text_is_compared_line_by_line() -> None:
    found = compared("a.py", b"one\r\ntwo\r\n", b"one\r\n2\r\n")
    assert (found.kind, found.status, found.added, found.removed) == ("text", "changed", 1, 1)
    assert found.diff == "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
    assert found.before
    assert found.before.sha256 == hashlib.sha256(b"one\r\ntwo\r\n").hexdigest()


def test_new_and_removed_files() -> None:
    new, gone = compared("a.py", None, b"x\n"), compared("a.py", b"x\n", None)
    assert (new.status, new.added, new.removed, new.before) == ("added", 1, 0, None)
    assert (gone.status, gone.added, gone.removed, gone.after) == ("removed", 0, 1, None)


def test_binaries_are_told_by_size_and_hash() -> None:
    found = compared("a.png", b"\x89PNG\0" * 100, b"\x89PNG\0" * 400)
    assert (found.kind, found.diff, found.added) == ("binary", None, None)
    assert found.why
    assert found.why.startswith("500 bytes, sha256 ")
    assert " → 2.0 KB, sha256 " in found.why


def test_long_diffs_are_cut_and_long_files_not_compared() -> None:
    found = compared("a.txt", b"", b"line of words\n" * 20_000)
    assert found.cut
    assert found.diff
    assert len(found.diff) == MAX_DIFF
    assert found.added == 20_000
    assert compared("a.txt", b"", b"x" * (MAX_TEXT_SIZE + 1)).kind == "binary"


def test_links_and_folders() -> None:
    link = Change("l", FileEntry("link", 0o777, target="a"), FileEntry("link", 0o777, target="b"))
    found = compare(link, lambda _digest, _most: None)
    assert (found.kind, found.why) == ("link", "a link to a → a link to b")
    folder = compare(Change("d", None, FileEntry("folder", 0o755)), lambda _digest, _most: None)
    assert (folder.kind, folder.why) == ("folder", "a folder, 0755")


def test_what_was_not_kept_is_said() -> None:
    lost = FileEntry("file", 0o644, 10, 1, why_not_kept="too large")
    found = compare(Change("x", lost, entry(b"")), lambda _digest, _most: b"")
    assert found.why
    assert "not kept (too large)" in found.why


def test_tables_tell_their_columns_and_rows() -> None:
    old, new = b'id,name\n1,"a\nb"\n2,c\n', b"id,name,age\n1,a,3\n"
    found = compared("d/people.CSV", old, new)
    assert found.kind == "table"
    assert found.before
    assert found.after
    assert (found.before.columns, found.before.rows) == (["id", "name"], 2)
    assert (found.after.columns, found.after.rows) == (["id", "name", "age"], 1)
    assert found.added == 2
    tabs = compared("a.tsv", None, b"x\ty\n1\t2\n")
    assert tabs.after
    assert tabs.after.columns == ["x", "y"]


def test_large_tables_are_counted_though_not_compared() -> None:
    rows = MAX_TEXT_SIZE // 4
    found = compared("a.csv", b"x\n1\n", b"x\n" + b"12345\n" * rows)
    assert found.kind == "binary"
    assert found.after
    assert found.after.rows == rows


def test_parquet_is_looked_into_without_any_library() -> None:
    content = pd.DataFrame({"x": [1, 2, 3], "y": list("abc")}).to_parquet()
    found = compared("a.parquet", None, content).after
    assert found
    assert (found.columns, found.rows) == (["x", "y"], 3)
    broken = compared("a.parquet", None, b"PAR1\0\0").after
    assert broken
    assert (broken.columns, broken.rows) == (None, None)


def notebook(*cells: dict[str, Any]) -> bytes:
    filled = [{"cell_type": "code", "outputs": [], **cell} for cell in cells]
    return json.dumps({"nbformat": 4, "cells": filled}).encode()


def test_notebooks_are_compared_cell_by_cell() -> None:
    picture = {"output_type": "display_data", "data": {"text/plain": "x", "image/png": "AAAA"}}
    old = notebook(
        {"id": "a", "source": "x = 1"},
        {"id": "b", "source": ["y = 2\n", "z = 3"]},
        {"id": "c", "source": "plot()"},
        {"id": "d", "source": "same"},
    )
    new = notebook(
        {"id": "b", "source": ["y = 2\n", "z = 4"]},
        {"id": "c", "source": "plot()", "outputs": [picture]},
        {"id": "d", "source": "same"},
        {"id": "n", "source": "new", "cell_type": "markdown"},
    )
    found = compared("x.ipynb", old, new)
    assert found.kind == "notebook"
    assert {cell.id: cell.status for cell in found.cells} == {
        "b": "changed",
        "c": "changed",
        "n": "added",
        "a": "removed",
    }
    changed, plotted, *_ = found.cells
    assert "-z = 3\n+z = 4\n" in changed.diff
    assert plotted.diff == ""
    assert plotted.outputs.startswith("none → 1 output (image/png), ")
    assert (found.added, found.removed) == (2, 2)


def test_cells_that_only_moved_and_cells_without_ids() -> None:
    one, two = {"id": "a", "source": "1"}, {"id": "b", "source": "2"}
    found = compared("x.ipynb", notebook(one, two), notebook(two, one))
    assert {cell.status for cell in found.cells} == {"moved"}
    found = compared("x.ipynb", notebook({"source": "1"}), notebook({"source": "2"}))
    assert [(cell.id, cell.status) for cell in found.cells] == [("#0", "changed")]


def test_a_broken_notebook_is_compared_as_text() -> None:
    assert compared("x.ipynb", notebook({"source": "1"}), b"{ broken\n").kind == "text"
    assert compared("x.ipynb", b"[" * 100_000, b"{}").kind == "text"


A = {"id": "a", "action": "Read", "depends_on": []}
B = {"id": "b", "action": "Clean", "depends_on": ["a"]}
C = {"id": "c", "action": "Write", "depends_on": ["a"]}


def a_plan(*steps: dict[str, Any], **fields: Any) -> Plan:
    return Plan.model_validate({"goal": "g", "steps": list(steps), **fields})


def told(before: Plan, after: Plan) -> list[tuple[str, str]]:
    return [(step.id, step.change) for step in compare_plans(before, after).steps]


def test_steps_are_added_removed_and_changed() -> None:
    expected = {"of": "file:a.csv", "check": "rows", "value": 3}
    changed = {**B, "action": "Clean well", "expects": [expected]}
    found = compare_plans(a_plan(A, B), a_plan(A, changed, C, goal="h"))
    assert [(step.id, step.number, step.change) for step in found.steps] == [
        ("b", 2, "changed"),
        ("c", 3, "added"),
    ]
    assert [(one.field, one.before, one.after) for one in found.steps[0].fields] == [
        ("action", "Clean", "Clean well"),
        ("expects", "", "a.csv: rows = 3"),
    ]
    assert [one.field for one in found.fields] == ["goal"]
    assert told(a_plan(A, B, C), a_plan(A, C)) == [("b", "removed")]


def test_steps_that_only_stand_elsewhere_have_moved() -> None:
    assert told(a_plan(A, B, C), a_plan(A, C, B)) == [("c", "moved"), ("b", "moved")]


def test_steps_before_are_called_by_their_numbers() -> None:
    (step,) = compare_plans(a_plan(A, B, C), a_plan(A, B, {**C, "depends_on": ["b"]})).steps
    assert [(one.field, one.before, one.after) for one in step.fields] == [("after step", "1", "2")]


def test_who_does_a_step_is_a_difference() -> None:
    reviewed = {**B, "role": "reviewer", "rounds": 2}
    (step,) = compare_plans(a_plan(A, B), a_plan(A, reviewed)).steps
    assert [(one.field, one.after) for one in step.fields] == [
        ("role", "reviewer"),
        ("rounds of review", "2"),
    ]


def test_how_far_steps_have_come_is_no_difference() -> None:
    found = compare_plans(a_plan(A), a_plan({**A, "status": "completed"}))
    assert (found.summary, found.steps, found.fields) == ("no difference", [], [])
