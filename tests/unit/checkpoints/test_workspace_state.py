"""Keeping single files: what the last scan has read is not read again."""

from __future__ import annotations

from collections.abc import Iterator

from .conftest import Site


class Counted(dict[str, bytes]):
    """Files that know how often they were gone through."""

    times = 0

    def __iter__(self) -> Iterator[str]:
        self.times += 1
        return super().__iter__()


def test_many_files_of_one_folder_are_looked_up_in_what_the_scan_knew(site: Site) -> None:
    paths = [f"data/{number}.txt" for number in range(20)]
    for path in paths:
        site.write(path, path)
    folder = site.scan().folders["data"]
    folder.files = files = Counted(folder.files)
    kept = site.state.capture(paths)
    assert [entry.size for path in paths if (entry := kept[path])] == [len(path) for path in paths]
    assert files.times == 0


def test_the_folders_above_are_kept_too_each_once(site: Site) -> None:
    site.write("a/b/c.txt", "c")
    kept = site.state.capture(["a/b/c.txt", "a/b/gone.txt", "a/new/d.txt", "top.txt"])
    assert {path: entry and entry.kind for path, entry in kept.items()} == {
        "a": "folder",
        "a/b": "folder",
        "a/b/c.txt": "file",
        "a/b/gone.txt": None,
        "a/new": None,
        "a/new/d.txt": None,
        "top.txt": None,
    }
