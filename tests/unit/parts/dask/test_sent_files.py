"""Files for workers that do not see the workspace, without a cluster around them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.errors import Conflict, CoworkError, Forbidden, InvalidInput
from cowork_jupyter.parts.dask import parcels, sent_files
from cowork_jupyter.parts.dask.parcels import pack, write_back
from cowork_jupyter.parts.dask.sent_files import CopiedTree, FileStore, Layout, RemoteChange
from cowork_jupyter.tools.base import CallAuthorization
from cowork_jupyter.workspace import Workspace


class There:
    """A worker's store, and a tree of its own."""

    def __init__(self, folder: Path) -> None:
        self.store = FileStore(folder / "contents")
        self.tree = CopiedTree(folder / "tree", self.store, {"__pycache__"})
        self.taken: list[str] = []

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        if function is sent_files.missing_digests:
            return self.store.lacks(*arguments)
        sender, digest, piece, is_last = arguments
        self.taken += [digest] if is_last else []
        return self.store.add(sender, digest, piece, is_last=is_last)

    async def get(self, workspace: Workspace, *paths: str, tables: tuple[str, ...] = ()) -> Layout:
        parcel = pack(workspace, paths, tables, ".")
        await parcel.deliver("claim", self.run)
        self.tree.lay_out(parcel.layout)
        return parcel.layout


@pytest.fixture
def there(tmp_path: Path) -> There:
    return There(tmp_path / "worker")


@pytest.fixture
def home(tmp_path: Path) -> Workspace:
    folder = tmp_path / "home"
    (folder / "data").mkdir(parents=True)
    (folder / "a.txt").write_text("a")
    (folder / "same.txt").write_text("a")
    (folder / "data" / "1.csv").write_text("n\n1\n")
    (folder / "data" / "2.csv").write_text("n\n2\n")
    (folder / "run.sh").write_text("echo")
    (folder / "run.sh").chmod(0o755)
    (folder / ".env").write_text("KEY=1")
    return CallAuthorization().guard(Workspace(folder))


def names(layout: Layout) -> list[str]:
    return [file.path for file in layout.files]


@pytest.mark.asyncio
async def test_the_same_content_is_sent_once(home: Workspace, there: There) -> None:
    assert names(await there.get(home, "a.txt", "same.txt")) == ["a.txt", "same.txt"]
    assert len(there.taken) == 1
    await there.get(home, "a.txt", "data")
    assert len(there.taken) == 3
    assert (there.tree.folder / "data" / "1.csv").read_text() == "n\n1\n"
    assert not (there.tree.folder / "same.txt").exists(), "it is none of this call's"


@pytest.mark.asyncio
async def test_what_is_missing_or_secret_is_not_sent(home: Workspace, there: There) -> None:
    layout = await there.get(home, "missing.txt", ".env", "run.sh")
    assert names(layout) == ["run.sh"]
    assert (there.tree.folder / "run.sh").stat().st_mode & 0o100


@pytest.mark.asyncio
async def test_tables_are_what_folders_and_patterns_stand_for(
    home: Workspace, there: There
) -> None:
    layout = await there.get(home, tables=("data", "d*/1.csv"))
    assert sorted(names(layout)) == ["data/1.csv", "data/2.csv"]
    with pytest.raises(CoworkError):
        pack(home, (), ("none/*.csv",), ".")


@pytest.mark.asyncio
async def test_only_what_differs_counts_as_changed(home: Workspace, there: There) -> None:
    await there.get(home, "a.txt", "same.txt", "data")
    tree = there.tree.folder
    assert there.tree.changes() == ()
    (tree / "a.txt").write_text("b")
    (tree / "same.txt").write_text("a")
    (tree / "data" / "1.csv").unlink()
    (tree / "new").mkdir()
    (tree / "new" / "n.txt").write_text("n")
    (tree / "link").symlink_to("/etc/passwd")
    (tree / "__pycache__").mkdir()
    (tree / "__pycache__" / "x").touch()
    changes = {one.path: one.data for one in there.tree.changes()}
    assert changes == {"a.txt": b"b", "data/1.csv": None, "new/n.txt": b"n"}
    await there.get(home, "a.txt")
    assert there.tree.changes() == ()
    assert [one.name for one in tree.iterdir()] == ["a.txt"], "the next call finds its own only"
    assert (tree / "a.txt").read_text() == "a"


