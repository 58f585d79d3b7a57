"""Keeping single files: what the last scan has read is not read again."""

from __future__ import annotations

from collections.abc import Iterator

from .conftest import Site


class Counted(list[str]):
    """Names that know how often they were gone through."""

    times = 0

    def __iter__(self) -> Iterator[str]:
        self.times += 1
        return super().__iter__()

    def __contains__(self, name: object) -> bool:
        self.times += 1
        return super().__contains__(name)


def test_many_files_of_one_folder_cost_one_look_at_what_the_scan_knew(site: Site) -> None:
    paths = [f"data/{number}.txt" for number in range(20)]
    for path in paths:
        site.write(path, path)
    folder = site.scan().folders["data"]
    folder.names = names = Counted(folder.names)
    kept = site.state.capture(paths)
    assert [entry.size for path in paths if (entry := kept[path])] == [len(path) for path in paths]
    assert names.times == 1
