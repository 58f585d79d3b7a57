"""Tools that were cut off: what they changed is found by whoever comes next.

Where processes really die is tested in `dying`. Here a process ends by closing its store in
the middle of a tool, which is all that another one can see of it.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from cowork_jupyter.checkpoints import recorder as recorders
from cowork_jupyter.checkpoints import writer as writers
from cowork_jupyter.checkpoints.rollback import CUT_OFF as ASKS
from cowork_jupyter.checkpoints.store import VERSION, Checkpoint, CheckpointStore, sweep
from cowork_jupyter.checkpoints.workspace_state import WorkspaceState
from cowork_jupyter.checkpoints.writer import CUT_OFF, OTHER_RULES, TICK
from cowork_jupyter.domain.events import EventType

from .test_recorder import Desk

pytestmark = pytest.mark.asyncio


class Office:
    """Desks in one workspace, some of which end in the middle of their work."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: list[Desk] = []
        self._killed: list[Desk] = []
        self._cut_off: list[asyncio.Task[None]] = []
        self.context = ""
        first = self.desk()
        self.context, self.root = first.context, first.root

    def desk(self, **changes: Any) -> Desk:
        """One in the conversation of all, unless another one is named."""
        desk = Desk(self.folder, **{"context": self.context, **changes})
        self._open.append(desk)
        return desk

    async def begin(self, desk: Desk, **parameters: str) -> None:
        """A tool runs, and does not end."""
        runs = asyncio.Event()

        async def tool() -> None:
            async with desk.parts.recorder.around(desk.use("tool", **parameters)):
                runs.set()
                await asyncio.Event().wait()

        self._cut_off.append(asyncio.create_task(tool()))
        await runs.wait()

    def kill(self, desk: Desk) -> None:
        self._open.remove(desk)
        self._killed.append(desk)
        desk.parts.lazy_store.close()
        desk.journal.store.close()

    async def killed_during(self, work: Callable[[], object], **parameters: str) -> None:
        """Somebody begins to use a tool, and ends before the tool does."""
        desk = self.desk()
        await self.begin(desk, **parameters)
        work()
        self.kill(desk)

    async def next(self, **changes: Any) -> Desk:
        """Whoever comes next, and has finished what was left."""
        desk = self.desk(**changes)
        await desk.parts.recorder.finish_interrupted()
        return desk

    async def close(self) -> None:
        for task in self._cut_off:
            task.cancel()
        await asyncio.gather(*self._cut_off, return_exceptions=True)
        for desk in self._killed:
            await desk.parts.recorder.settle()
        for desk in self._open:
            await desk.close()


@pytest_asyncio.fixture
async def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Office]:
    monkeypatch.setattr(
        recorders, "HEARTBEAT_SECONDS", 3600
    )  # signs of life only where a test gives them
    made = Office(tmp_path)
    yield made
    await made.close()


async def test_what_a_file_tool_had_done_is_listed_and_asked_about(office: Office) -> None:
    file = office.root / "a.txt"
    file.write_text("before")
    await office.killed_during(lambda: file.write_text("half"), path="a.txt")
    desk = await office.next()
    mark, made = desk.listed()
    assert mark["label"] == "Before: Tidy up"
    assert made["label"] == "tool a.txt (interrupted)"
    assert made["tool"] == "tool"
    assert [one["path"] for one in made["files"]] == ["a.txt"]
    assert made["uncovered"] == [{"path": "a.txt", "why": CUT_OFF}]
    result = await desk.parts.undo.rollback(made["id"])
    assert [(one.path, one.why) for one in result.skipped] == [("a.txt", ASKS)]
    assert (result.checkpoint_id, desk.text("a.txt")) == (None, "half")
    result = await desk.parts.undo.rollback(mark["id"], overwrite=["a.txt"])
    assert (result.restored, desk.text("a.txt")) == (["a.txt"], "before")
    assert result.checkpoint_id
    await desk.parts.undo.rollback(result.checkpoint_id)
    assert desk.text("a.txt") == "half"


