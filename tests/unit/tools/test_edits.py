"""Creating, changing and deleting files."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.domain.errors import Conflict, Forbidden, InvalidInput, NotFound
from cowork_jupyter.tools.text_files import decode

from .conftest import Call, names_in, write


@pytest.mark.asyncio
async def test_create_makes_file_and_folders_and_never_overwrites(root: Path, call: Call) -> None:
    result = await call("create_file", path="a/b/c.txt", content="one\n")
    assert (root / "a/b/c.txt").read_text() == "one\n"
    assert result.data["paths"] == ["a/b/c.txt"]
    assert "+one" in result.data["diff"]
    with pytest.raises(Conflict, match="update_file") as caught:
        await call("create_file", path="a/b/c.txt", content="two")
    assert caught.value.code == "exists"
    with pytest.raises(Conflict):
        await call("create_file", path="a/b", content="two")
    assert (root / "a/b/c.txt").read_text() == "one\n"


@pytest.mark.asyncio
async def test_create_outside_or_through_a_file_is_refused(root: Path, call: Call) -> None:
    write(root, {"a": ""})
    with pytest.raises(Forbidden):
        await call("create_file", path="../x", content="")
    with pytest.raises(InvalidInput, match="not a folder"):
        await call("create_file", path="a/x", content="")
    assert not (root.parent / "x").exists()


@pytest.mark.asyncio
async def test_passage_is_replaced_and_the_change_described(root: Path, call: Call) -> None:
    write(root, {"a.py": "one\ntwo\nthree\n"})
    (root / "a.py").chmod(0o755)
    result = await call("update_file", path="a.py", old_text="two", new_text="2\n2b")
    assert (root / "a.py").read_text() == "one\n2\n2b\nthree\n"
    assert stat.S_IMODE((root / "a.py").stat().st_mode) == 0o755
    assert result.summary == "changed a.py (+2 −1 lines)"
    assert result.data["diff"].startswith("--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,4 @@\n one\n-two\n+2")


@pytest.mark.asyncio
async def test_whole_content_is_replaced(root: Path, call: Call) -> None:
    write(root, {"a": "one\n"})
    await call("update_file", path="a", content="")
    assert (root / "a").read_text() == ""


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("old", "why", "code"),
    [
        ("nothing", "Read the file again", "text_not_found"),
        ("def  f():\n  return 1", "It is at line 2", "text_not_found"),
        ("x", "2 times", "text_ambiguous"),
        ("aa", "2 times", "text_ambiguous"),
    ],
)
async def test_passage_that_is_not_there_once_is_refused(
    root: Path, call: Call, old: str, why: str, code: str
) -> None:
    before = "# x x\ndef f():\n    return 1\naaa\n"
    write(root, {"a.py": before})
    with pytest.raises(InvalidInput, match=why) as caught:
        await call("update_file", path="a.py", old_text=old, new_text="y")
    assert caught.value.code == code
    assert (root / "a.py").read_text() == before


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "way",
    [
        {},
        {"old_text": "a"},
        {"new_text": "a"},
        {"old_text": "a", "new_text": "b", "content": "c"},
        {"old_text": "", "new_text": "b"},
    ],
)
async def test_unclear_ways_to_update_are_refused(
    root: Path, call: Call, way: dict[str, str]
) -> None:
    write(root, {"a": "a"})
    with pytest.raises(InvalidInput) as caught:
        await call("update_file", path="a", **way)
    assert caught.value.code == "bad_parameters"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "b", "x\ny", b"a\r\nx\r\ny\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "a\nb\n", "x\n", b"x\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "a\r\nb", "x\r\ny", b"x\r\ny\r\nc\r\n"),
        (b"a\nb\nc\n", "b\r\n", "x\r\ny\r\n", b"a\nx\ny\nc\n"),
        (b"a\r\nb\r\n", "\nb", "\nc", b"a\r\nc\r\n"),
        (b"a\nb\r\nc\nd\n", "b", "x\ny", b"a\nx\ny\r\nc\nd\n"),
    ],
)
async def test_line_endings_stay_what_they_are(
    root: Path, call: Call, before: bytes, old: str, new: str, after: bytes
) -> None:
    write(root, {"a": before})
    await call("update_file", path="a", old_text=old, new_text=new)
    assert (root / "a").read_bytes() == after


@pytest.mark.asyncio
async def test_whole_content_takes_the_files_line_endings(root: Path, call: Call) -> None:
    write(root, {"a": b"a\r\nb\r\n"})
    await call("update_file", path="a", content="x\ny\n")
    assert (root / "a").read_bytes() == b"x\r\ny\r\n"


@pytest.mark.asyncio
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
async def test_encoding_and_bom_stay(root: Path, call: Call, encoding: str) -> None:
    write(root, {"a": "größe: 1\n".encode(encoding)})
    await call("update_file", path="a", old_text="größe: 1", new_text="größe: ä")
    assert (root / "a").read_bytes() == "größe: ä\n".encode(encoding)


@pytest.mark.asyncio
async def test_character_the_encoding_lacks_is_refused(root: Path, call: Call) -> None:
    write(root, {"a": "größe\n".encode("cp1252")})
    with pytest.raises(InvalidInput, match="Windows-1252"):
        await call("update_file", path="a", content="日本")
    assert (root / "a").read_bytes() == "größe\n".encode("cp1252")


@pytest.mark.asyncio
async def test_binary_file_and_notebook_are_refused(root: Path, call: Call) -> None:
    write(root, {"a": b"a\0b", "n.ipynb": "{}"})
    for path, code in (("a", "is_binary"), ("n.ipynb", "is_notebook")):
        with pytest.raises(InvalidInput) as caught:
            await call("update_file", path=path, content="x")
        assert caught.value.code == code


@pytest.mark.asyncio
async def test_update_without_a_change_writes_nothing(root: Path, call: Call) -> None:
    write(root, {"a": "one\n"})
    before = (root / "a").stat()
    result = await call("update_file", path="a", content="one\n")
    assert result.data["paths"] == []
    assert (root / "a").stat().st_ino == before.st_ino


@pytest.mark.asyncio
async def test_update_of_a_missing_file_suggests_names(root: Path, call: Call) -> None:
    write(root, {"sales.py": ""})
    with pytest.raises(NotFound, match=r"sales\.py"):
        await call("update_file", path="sale.py", content="")


@pytest.mark.asyncio
async def test_update_follows_a_symlink_inside_and_none_outside(root: Path, call: Call) -> None:
    write(root, {"a": "one", "../outside": "secret"})
    (root / "in").symlink_to("a")
    (root / "out").symlink_to("../outside")
    await call("update_file", path="in", content="two")
    assert (root / "a").read_text() == "two"
    assert (root / "in").is_symlink()
    with pytest.raises(Forbidden):
        await call("update_file", path="out", content="two")
    assert (root.parent / "outside").read_text() == "secret"


@pytest.mark.asyncio
async def test_delete_takes_files_links_and_empty_folders_only(root: Path, call: Call) -> None:
    write(root, {"a": "", "full/x": ""})
    (root / "link").symlink_to("full/x")
    (root / "empty").mkdir()
    for path in ("a", "link", "empty"):
        result = await call("delete_file", path=path)
        assert result.data["paths"] == [path]
    with pytest.raises(Conflict, match="not empty"):
        await call("delete_file", path="full")
    with pytest.raises(NotFound):
        await call("delete_file", path="a")
    with pytest.raises(Forbidden):
        await call("delete_file", path=".")
    assert names_in(root) == ["full"]
    assert names_in(root / "full") == ["x"]


@given(st.binary(max_size=200))
def test_decoded_text_gives_the_same_bytes_back(data: bytes) -> None:
    try:
        text, encoding = decode(data)
    except InvalidInput:  # a mark of UTF-16 before something else
        return
    assert encoding.encode(text) == data
