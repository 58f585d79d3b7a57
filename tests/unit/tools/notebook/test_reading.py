"""Reading notebooks: what a model needs of them, and no more."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest

from cowork_jupyter.domain.errors import InvalidInput, NotFound
from cowork_jupyter.tools.notebook.outputs import MAX_LENGTH, describe_outputs, shorten_output
from tests.unit.tools.conftest import Call

from .conftest import Disk, code


def png(width: int, height: int) -> str:
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)
    return base64.b64encode(head + bytes(60_000)).decode()


def told(*outputs: dict[str, Any]) -> str:
    return describe_outputs([shorten_output(one) for one in outputs])


def stream(text: Any) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def display(**data: Any) -> dict[str, Any]:
    named = {mime.replace("_", "/"): value for mime, value in data.items()}
    return {"output_type": "display_data", "metadata": {}, "data": named}


@pytest.mark.asyncio
async def test_cells_come_with_all_that_an_edit_has_to_name(disk: Disk, call: Call) -> None:
    disk.write(code("x = 1\nx", "a", execution_count=4, outputs=[stream("1\n")]), code("y", "b"))
    result = await call("read_notebook", path="n.ipynb")
    state = disk.state()
    assert f"[cell 0 · a · code · In [4] · fingerprint {state.cells[0].fingerprint}]" in result.text
    assert f"[cell 1 · b · code · fingerprint {state.cells[1].fingerprint}]\ny" in result.text
    assert "x = 1\nx\n[output]\n1" in result.text
    assert result.data["paths"] == ["n.ipynb"]
    assert result.data["total_cells"] == 2
    assert result.data["open"] is False
    assert result.data["cells"][0] == {
        "id": "a",
        "cell_type": "code",
        "source": "x = 1\nx",
        "execution_count": 4,
        "failed": False,
        "output_size": 2,
        "tags": [],
    }


@pytest.mark.asyncio
async def test_long_notebooks_come_in_parts_and_say_how_to_read_on(disk: Disk, call: Call) -> None:
    disk.write(*(code(f"x = {number}", f"id{number}") for number in range(250)))
    seen: list[str] = []
    offset, pages = 0, 0
    while True:
        result = await call("read_notebook", path="n.ipynb", offset=offset)
        seen += [f"id{n}" for n in range(result.data["first_cell"], result.data["last_cell"] + 1)]
        pages += 1
        more = f"continue with offset={result.data['last_cell'] + 1}"
        if more not in result.text:
            break
        offset = result.data["last_cell"] + 1
    assert seen == [f"id{number}" for number in range(250)]
    assert pages == 3
    few = await call("read_notebook", path="n.ipynb", offset=10, limit=2)
    assert "id10" in few.text
    assert "id11" in few.text
    assert "id12" not in few.text
    with pytest.raises(InvalidInput, match="250 cells"):
        await call("read_notebook", path="n.ipynb", offset=250)


@pytest.mark.asyncio
async def test_large_cells_make_small_pages_and_are_never_cut(disk: Disk, call: Call) -> None:
    source = "x = 1\n" * 10_000
    disk.write(code(source, "a"), code("y", "b"))
    result = await call("read_notebook", path="n.ipynb")
    assert source.rstrip() in result.text
    assert result.data["last_cell"] == 0


@pytest.mark.asyncio
async def test_one_cell_alone_shows_more_of_its_output(disk: Disk, call: Call) -> None:
    printed = "\n".join(f"line {number}" for number in range(1000))
    disk.write(code("x", "a", outputs=[stream(printed)]), code("y", "b"))
    all_cells = await call("read_notebook", path="n.ipynb")
    assert "line 500" not in all_cells.text
    assert "characters left out" in all_cells.text
    alone = await call("read_notebook", path="n.ipynb", cell_id="a")
    assert "line 500\n" in alone.text
    assert " · b · " not in alone.text
    with pytest.raises(NotFound):
        await call("read_notebook", path="n.ipynb", cell_id="z")


def test_of_a_traceback_the_end_is_shown_without_colours() -> None:
    frames = [f"\x1b[0;32mframe {number}\x1b[0m" for number in range(100)]
    error = {
        "output_type": "error",
        "ename": "ValueError",
        "evalue": "no such month: 13",
        "traceback": [*frames, "\x1b[0;31mValueError\x1b[0m: no such month: 13"],
    }
    text = told(error)
    assert text.endswith("frame 99\nValueError: no such month: 13")
    assert "frame 10\n" not in text
    assert "\x1b" not in text
    assert "lines of the traceback left out" in text
    assert told({**error, "traceback": []}) == "ValueError: no such month: 13"


def test_of_a_table_the_head_and_the_tail_are_shown() -> None:
    rows = "\n".join(f"{number}  {number * number}" for number in range(60))
    text = told(display(text_html="<table>…</table>", text_plain=rows))
    assert text.startswith("0  0\n1  1\n")
    assert text.endswith("\n58  3364\n59  3481")
    assert "\n30  900\n" not in text
    assert "48 lines of the table left out" in text
    assert "<table" not in text


def test_of_pictures_the_size_is_told() -> None:
    text = told(display(image_png=png(640, 480), text_plain="<Figure size 640x480>"))
    assert text == "[image/png, 640×480, 60.0 KB]\n<Figure size 640x480>"
    assert told(display(**{"image_svg+xml": "<svg/>"})) == "[image/svg+xml, 6 bytes]"
    assert told(display(image_webp="AAAA")) == "[image/webp, 3 bytes]"


def test_progress_bars_leave_their_last_state() -> None:
    assert told(stream("10%\r50%\r100%\n"), stream(["done\n"])) == "100%\ndone"


def test_what_has_no_text_is_named() -> None:
    assert told(display(application_pdf="AAAA")) == "[application/pdf]"
    assert told({"output_type": "display_data"}) == "[an empty output]"


def test_what_is_carried_around_is_bounded() -> None:
    huge = "x" * 10_000_000
    assert len(str(shorten_output(stream(huge)))) < 2 * MAX_LENGTH
    assert len(str(shorten_output(display(image_png=huge, text_html=huge)))) < 2 * MAX_LENGTH
    assert len(str(shorten_output(display(application_json={"a": huge})))) < 2 * MAX_LENGTH
