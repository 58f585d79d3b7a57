"""Changing notebooks that nobody has open."""

from __future__ import annotations

import asyncio
import importlib
import json
import stat
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.domain.errors import Conflict, CoworkError, Forbidden, InvalidInput, NotFound
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.tools.base import ToolContext
from cowork_jupyter.tools.notebook.state import Edit
from cowork_jupyter.tools.notebook.stored import apply, state_of
from cowork_jupyter.tools.registry import default_tools, validate_parameters
from cowork_jupyter.workspace import Workspace
from tests.unit.tools.conftest import Call, names_in

from .conftest import Disk, code, document

nbformat: Any = importlib.import_module("nbformat")  # it has no types


@pytest.mark.asyncio
async def test_cell_gets_a_new_source_and_keeps_its_outputs(disk: Disk, call: Call) -> None:
    output = {"output_type": "stream", "name": "stdout", "text": ["1\n"]}
    path = disk.write(code("print(1)", "a", outputs=[output], execution_count=3), code("y", "b"))
    path.chmod(0o640)
    result = await call(
        "edit_cell",
        path="n.ipynb",
        cell_id="a",
        fingerprint=disk.fingerprint("a"),
        source="x = 1\nprint(x)",
    )
    assert disk.sources() == ["x = 1\nprint(x)", "y"]
    raw = disk.raw()["cells"][0]
    assert raw["outputs"] == [output]
    assert raw["source"] == ["x = 1\n", "print(x)"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert names_in(disk.root) == ["n.ipynb"]
    assert result.data["paths"] == ["n.ipynb"]
    assert result.data["cell_id"] == "a"
    assert "-print(1)\n+x = 1\n+print(x)\n" in result.data["diff"]
    assert disk.fingerprint("a") in result.text  # so that it can be edited again at once
    nbformat.validate(nbformat.read(path, as_version=4))


@pytest.mark.asyncio
@pytest.mark.parametrize("tool", ["edit_cell", "delete_cell"])
async def test_stale_change_is_refused_with_the_present_text(
    disk: Disk, call: Call, tool: str
) -> None:
    disk.write(code("old", "a"))
    known = disk.fingerprint("a")
    disk.write(code("the user's own work", "a"))
    more = {"source": "mine"} if tool == "edit_cell" else {}
    with pytest.raises(Conflict, match="the user's own work") as caught:
        await call(tool, path="n.ipynb", cell_id="a", fingerprint=known, **more)
    assert caught.value.code == "stale_cell"
    assert disk.fingerprint("a") in caught.value.message
    assert disk.sources() == ["the user's own work"]


@pytest.mark.asyncio
async def test_change_between_reading_and_writing_is_refused_too(disk: Disk) -> None:
    before = document(code("old", "a"))
    edit = Edit("edit", "a", expected="old", source="mine")
    before["cells"][0]["source"] = "theirs"
    with pytest.raises(Conflict, match="theirs"):
        apply("n.ipynb", before, edit)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({}, ["1", "2", "new"]),
        ({"index": 0}, ["new", "1", "2"]),
        ({"index": 2}, ["1", "2", "new"]),
        ({"after": "a"}, ["1", "new", "2"]),
    ],
)
async def test_cell_is_inserted_where_asked(
    disk: Disk, call: Call, where: dict[str, Any], expected: list[str]
) -> None:
    path = disk.write(code("1", "a"), code("2", "b"))
    result = await call("insert_cell", path="n.ipynb", source="new", cell_type="markdown", **where)
    assert disk.sources() == expected
    made = disk.state().cell(result.data["cell_id"])
    assert (made.source, made.cell_type) == ("new", "markdown")
    nbformat.validate(nbformat.read(path, as_version=4))


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"index": 0}, ["2", "1", "3"]),
        ({"index": 1}, ["1", "2", "3"]),
        ({"index": 2}, ["1", "3", "2"]),
        ({"after": "a"}, ["1", "2", "3"]),
        ({"after": "c"}, ["1", "3", "2"]),
    ],
)
async def test_cell_is_moved_where_asked(
    disk: Disk, call: Call, where: dict[str, Any], expected: list[str]
) -> None:
    disk.write(code("1", "a"), code("2", "b"), code("3", "c"))
    await call("move_cell", path="n.ipynb", cell_id="b", **where)
    assert disk.sources() == expected


@pytest.mark.asyncio
async def test_cell_is_deleted(disk: Disk, call: Call) -> None:
    disk.write(code("1", "a"), code("2", "b"))
    result = await call(
        "delete_cell", path="n.ipynb", cell_id="a", fingerprint=disk.fingerprint("a")
    )
    assert disk.sources() == ["2"]
    assert "-1\n" in result.data["diff"]
    assert result.summary == "deleted cell 1 of n.ipynb"
    assert "cell a" in result.text


