"""Looking at files and folders."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cowork_jupyter.domain.errors import Forbidden, InvalidInput, NotFound

from .conftest import Call, write

pytestmark = pytest.mark.asyncio

NOTEBOOK = json.dumps(
    {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": [
            {"cell_type": "markdown", "id": "intro", "source": "# Sales"},
            {"cell_type": "code", "id": "load", "source": ["import pandas\n", "df = 1"]},
        ],
    }
)


async def test_text_comes_back_as_it_is(root: Path, call: Call) -> None:
    write(root, {"a.py": "one\ntwo\n"})
    result = await call("read_file", path="a.py")
    assert result.text == "one\ntwo\n"
    assert result.summary == "read a.py (2 lines)"
    assert result.data["total_lines"] == 2
    assert result.data["paths"] == ["a.py"]


async def test_many_lines_come_whole_so_that_the_store_has_them(root: Path, call: Call) -> None:
    text = "".join(f"row {n}\n" for n in range(50_000))
    write(root, {"rows.txt": text})
    assert (await call("read_file", path="rows.txt")).text == text


async def test_some_lines_say_where_they_are_and_how_to_read_on(root: Path, call: Call) -> None:
    write(root, {"a": "".join(f"line {n}\n" for n in range(1, 11))})
    result = await call("read_file", path="a", start_line=3, end_line=4)
    assert result.text == "line 3\nline 4\n[lines 3–4 of 10; continue with start_line=5]"
    last = await call("read_file", path="a", start_line=9)
    assert last.text == "line 9\nline 10\n[lines 9–10 of 10]"


async def test_long_file_comes_in_parts_that_add_up(root: Path, call: Call) -> None:
    text = "".join(f"row {n}, {'x' * (n % 300)}\n" for n in range(9000))
    write(root, {"big.csv": text})
    read, start = "", 1
    for _ in range(30):
        result = await call("read_file", path="big.csv", start_line=start)
        assert len(result.text) < 1_100_000
        body, _, note = result.text.rpartition("[")
        read += body
        assert "of 9000" in note
        start = result.data["last_line"] + 1
        if start > 9000:
            break
    assert read == text


async def test_one_endless_line_is_cut_and_says_so(root: Path, call: Call) -> None:
    write(root, {"min.js": "x" * 3_000_000 + "\nlast\n"})
    result = await call("read_file", path="min.js")
    assert len(result.text) < 1_100_000
    assert "line 1 is very long" in result.text
    assert "start_line=2" in result.text


async def test_line_beyond_the_end_is_refused(root: Path, call: Call) -> None:
    write(root, {"a": "one\n"})
    with pytest.raises(InvalidInput, match="only 1 line\\."):
        await call("read_file", path="a", start_line=5)


async def test_empty_file_says_so(root: Path, call: Call) -> None:
    write(root, {"a": ""})
    assert (await call("read_file", path="a")).text == "[the file is empty]"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "PNG picture"),
        (b"PAR1\0\0", "Parquet table"),
        (b"\x80\x04\x95\0\0", "pickle"),
        (bytes(range(1, 32)) * 9, "binary file"),
    ],
)
async def test_binary_file_is_named_and_not_shown(
    root: Path, call: Call, content: bytes, kind: str
) -> None:
    write(root, {"a": content})
    result = await call("read_file", path="a")
    assert kind in result.text
    assert "not shown" in result.text
    assert result.data["size"] == len(content)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("über\n".encode("utf-8-sig"), ""),
        ("über\n".encode("utf-16"), "UTF-16"),
        ("über\n".encode("utf-32"), "UTF-32"),
        ("über\n".encode("cp1252"), "Windows-1252"),
        ("über\n".encode("latin-1") + b"\x81", "Latin-1"),
    ],
)
async def test_other_encodings_are_read_and_named(
    root: Path, call: Call, content: bytes, says: str
) -> None:
    write(root, {"a": content})
    result = await call("read_file", path="a")
    assert result.text.startswith("über\n")
    assert says in result.text
    assert content.decode(result.data["encoding"]).lstrip("\ufeff").startswith("über")


async def test_notebook_is_shown_as_its_cells(root: Path, call: Call) -> None:
    write(root, {"a.ipynb": NOTEBOOK})
    result = await call("read_file", path="a.ipynb")
    assert "[cell 0 · intro · markdown]\n# Sales" in result.text
    assert "[cell 1 · load · code]\nimport pandas\ndf = 1" in result.text


async def test_broken_notebook_is_shown_as_text(root: Path, call: Call) -> None:
    write(root, {"a.ipynb": '{"cells": ['})
    assert (await call("read_file", path="a.ipynb")).text == '{"cells": ['


async def test_missing_file_suggests_close_names(root: Path, call: Call) -> None:
    write(root, {"sales.py": "", "sale.py": "", "src/report.py": ""})
    with pytest.raises(NotFound, match=r"sales\.py"):
        await call("read_file", path="salse.py")
    with pytest.raises(NotFound, match=r"src/report\.py"):
        await call("read_file", path="lib/report.py")


async def test_folder_is_not_a_file(root: Path, call: Call) -> None:
    (root / "sub").mkdir()
    with pytest.raises(InvalidInput, match="list_directory"):
        await call("read_file", path="sub")


async def test_pipe_does_not_block(root: Path, call: Call) -> None:
    os.mkfifo(root / "pipe")
    with pytest.raises(InvalidInput, match="pipe"):
        await call("read_file", path="pipe")


async def test_outside_is_refused(root: Path, call: Call) -> None:
    for path in ("../x", "/etc/passwd"):
        for name in ("read_file", "get_file_info", "list_directory"):
            with pytest.raises(Forbidden):
                await call(name, path=path)


async def test_listing_has_folders_first_and_sizes(root: Path, call: Call) -> None:
    write(root, {"b.txt": "x" * 1500, "a/c.txt": "", ".env": "x", "a/d/e.txt": ""})
    (root / "link").symlink_to("b.txt")
    result = await call("list_directory")
    assert result.text.split("\n") == [
        "a/",
        ".env  1 bytes",
        "b.txt  1.5 KB",
        "link  (symlink)",
    ]
    deep = await call("list_directory", depth=3)
    assert deep.text.split("\n")[:4] == ["a/", "  d/", "    e.txt  0 bytes", "  c.txt  0 bytes"]


async def test_listing_tells_the_state_of_files(root: Path, call: Call) -> None:
    (root / "a.csv").write_text("a\n")
    os.utime(root / "a.csv", (5, 7.5))
    found = await call("list_directory", path=".", depth=3)
    assert found.data["states"]["a.csv"] == (2, 7.5)
    assert list(found.data["states"]) == found.data["files"]


async def test_listing_marks_what_git_ignores_and_does_not_enter_it(root: Path, call: Call) -> None:
    write(root, {".gitignore": "data/\n", "data/x.csv": "", "a.py": "", ".git/config": ""})
    write(root, {"deep/b.py": ""})
    result = await call("list_directory", depth=2)
    text = result.text
    assert result.data["files"] == ["deep/b.py", ".gitignore", "a.py"]
    assert "data/  (ignored by git)" in text
    assert "x.csv" not in text
    assert "config" not in text


async def test_long_listing_is_bounded_and_says_what_is_missing(root: Path, call: Call) -> None:
    write(root, {f"many/f{n:04}": "" for n in range(700)})
    write(root, {"z.txt": ""})
    text = (await call("list_directory", path="many")).text
    assert len(text.split("\n")) == 501
    assert "[200 more in many" in text
    assert "z.txt" in (await call("list_directory", depth=2)).text


async def test_empty_and_missing_folders_say_so(root: Path, call: Call) -> None:
    assert "empty" in (await call("list_directory")).text
    with pytest.raises(NotFound):
        await call("list_directory", path="nowhere")


async def test_file_name_that_is_not_text_can_still_be_listed(root: Path, call: Call) -> None:
    try:
        (root / os.fsdecode(b"bad\xff")).write_text("")
    except OSError:  # macOS takes only UTF-8 names
        (root / "bad�").write_text("")
    result = await call("list_directory")
    assert result.text == "bad�  0 bytes"


async def test_info_tells_kind_size_and_content(root: Path, call: Call) -> None:
    write(root, {"a.txt": "abc", "b.png": b"\x89PNG\0", "n.ipynb": NOTEBOOK, "d/x": ""})
    (root / "link").symlink_to("a.txt")
    (root / "dangling").symlink_to("gone")
    os.mkfifo(root / "pipe")

    async def info(path: str) -> dict[str, object]:
        facts: dict[str, object] = (await call("get_file_info", path=path)).data["info"]
        return facts

    assert (await info("a.txt"))["bytes"] == 3
    assert (await info("b.png"))["content"] == "PNG picture"
    assert (await info("n.ipynb"))["content"] == "notebook"
    assert (await info("d"))["entries"] == 1
    assert (await info("link"))["leads to"] == "a.txt"
    assert (await info("dangling"))["leads to"] == "gone (missing)"
    (root / "out").symlink_to("/etc/passwd")
    assert (await info("out"))["leads to"] == "somewhere outside the workspace"
    assert (await info("pipe"))["kind"] == "special"
    with pytest.raises(NotFound, match=r"a\.txt"):
        await info("b.txt")