async def test_what_somebody_changed_since_is_theirs_to_decide_about(office: Office) -> None:
    (office.root / "users.txt").write_text("before")

    def work() -> None:
        (office.root / "made.txt").write_text("by the command")

    await office.killed_during(work, command="make")
    (office.root / "users.txt").write_text("typed after the crash")
    desk = await office.next()
    made = desk.listed()[-1]
    assert [one["path"] for one in made["files"]] == ["made.txt", "users.txt"]
    assert made["uncovered"] == [
        {"path": path, "why": CUT_OFF} for path in ("made.txt", "users.txt")
    ]
    result = await desk.parts.undo.rollback(made["id"], overwrite=["made.txt"])
    assert (result.removed, [one.path for one in result.skipped]) == (["made.txt"], ["users.txt"])
    assert desk.text("users.txt") == "typed after the crash"


async def test_files_that_were_being_written_are_cleared_away(office: Office) -> None:
    half_written = [
        office.root / place / f".cowork-{number:016x}.tmp"
        for number, place in enumerate((".", "sub"))
    ]
    others = office.root / "elsewhere.tmp"

    def work() -> None:
        (office.root / "sub").mkdir()
        for file in (*half_written, others):
            file.write_text("half")

    await office.killed_during(work, path="sub/a.txt")
    while time.time_ns() < half_written[-1].stat().st_ctime_ns + 2 * TICK:
        await asyncio.sleep(0.01)
    desk = office.desk()
    beside = office.root / f".cowork-{9:016x}.tmp"
    beside.write_text("somebody who lives writes this")
    await desk.parts.recorder.finish_interrupted()
    assert not any(file.exists() for file in half_written)
    assert others.exists()
    assert beside.exists()


def last_sign_of_life(desk: Desk) -> int:
    with desk.parts.lazy_store.state.store.database.reading() as connection:
        return int(connection.execute("SELECT alive FROM unfinished").fetchone()[0])


async def sign_of_life(desk: Desk, *changed: Path) -> None:
    """One that is surely after all that these files and folders went through."""
    last = max(path.stat().st_ctime_ns for path in changed)
    with desk.parts.lazy_store.state.store.database.reading() as connection:
        (running,) = connection.execute("SELECT id FROM unfinished").fetchone()
    while last_sign_of_life(desk) < last + TICK:
        await asyncio.sleep(0.005)
        desk.parts.lazy_store.state.store.say_alive(running)


async def test_what_was_changed_while_its_process_lived_is_taken_back_without_asking(
    office: Office,
) -> None:
    root, desk = office.root, office.desk()
    (root / "data").mkdir()
    for name in ("data/gone.txt", "late.txt"):
        (root / name).write_text("before")
    await office.begin(desk, command="make")
    (root / "data/gone.txt").unlink()
    (root / "new").mkdir()
    (root / "new/made.txt").write_text("made")
    await sign_of_life(desk, root / "data", root / "new", root / "new/made.txt")
    while (root / "late.txt").stat().st_ctime_ns + TICK <= last_sign_of_life(desk):
        (root / "late.txt").write_text("by whom?")
    office.kill(desk)
    desk = await office.next()
    made = desk.listed()[-1]
    assert made["uncovered"] == [{"path": "late.txt", "why": CUT_OFF}]
    result = await desk.parts.undo.rollback(made["id"])
    assert (result.restored, result.removed) == (["data/gone.txt"], ["new", "new/made.txt"])
    assert [(one.path, one.why) for one in result.skipped] == [("late.txt", ASKS)]
    assert desk.text("late.txt") == "by whom?"


async def test_signs_of_life_are_given_while_a_tool_runs(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorders, "HEARTBEAT_SECONDS", 0.001)
    desk = office.desk()
    async with desk.around(desk.use("tool", command="make")):
        first = last_sign_of_life(desk)
        async with asyncio.timeout(60):
            while last_sign_of_life(desk) == first:
                await asyncio.sleep(0.001)


