"""Processes that die at the n-th system call that matters: `python -m … SCENARIO FOLDER`.

Prints how many places there were to die at.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from cowork_jupyter.checkpoints import recorder
from cowork_jupyter.checkpoints.objects import LARGE
from cowork_jupyter.checkpoints.rollback import carry_out
from cowork_jupyter.checkpoints.store import Checkpoint, sweep, verify

from .conftest import Site
from .test_recorder import Desk
from .test_rollback import tree

CALLS = ("open", "write", "replace", "rename", "unlink", "mkdir", "fsync", "rmdir", "symlink")
DEAD = 9


class Dying:
    """A connection whose statements count, too."""

    def __init__(self, connection: Any, counted: Callable[[Any], Any]) -> None:
        self._connection, self._counted = connection, counted

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._connection, name)
        return self._counted(found) if name in ("execute", "executemany") else found


Prepared = tuple[Callable[[], None], list[Any]]
"""What to do, and the databases whose statements count."""


def die_at(boundary: int, prepare: Callable[[], Prepared]) -> bool:
    """Do the work in a child that dies at the n-th call; False if it came to the end."""
    child = os.fork()
    if child:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status in (0, DEAD), status
        return status == DEAD
    left = boundary

    def counted(function: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                os._exit(DEAD)
            return function(*arguments, **options)

        return call

    try:
        work, databases = prepare()
        for name in CALLS:
            setattr(os, name, counted(getattr(os, name)))
        for database in databases:
            database._connection = Dying(database._connection, counted)
        work()
        os._exit(0)
    except BaseException as error:
        print(repr(error), file=sys.stderr)
        os._exit(1)


def on_site(folder: Path, work: Callable[[Site], None]) -> Prepared:
    site = Site(folder)
    return lambda: work(site), [site.store.database]


def scan(folder: Path) -> int:
    """The workspace is untouched, the store readable, and the next scan is whole."""
    site = Site(folder)
    for number in range(6):
        site.write(f"d{number % 2}/{number}.txt", f"file {number}")
    site.write("large.bin", os.urandom(LARGE * 2))
    was = tree(site.root)
    site.store.close()

    def work(inside: Site) -> None:
        before = inside.scan()
        changes = before.changes_until(before)
        inside.store.record(Checkpoint("ctx", changes=changes, id="cp"), inside.root)

    boundary = 0
    while die_at(boundary := boundary + 1, lambda: on_site(folder, work)):
        assert tree(site.root) == was
        site.open()
        assert verify(site.store).problems == []
        if boundary % 3 == 0:
            found = site.scan()
            assert found.uncovered() == []
            for inside in found.folders.values():
                assert all(site.content(entry.digest) for entry in inside.entries().values())
            sweep(site.store)
        site.store.close()
        shutil.rmtree(folder / "store")
    return boundary


def rollback(folder: Path) -> int:
    """Each file is the old or the new one, whole; going on and going back both work."""
    boundary = 0
    died = True
    while died:
        boundary += 1
        place = folder / str(boundary)
        place.mkdir()
        site = Site(place)
        site.write("changed.txt", "before")
        site.write("deleted/a.bin", bytes(LARGE))
        before, was = site.scan(), tree(site.root)
        site.write("changed.txt", "after")
        (site.root / "deleted/a.bin").unlink()
        (site.root / "deleted").rmdir()
        site.write("new/b.txt", "new")
        site.record("cp", before)
        after = tree(site.root)
        site.store.close()
        died = die_at(boundary, partial(on_site, place, roll_back))
        check_half_done(site, was, after, boundary)
        shutil.rmtree(place)
    return boundary


def roll_back(site: Site) -> None:
    """As it is done for users: written down first."""
    plan = site.plan("cp")
    site.store.record(Checkpoint("ctx", changes=plan.changes, id="undo"), site.root)
    carry_out(site.state, plan.changes, plan)


def check_half_done(
    site: Site, was: dict[str, object], after: dict[str, object], boundary: int
) -> None:
    site.open()
    for path, now in ours(site).items():
        known = (was.get(path), after.get(path))
        # A folder that was just made gets its rights last.
        assert now in known or (now, known[0])[0][0] is None, (path, now)  # type: ignore[index]
    assert verify(site.store).problems == []
    names = [one.id for one in site.history()]
    if boundary % 2 and "undo" in names:
        site.roll_back("undo")
        assert {path for path, _ in ours(site).items()} == set(after)
    else:
        site.roll_back("cp")
        assert {path for path, _ in ours(site).items()} == set(was)
    site.store.close()


def ours(site: Site) -> dict[str, object]:
    """All but what the dead leave behind under a name that says so."""
    return {path: what for path, what in tree(site.root).items() if ".cowork-" not in path}


# Tools


def change_file(root: Path) -> None:
    put(root / "a.txt", b"after")


def change_much(root: Path) -> None:
    put(root / "a.txt", b"after")
    (root / "new").mkdir()
    put(root / "new/b.bin", bytes(LARGE))
    (root / "gone.txt").unlink()


def put(path: Path, content: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.write(file, content)
    os.close(file)


def file_tool(folder: Path) -> int:
    return with_tool(folder, change_file, 1, path="a.txt")


def command(folder: Path) -> int:
    return with_tool(folder, change_much, 2, command="make")  # there are many


def with_tool(folder: Path, change: Callable[[Path], None], every: int, **parameters: str) -> int:
    """Whatever is different on the disk afterwards is recorded, once, and can be taken back."""
    boundary = 0
    died = True
    while died:
        boundary += every
        place = folder / str(boundary)
        place.mkdir()
        desk = Desk(place)
        for name in ("a.txt", "gone.txt", "left.txt"):
            (desk.root / name).write_text("before")
        was = tree(desk.root)
        asyncio.run(desk.close())
        died = die_at(boundary, partial(at_desk, place, desk.context, change, parameters))
        asyncio.run(check_recorded(place, desk.context, was, died))
        shutil.rmtree(place)
    return boundary


def at_desk(
    folder: Path, context: str, change: Callable[[Path], None], parameters: dict[str, str]
) -> Prepared:
    desk = Desk(folder, context)
    recorder.HEARTBEAT_SECONDS = 3600  # or what a slow machine did long ago is not in doubt

    async def work() -> None:
        async with desk.around(desk.use("tool", **parameters)):
            change(desk.root)

    databases = [desk.parts.lazy_store.state.store.database, desk.journal.store._database]
    return lambda: asyncio.run(work()), databases


async def check_recorded(folder: Path, context: str, was: dict[str, object], died: bool) -> None:
    desk = Desk(folder, context)
    undo = desk.parts.undo
    now = tree(desk.root)
    changed = {path for path in was | now if was.get(path) != now.get(path)}
    await desk.parts.recorder.finish_interrupted()
    assert desk.unfinished() == []
    assert verify(desk.parts.lazy_store.state.store).problems == []
    listed = desk.listed()
    assert {file["path"] for one in listed for file in one["files"]} == changed
    assert desk.announced() == [one["id"] for one in listed]
    assert len(listed) <= 2
    assert tree(desk.root) == now
    if changed:
        made = listed[-1]
        result = await undo.rollback(made["id"])
        skipped = {one.path for one in result.skipped}
        if made["label"].endswith("(interrupted)"):
            assert died
            assert skipped == changed
            assert tree(desk.root) == now
            await undo.rollback(made["id"], overwrite=skipped)
        assert tree(desk.root) == was
    await desk.close()


SCENARIOS = {"scan": scan, "rollback": rollback, "file tool": file_tool, "command": command}

if __name__ == "__main__":
    print(SCENARIOS[sys.argv[1]](Path(sys.argv[2])))