@pytest.mark.asyncio
async def test_people_know_a_cell_by_its_place_and_models_by_its_id(disk: Disk, call: Call) -> None:
    disk.write(code("1", "a"), code("2", "b"), code("3", "c"))
    known = disk.fingerprint("b")
    edited = await call("edit_cell", path="n.ipynb", cell_id="b", fingerprint=known, source="mine")
    assert edited.summary.startswith("changed cell 2 of n.ipynb (")
    assert edited.text.startswith("Changed cell b of n.ipynb")
    assert "cell" not in edited.data["diff"]
    moved = await call("move_cell", path="n.ipynb", cell_id="b", index=0)
    assert moved.summary == "moved cell 2 of n.ipynb from position 2 to 1"
    assert moved.text.startswith("Moved cell b of n.ipynb from position 1 to 0.")


@pytest.mark.asyncio
async def test_type_can_change_and_the_notebook_stays_valid(disk: Disk, call: Call) -> None:
    path = disk.write(code("# Title", "a", execution_count=2), code("2", "b"))
    for cell_type in ("markdown", "raw", "code"):
        await call(
            "edit_cell",
            path="n.ipynb",
            cell_id="a",
            fingerprint=disk.fingerprint("a"),
            source="# Title",
            cell_type=cell_type,
        )
        assert disk.state().cell("a").cell_type == cell_type
        nbformat.validate(nbformat.read(path, as_version=4))


@pytest.mark.asyncio
async def test_old_notebook_without_ids_is_edited_by_place_and_stays_as_old(
    disk: Disk, call: Call
) -> None:
    path = disk.write(code("1"), code("2"), minor=4)
    known = disk.fingerprint("#1")
    await call("edit_cell", path="n.ipynb", cell_id="#1", fingerprint=known, source="two")
    inserted = await call("insert_cell", path="n.ipynb", source="0", index=0)
    assert inserted.data["cell_id"] == "#0"
    assert disk.sources() == ["0", "1", "two"]
    assert disk.raw()["nbformat_minor"] == 4
    assert not any("id" in cell for cell in disk.raw()["cells"])
    nbformat.validate(nbformat.read(path, as_version=4))
    with pytest.raises(Conflict):  # another cell stands there by now
        await call("edit_cell", path="n.ipynb", cell_id="#1", fingerprint=known, source="x")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("tool", "raw", "code_of"),
    [
        ("edit_cell", {"cell_id": "zz", "fingerprint": "f", "source": ""}, "no_such_cell"),
        ("delete_cell", {"cell_id": "zz", "fingerprint": "f"}, "no_such_cell"),
        ("move_cell", {"cell_id": "zz", "index": 0}, "no_such_cell"),
        ("move_cell", {"cell_id": "a", "after": "zz"}, "no_such_cell"),
        ("move_cell", {"cell_id": "a", "index": 2}, "no_such_place"),
        ("move_cell", {"cell_id": "a"}, "bad_parameters"),
        ("insert_cell", {"source": "", "after": "zz"}, "no_such_cell"),
        ("insert_cell", {"source": "", "index": 9}, "no_such_place"),
        ("insert_cell", {"source": "", "index": 0, "after": "a"}, "bad_parameters"),
        ("insert_cell", {"source": "", "cell_type": "heading"}, "bad_parameters"),
    ],
)
async def test_what_makes_no_sense_is_refused_and_changes_nothing(
    disk: Disk, call: Call, tool: str, raw: dict[str, Any], code_of: str
) -> None:
    path = disk.write(code("1", "a"), code("2", "b"))
    before = path.read_bytes()
    with pytest.raises(CoworkError) as caught:
        await call(tool, path="n.ipynb", **raw)
    assert caught.value.code == code_of
    assert path.read_bytes() == before


@pytest.mark.asyncio
async def test_what_is_no_notebook_is_said_to_be_none(disk: Disk, call: Call) -> None:
    (disk.root / "a.py").write_text("x")
    (disk.root / "broken.ipynb").write_text("{")
    (disk.root / "list.ipynb").write_text("[]")
    (disk.root / "old.ipynb").write_text(json.dumps({"nbformat": 3, "worksheets": []}))
    disk.write(name="there.ipynb")
    for name, error, why in [
        ("a.py", InvalidInput, "update_file"),
        ("broken.ipynb", InvalidInput, "not a JSON"),
        ("list.ipynb", InvalidInput, "not a JSON"),
        ("old.ipynb", InvalidInput, "old or unknown notebook format"),
        ("ther.ipynb", NotFound, "Did you mean 'there.ipynb'"),
        ("../n.ipynb", Forbidden, "outside"),
    ]:
        with pytest.raises(error, match=why):
            await call("insert_cell", path=name, source="x")
    with pytest.raises(InvalidInput, match="edit_cell"):
        await call("update_file", path="there.ipynb", content="{}")