@pytest.mark.parametrize("where", ["network", "tab"])
async def test_where_no_clock_can_be_believed_all_is_in_doubt(
    office: Office, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    desk = office.desk()
    (office.root / "nb.ipynb").write_text("before")
    if where == "tab":
        desk.tabs.unsaved["nb.ipynb"] = b"typed, not saved"
    else:
        monkeypatch.setattr(writers, "on_network", lambda _: True)
    await office.begin(desk, path="nb.ipynb")
    (office.root / "nb.ipynb").write_text("after")
    await sign_of_life(desk, office.root / "nb.ipynb")
    office.kill(desk)
    desk = await office.next()
    assert desk.listed()[-1]["uncovered"] == [{"path": "nb.ipynb", "why": CUT_OFF}]


async def test_a_tool_that_had_changed_nothing_leaves_nothing(office: Office) -> None:
    (office.root / "a.txt").write_text("before")
    await office.killed_during(lambda: None, path="a.txt")
    await office.killed_during(lambda: None, command="ls")
    desk = await office.next()
    assert {one["label"] for one in desk.listed()} == {"Before: Tidy up"}
    assert desk.unfinished() == []


async def test_what_a_living_process_is_doing_is_left_to_it(office: Office) -> None:
    one, other = office.desk(), office.desk()
    async with one.around(one.use("tool", command="make")):
        (office.root / "a.txt").write_text("by the first")
        await other.parts.recorder.finish_interrupted()
        assert other.unfinished() == ["scan"]
        assert len(other.listed()) == 1
    assert one.listed()[-1]["label"] == "tool make"


async def test_only_one_of_several_finishes_it(office: Office) -> None:
    await office.killed_during(lambda: (office.root / "a.txt").write_text("x"), command="make")
    desks = [office.desk() for _ in range(3)]
    await asyncio.gather(*(desk.parts.recorder.finish_interrupted() for desk in desks))
    await asyncio.gather(*(desk.parts.recorder.finish_interrupted() for desk in desks))
    assert len(desks[0].listed()) == 2
    assert desks[0].announced() == [one["id"] for one in desks[0].listed()]


async def test_looks_at_the_workspace_meanwhile_do_not_hide_what_changed(office: Office) -> None:
    """Those of the same process, and of another one that has looked before and looks again."""
    other = office.desk()
    (office.root / "a.txt").write_text("before")
    await other.parts.recorder.preview()
    desk = office.desk()
    await office.begin(desk, command="make")
    (office.root / "a.txt").write_text("first change")
    await desk.parts.recorder.preview()
    (office.root / "b.txt").write_text("second change")
    await other.parts.recorder.preview()
    office.kill(desk)
    (office.root / "b.txt").unlink()
    await other.parts.recorder.finish_interrupted()
    made = other.listed()[-1]
    assert made["files"] == [{"path": "a.txt", "change": "changed", "added": 1, "removed": 1}]
    await other.parts.undo.rollback(made["id"], overwrite=["a.txt"])
    assert other.text("a.txt") == "before"


async def test_a_folder_that_only_the_dead_had_seen(office: Office) -> None:
    other = office.desk()
    await other.parts.recorder.preview()
    folder = office.root / "folder"
    folder.mkdir()
    (folder / "x.txt").write_text("x")
    await office.killed_during(lambda: shutil.rmtree(folder), command="make")
    await other.parts.recorder.finish_interrupted()
    made = other.listed()[-1]
    assert [one["path"] for one in made["files"]] == ["folder", "folder/x.txt"]


async def test_a_tool_that_runs_elsewhere_has_changed_nothing_yet(office: Office) -> None:
    desk, other = office.desk(), office.desk(context="")
    (office.root / "a.txt").write_text("v1")
    made = await desk.write("a.txt", "v2")
    await office.begin(other, path="a.txt")
    assert (await desk.parts.undo.rollback(made)).restored == ["a.txt"]


async def test_what_was_there_before_is_not_swept_meanwhile(office: Office) -> None:
    file = office.root / "a.txt"
    file.write_text("before")
    await office.killed_during(lambda: file.write_text("half"), path="a.txt")
    store = CheckpointStore(office.folder / "data/checkpoints")
    sweep(store, grace=-1)
    store.close()
    desk = await office.next()
    await desk.parts.undo.rollback(desk.listed()[-1]["id"], overwrite=["a.txt"])
    assert file.read_text() == "before"


async def test_the_next_tool_comes_after_what_was_left(office: Office) -> None:
    file = office.root / "a.txt"
    file.write_text("before")
    await office.killed_during(lambda: file.write_text("half"), path="a.txt")
    desk = office.desk()
    await desk.write("a.txt", "whole")
    labels = [one["label"] for one in desk.listed()]
    assert labels == [
        *("Before: Tidy up", "tool a.txt (interrupted)"),
        *("Before: Tidy up", "update_file a.txt"),
    ]


async def test_unsaved_edits_in_a_tab_that_is_open_still_count(office: Office) -> None:
    (office.root / "nb.ipynb").write_text("saved")
    await office.killed_during(lambda: None, path="nb.ipynb")
    desk = office.desk()
    desk.tabs.unsaved["nb.ipynb"] = b"edited by the agent"
    await desk.parts.recorder.finish_interrupted()
    made = desk.listed()[-1]
    await desk.parts.undo.rollback(made["id"], overwrite=["nb.ipynb"])
    assert desk.tabs.unsaved["nb.ipynb"] == b"saved"


async def test_another_list_of_what_is_left_out_is_said(office: Office) -> None:
    await office.killed_during(lambda: (office.root / "a.txt").write_text("x"), command="make")
    desk = await office.next(checkpoint_exclude=("other",))
    made = desk.listed()[-1]
    assert (made["label"], made["files"]) == ("tool make (interrupted)", [])
    assert made["uncovered"][0] == {"path": "everything", "why": OTHER_RULES}


async def test_a_conversation_that_was_deleted_meanwhile(office: Office) -> None:
    await office.killed_during(lambda: (office.root / "a.txt").write_text("x"), command="make")
    desk = office.desk()
    desk.journal.store.delete_context(office.context)
    await desk.parts.recorder.finish_interrupted()
    assert desk.unfinished() == []
    assert desk.parts.lazy_store.state.store.checkpoints(desk.root)[1:] == []


async def test_a_rollback_that_was_cut_off_can_be_taken_back(office: Office) -> None:
    desk = office.desk()
    (office.root / "a.txt").write_text("v1")
    made = await desk.write("a.txt", "v2")
    changes = desk.parts.lazy_store.state.store.checkpoint(made).changes
    back = [type(one)(one.path, one.after, one.before) for one in changes]
    rollback = Checkpoint(
        desk.context, changes=back, label="Rolled back: it", reverts=[desk.job], is_undo=True
    )
    await desk.parts.recorder._writer.store(rollback)
    written_down = rollback.id
    (office.root / "a.txt").write_text("v1")
    office.kill(desk)
    desk = await office.next()
    assert (desk.listed()[-1]["id"], desk.listed()[-1]["label"]) == (
        written_down,
        "Rolled back: it",
    )
    assert (desk.listed()[-1]["reverts"], desk.listed()[-1]["is_undo"]) == (rollback.reverts, True)
    result = await desk.parts.undo.rollback(written_down)
    assert (result.restored, desk.text("a.txt")) == (["a.txt"], "v2")


async def test_a_checkpoint_that_fails_is_made_up_for_when_there_is_room_again(
    office: Office, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(self: WorkspaceState, **_: object) -> None:
        raise OSError(28, "No space left on device")

    desk = office.desk()
    async with desk.around(desk.use("tool", command="make")):
        (office.root / "a.txt").write_text("x")
        monkeypatch.setattr(WorkspaceState, "scan", full)
    (notice,) = desk.notices()
    assert notice == (
        "The changes of tool could not be recorded yet: [Errno 28] No space left on device"
    )
    await desk.parts.recorder.finish_interrupted()
    assert desk.unfinished() == ["scan"]
    assert "Cannot finish the checkpoint of tool yet" in caplog.text
    monkeypatch.undo()
    await desk.parts.recorder.finish_interrupted()
    assert desk.listed()[-1]["label"] == "tool make (interrupted)"
    events = desk.journal.store.events(desk.context)
    assert events[-1].type is EventType.CHECKPOINT_CREATED


async def test_nothing_is_opened_only_to_find_that_nothing_was_left(office: Office) -> None:
    desk = await office.next()
    assert desk.parts.lazy_store.is_empty
    assert not (office.folder / "data/checkpoints").exists()


async def test_a_store_from_before_this_is_brought_up_to_date(office: Office) -> None:
    desk = office.desk()
    made = await desk.write("a.txt", "x")
    connection = desk.parts.lazy_store.state.store.database._connection
    connection.execute("DROP TABLE unfinished")
    connection.execute("ALTER TABLE checkpoints DROP COLUMN doubted")
    connection.execute("PRAGMA user_version=1")
    office.kill(desk)
    desk = await office.next()
    version = desk.parts.lazy_store.state.store.database._connection.execute("PRAGMA user_version")
    assert version.fetchone()[0] == VERSION
    assert (await desk.parts.undo.rollback(made)).removed == ["a.txt"]
