"""Extended attributes and hard links, which are more than a name and a content."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path

import pytest

from cowork_jupyter.checkpoints import workspace_state
from cowork_jupyter.checkpoints.entries import Folder
from cowork_jupyter.checkpoints.no_follow_fs import MAX_ATTRIBUTES_SIZE, attributes_of

from .conftest import Site

Kept = dict[int, dict[str, bytes]]


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Kept:
    """By inode, what a filesystem with attributes would have; not every one has them."""
    found: Kept = {}

    def of(file: int) -> dict[str, bytes]:
        return found.setdefault(os.fstat(file).st_ino, {})

    monkeypatch.setattr(os, "listxattr", lambda file: list(of(file)), raising=False)
    monkeypatch.setattr(os, "getxattr", lambda file, name: of(file)[name], raising=False)
    monkeypatch.setattr(os, "setxattr", lambda file, *pair: of(file).update([pair]), raising=False)
    return found


def test_attributes_come_back_with_the_content(
    site: Site, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace_state, "RACY_NS", -(10**18))  # times are believed at once
    inode = site.write("a.csv", "1").stat().st_ino
    kept[inode] = {"user.origin": b"\xffhttps", "security.label": b"secret", "user.a": b""}
    site.scan()
    kept.clear()  # from now on what was remembered counts, also when the folder is listed again
    site.reopen()
    site.write("new.csv", "1")
    before = site.scan()
    site.write("other", "2").rename(site.root / "a.csv")
    site.record("cp", before)
    kept.clear()
    assert site.roll_back("cp").restored == ["a.csv"]
    back = kept[(site.root / "a.csv").stat().st_ino]
    assert back == {"user.origin": b"\xffhttps", "user.a": b""}


def test_attributes_of_a_file_known_by_name(site: Site, kept: Kept) -> None:
    inode = site.write("a.csv", "1").stat().st_ino
    kept[inode] = {"user.tag": b"x"}
    with site.named("cp", ["a.csv"]):
        kept.clear()
        site.write("other", "2").rename(site.root / "a.csv")
    site.roll_back("cp")
    assert kept[(site.root / "a.csv").stat().st_ino] == {"user.tag": b"x"}


def test_what_others_note_on_a_file_does_not_make_it_the_users(site: Site, kept: Kept) -> None:
    path = site.write("a.csv", "1")
    before = site.scan()
    site.write("a.csv", "2")
    site.record("cp", before)
    kept[path.stat().st_ino] = {"user.sync": b"uploaded"}
    os.utime(path, ns=(0, path.stat().st_mtime_ns))  # its time of change is another now
    assert site.roll_back("cp").restored == ["a.csv"]


def test_too_many_attributes_are_left(kept: Kept, tmp_path: Path) -> None:
    with (tmp_path / "a").open("wb") as file:
        kept[os.fstat(file.fileno()).st_ino] = {
            "user.a": bytes(MAX_ATTRIBUTES_SIZE),
            "user.b": b"x",
        }
        assert attributes_of(file.fileno()) == ()


def test_a_system_without_attributes(monkeypatch: pytest.MonkeyPatch, site: Site) -> None:
    monkeypatch.delattr(os, "listxattr", raising=False)
    site.write("a.csv", "1")
    assert site.scan().folders[""].attributes == {}


def test_states_of_earlier_versions_are_read(site: Site) -> None:

    site.write("a.csv", "1")
    folder = site.scan().folders[""]
    raw = zlib.decompress(folder.to_bytes())
    body = 4 + int.from_bytes(raw[:4], "big")
    head = json.dumps(json.loads(raw[4:body])[:-1]).encode()
    earlier = zlib.compress(len(head).to_bytes(4, "big") + head + raw[body:])
    found = Folder.from_bytes(earlier)
    assert (found.files, found.attributes) == (folder.files, {})


def test_other_names_of_a_file_are_not_changed_and_that_is_said(site: Site, tmp_path: Path) -> None:
    path = site.write("data.csv", "before")
    plain = site.write("plain.csv", "before")
    outside = tmp_path / "cache.csv"
    outside.hardlink_to(path)
    before = site.scan()
    path.write_text("after")
    plain.write_text("after")
    site.record("cp", before)
    assert site.plan("cp").hard_linked == ["data.csv"]
    done = site.roll_back("cp")
    assert (done.restored, done.hard_linked) == (["data.csv", "plain.csv"], ["data.csv"])
    assert path.read_text() == "before"
    assert outside.read_text() == "after"


def test_linked_files_of_the_workspace_all_come_back(site: Site) -> None:
    path = site.write("data.csv", "before")
    (site.root / "again.csv").hardlink_to(path)
    before = site.scan()
    path.write_text("after!")
    site.record("cp", before)
    assert site.roll_back("cp").restored == ["again.csv", "data.csv"]
    assert path.read_text() == (site.root / "again.csv").read_text() == "before"