@pytest.mark.asyncio
async def test_notebook_is_created_valid_and_never_overwritten(disk: Disk, call: Call) -> None:
    cells = [{"source": "# Sales", "cell_type": "markdown"}, {"source": "import math\nmath.pi"}]
    result = await call("create_notebook", path="new/sales.ipynb", cells=cells)
    path = disk.root / "new/sales.ipynb"
    nbformat.validate(nbformat.read(path, as_version=4))
    assert disk.sources("new/sales.ipynb") == ["# Sales", "import math\nmath.pi"]
    assert disk.raw("new/sales.ipynb")["metadata"]["kernelspec"]["name"] == "python3"
    assert result.data["paths"] == ["new/sales.ipynb"]
    assert "+math.pi" in result.data["diff"]
    with pytest.raises(Conflict, match="insert_cell"):
        await call("create_notebook", path="new/sales.ipynb")
    with pytest.raises(InvalidInput, match=r"\.ipynb"):
        await call("create_notebook", path="new/sales.py")


@pytest.mark.asyncio
async def test_file_is_written_as_jupyter_writes_it(disk: Disk, call: Call) -> None:
    path = disk.root / "n.ipynb"
    cells = [nbformat.v4.new_code_cell("s = 'ä'\n\nprint(s)"), nbformat.v4.new_markdown_cell("# T")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbformat.write(notebook, path)
    await call("insert_cell", path="n.ipynb", source="1\n2\n", index=1)
    made = disk.state().cells[1].id
    notebook["cells"].insert(1, nbformat.v4.new_code_cell("1\n2\n", id=made))
    assert path.read_text() == nbformat.writes(notebook) + "\n"


@pytest.mark.asyncio
async def test_edits_at_once_all_land(disk: Disk, call: Call) -> None:
    disk.write(code("1", "a"))
    calls = [call("insert_cell", path="n.ipynb", source=f"{n}", after="a") for n in range(20)]
    await asyncio.gather(*calls)
    assert sorted(disk.sources()) == sorted(["1", *map(str, range(20))])


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("tool", "raw", "kind", "shown"),
    [
        ("edit_cell", {"cell_id": "a", "fingerprint": "", "source": "b = 1"}, "diff", "+b = 1"),
        ("insert_cell", {"source": "b = 1"}, "diff", "+b = 1"),
        ("delete_cell", {"cell_id": "a", "fingerprint": ""}, "diff", "-a = 1"),
        (
            "move_cell",
            {"cell_id": "a", "index": 1},
            "text",
            "moved cell 1 of n.ipynb from position 1 to 2",
        ),
        ("create_notebook", {"cells": [{"source": "b = 1"}]}, "diff", "+b = 1"),
    ],
)
async def test_approval_card_is_shown_what_would_change(
    disk: Disk, tool: str, raw: dict[str, Any], kind: str, shown: str
) -> None:
    path = disk.write(code("a = 1", "a"), code("2", "b"))
    before = path.read_bytes()
    if "fingerprint" in raw:
        raw = {**raw, "fingerprint": disk.fingerprint("a")}
    declared = default_tools()[tool]
    assert declared.preview
    preview = await declared.preview(
        validate_parameters(declared, {"path": "n.ipynb", **raw}),
        ToolContext(Workspace(disk.root), AgentRole.ACTOR),
    )
    assert preview.kind == kind
    assert shown in preview.text
    assert path.read_bytes() == before


IDS = ["a", "b", "c", "d"]
EDITS = st.builds(
    Edit,
    kind=st.sampled_from(["insert", "edit", "move", "delete"]),
    cell_id=st.sampled_from([*IDS, "new"]),
    after=st.sampled_from([None, *IDS]),
    source=st.text("x\n", max_size=4),
    cell_type=st.sampled_from(["code", "markdown", "raw"]),
)


@given(st.lists(EDITS, max_size=8))
def test_documents_stay_valid_whatever_is_done_to_them(edits: list[Edit]) -> None:
    notebook = document(*(code(one, one) for one in IDS))
    for number, edit in enumerate(edits):
        before = state_of("n", notebook).cells
        made = f"{edit.cell_id}-{number}" if edit.kind == "insert" else edit.cell_id
        try:
            told = apply(
                "n", notebook, Edit(edit.kind, made, edit.after, None, edit.source, edit.cell_type)
            )
        except NotFound:
            assert state_of("n", notebook).cells == before
            continue
        after = state_of("n", notebook)
        nbformat.validate(notebook)
        assert len(after.cells) - len(before) == {"insert": 1, "delete": -1}.get(edit.kind, 0)
        if edit.kind in ("insert", "edit"):
            assert after.cell(told).source == edit.source