@pytest.mark.asyncio
async def test_what_comes_back_is_written(home: Workspace, there: There) -> None:
    layout = await there.get(home, "a.txt", "data")
    changes = [
        RemoteChange("a.txt", b"b"),
        RemoteChange("data/1.csv", None),
        RemoteChange("new/n.txt", b"n"),
    ]
    assert write_back(home, layout, changes) == ["a.txt", "data/1.csv", "new/n.txt"]
    assert (home.root / "a.txt").read_text() == "b"
    assert not (home.root / "data" / "1.csv").exists()
    assert (home.root / "new" / "n.txt").read_text() == "n"


@pytest.mark.parametrize("path", ["a.txt", "run.sh"])
@pytest.mark.asyncio
async def test_what_was_changed_here_or_was_not_sent_is_not_overwritten(
    home: Workspace, there: There, path: str
) -> None:
    layout = await there.get(home, "a.txt")
    (home.root / "a.txt").write_text("mine")
    with pytest.raises(Conflict, match=path) as raised:
        write_back(home, layout, [RemoteChange("new.txt", b"n"), RemoteChange(path, b"b")])
    assert raised.value.code == "changed_at_home"
    assert (home.root / "a.txt").read_text() == "mine"
    assert (home.root / "run.sh").read_text() == "echo"
    assert not (home.root / "new.txt").exists(), "all of it, or nothing"


@pytest.mark.parametrize("path", ["../out.txt", "/etc/out.txt", ".env"])
@pytest.mark.asyncio
async def test_nothing_is_written_where_a_call_may_not(
    home: Workspace, there: There, path: str
) -> None:
    layout = await there.get(home, "a.txt")
    with pytest.raises(Forbidden):
        write_back(home, layout, [RemoteChange(path, b"x")])
    assert (home.root / ".env").read_text() == "KEY=1"
    assert not (home.root.parent / "out.txt").exists()


@pytest.mark.asyncio
async def test_a_file_that_changes_while_it_is_sent_is_said(home: Workspace, there: There) -> None:
    parcel = pack(home, ["a.txt"], (), ".")
    (home.root / "a.txt").write_text("another")
    with pytest.raises(Conflict) as raised:
        await parcel.deliver("claim", there.run)
    assert raised.value.code == "changed_at_home"
    assert list((there.tree.folder.parent / "contents").iterdir()) == []


def test_there_are_limits(home: Workspace, there: There, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parcels, "MAX_SENT", 3)
    with pytest.raises(InvalidInput, match="too large to send: 8 bytes"):
        pack(home, ["data"], (), ".")
    monkeypatch.setattr(parcels, "MAX_FILES", 1)
    with pytest.raises(InvalidInput, match="more than 1 files"):
        pack(home, ["data"], (), ".")
    monkeypatch.setattr(sent_files, "MAX_BROUGHT", 3)
    (there.tree.folder / "large").write_text("many")
    with pytest.raises(InvalidInput, match="copied back"):
        there.tree.changes()


def test_a_store_lets_go_of_what_was_not_used_for_longest(
    there: There, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sent_files, "MAX_STORE", 2)
    digests = [hashlib.sha256(data).hexdigest() for data in (b"a", b"b", b"c")]
    for age, (digest, data) in enumerate(zip(digests, (b"a", b"b", b"c"), strict=True)):
        assert there.store.add("claim", digest, data, is_last=True)
        os.utime(there.store.path(digest), (age, age))
    assert there.store.lacks(digests) == digests[:1]
