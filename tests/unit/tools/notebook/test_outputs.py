"""Pictures of cells on their way to a model that sees."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest

from cowork_jupyter.tools.notebook.outputs import MAX_PICTURE_SIZE, MAX_PICTURES, pictures_in
from tests.unit.tools.conftest import Call

from .conftest import Disk, code


def png(width: int = 640, height: int = 480, size: int = 60) -> str:
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)
    return base64.b64encode(head + bytes(size)).decode()


def display(**data: Any) -> dict[str, Any]:
    named = {mime.replace("_", "/"): value for mime, value in data.items()}
    return {"output_type": "display_data", "metadata": {}, "data": named}


def test_a_figure_comes_with_its_kind_and_size() -> None:
    (found,) = pictures_in([display(image_png=png(), text_plain="<Figure>")])
    assert (found.media_type, found.size) == ("image/png", (640, 480))
    assert found.data == png()


def test_one_picture_in_several_forms_comes_once() -> None:
    (found,) = pictures_in([display(image_jpeg="AAAA", image_png=png())])
    assert found.media_type == "image/png"


def test_line_breaks_in_the_data_are_left_out() -> None:
    lines = [f"{png()[:20]}\n", f"{png()[20:]}\n"]
    assert pictures_in([display(image_png=lines)])[0].data == png()


def test_the_last_few_are_taken() -> None:
    many = [display(image_png=png(width)) for width in range(1, 10)]
    assert [one.size for one in pictures_in(many)] == [(7, 480), (8, 480), (9, 480)]
    assert MAX_PICTURES == 3


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("A" * (MAX_PICTURE_SIZE + 4), id="too many bytes"),
        pytest.param(png(100_000, 100_000), id="too many pixels"),
        pytest.param({"length": 9_000_000, "head": png()}, id="only its head"),
        pytest.param("no base64!", id="broken"),
        pytest.param("", id="empty"),
        pytest.param(None, id="nothing"),
    ],
)
def test_what_cannot_be_shown_is_not_taken(value: Any) -> None:
    assert pictures_in([display(image_png=value)]) == ()


def test_other_outputs_have_no_pictures() -> None:
    svg = display(**{"image_svg+xml": "<svg/>"})
    assert pictures_in([svg, {"output_type": "stream", "text": "x"}, {"data": None}]) == ()


@pytest.mark.asyncio
async def test_a_cell_that_is_read_alone_shows_its_pictures(disk: Disk, call: Call) -> None:
    disk.write(code("plot()", "a", outputs=[display(image_png=png())]), code("y", "b"))
    alone = await call("read_notebook", path="n.ipynb", cell_id="a")
    assert [one.data for one in alone.images] == [png()]
    assert "[image/png, 640×480, " in alone.text
    both = await call("read_notebook", path="n.ipynb")
    assert both.images == ()
    assert both.text.endswith("[read a single cell by cell_id to see its pictures]")
    assert both.data["last_cell"] == 1
    other = await call("read_notebook", path="n.ipynb", offset=1)
    assert "pictures" not in other.text
    assert (await call("read_notebook", path="n.ipynb", cell_id="b")).images == ()


@pytest.mark.asyncio
async def test_a_picture_that_is_too_large_is_only_named(disk: Disk, call: Call) -> None:
    disk.write(code("plot()", "a", outputs=[display(image_png=png(size=MAX_PICTURE_SIZE))]))
    alone = await call("read_notebook", path="n.ipynb", cell_id="a")
    assert alone.images == ()
    assert "[image/png, 640×480, " in alone.text
