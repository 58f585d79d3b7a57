"""Checkpoints around tool calls, and what the user can do with them afterwards."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from cowork_jupyter.checkpoints import Checkpoints, ToolUse, create_checkpoints
from cowork_jupyter.checkpoints import writer as writers
from cowork_jupyter.checkpoints.entries import Snapshot
from cowork_jupyter.checkpoints.objects import LARGE
from cowork_jupyter.checkpoints.store import CheckpointStore, verify
from cowork_jupyter.checkpoints.undo import KERNELS
from cowork_jupyter.checkpoints.workspace_state import WorkspaceState
from cowork_jupyter.domain.contexts import Context, Job, JobStatus
from cowork_jupyter.domain.errors import Conflict, NotFound, Unavailable
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import Message, TextPart
from cowork_jupyter.domain.roles import Permission
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.record.changes import compare
from cowork_jupyter.store import Store, StoreError
from cowork_jupyter.store.journal import Journal

pytestmark = pytest.mark.asyncio

WRITES = frozenset({Permission.READ_FILES, Permission.WRITE_FILES})
RUNS = frozenset({Permission.EXECUTE_COMMANDS})


class Tabs:
    """Documents open in a browser."""

    def __init__(self) -> None:
        self.unsaved: dict[str, bytes] = {}
        self.elsewhere: set[str] = set()

    def is_open(self, path: str) -> bool:
        return path in self.unsaved

    async def read_unsaved(self, path: str) -> bytes | None:
        return self.unsaved.get(path)

    async def write(self, path: str, present: bytes | None, content: bytes) -> bool:
        if path not in self.unsaved:
            return False
        self.unsaved[path] = content
        return True

    async def is_open_elsewhere(self, path: str) -> bool:
        return path in self.elsewhere


class Desk:
    """A workspace whose tools are recorded."""

    def __init__(self, folder: Path, context: str = "", **changes: Any) -> None:
        self.root = folder / "workspace"
        self.root.mkdir(exist_ok=True)
        settings = Settings(workspace=self.root, data_dir=folder / "data", **changes)
        store = Store(settings.database)
        self.journal = Journal(lambda: store)
        self.context = context or store.save_context(Context()).id
        self.tabs = Tabs()
        self.parts: Checkpoints = create_checkpoints(settings, self.journal, compare, self.tabs)
        self.job = self.new_job()

    async def close(self) -> None:
        await self.parts.close()
        self.journal.store.close()

    def new_job(self, goal: str = "Tidy up", card_id: str = "") -> str:
        status = JobStatus.COMPLETED
        job = Job(context_id=self.context, status=status, request=goal, card_id=card_id)
        message = Message(
            context_id=self.context, job_id=job.id, role="user", content=[TextPart(text=goal)]
        )
        with self.journal.transaction() as tx:
            tx.save_job(job)
            tx.append_message(message)
        self.job = job.id
        return job.id

    def looks(self) -> ToolUse:
        """Of a tool that changes nothing."""
        permissions = frozenset({Permission.READ_FILES})
        return ToolUse(self.context, self.job, None, None, "read_file", permissions, {"path": "a"})

    def use(self, tool: str = "update_file", task: str | None = None, **parameters: Any) -> ToolUse:
        permissions = RUNS if "command" in parameters else WRITES
        step = f"step of {task}" if task else None
        return ToolUse(self.context, self.job, task, step, tool, permissions, parameters)

    @asynccontextmanager
    async def around(self, use: ToolUse) -> AsyncIterator[None]:
        """A tool, until what it did is recorded."""
        async with self.parts.recorder.around(use):
            yield
        await self.parts.recorder.settle()

    async def run(self, command: str, work: Callable[[], object] = lambda: None) -> None:
        """As execute_command would."""
        async with self.around(self.use("execute_command", command=command)):
            work()

    async def write(self, path: str, content: str, task: str | None = None) -> str:
        """As update_file would; gives the checkpoint's id."""
        async with self.around(self.use(path=path, task=task)):
            place = self.root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(content)
        return str(self.listed()[-1]["id"])

    def unfinished(self) -> list[str]:
        """The phases of checkpoints that are not finished."""
        with self.parts.lazy_store.state.store.database.reading() as connection:
            return [row[0] for row in connection.execute("SELECT phase FROM unfinished")]

    def listed(self) -> list[dict[str, Any]]:
        found = self.journal.store.checkpoints(self.context)
        return [{"id": one.id, **one.data} for one in found]

    def announced(self) -> list[str]:
        events = self.journal.store.events(self.context)
        return [
            one.data.model_dump()["id"]
            for one in events
            if one.type is EventType.CHECKPOINT_CREATED
        ]

    def notices(self) -> list[str]:
        events = self.journal.store.events(self.context)
        return [
            event.data.model_dump()["message"] for event in events if event.type is EventType.NOTICE
        ]

    def text(self, path: str) -> str:
        return (self.root / path).read_text()


@pytest_asyncio.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    made = Desk(tmp_path)
    yield made
    await made.close()


async def test_a_file_tool_records_exactly_its_file(desk: Desk) -> None:
    (desk.root / "a.txt").write_text("one\ntwo\n")
    (desk.root / "other.txt").write_text("other")
    async with desk.around(desk.use(path="./a.txt", task="t1")):
        (desk.root / "a.txt").write_text("one\n2\nthree\n")
        (desk.root / "other.txt").write_text("the user types")
    mark, made = desk.listed()
    assert mark["label"] == "Before: Tidy up"
    assert mark["files"] == []
    assert (made["label"], made["tool"]) == ("update_file ./a.txt", "update_file")
    assert made["step_id"] == "step of t1"
    assert made["files"] == [{"path": "a.txt", "change": "changed", "added": 2, "removed": 1}]


async def test_it_is_announced_as_the_contract_shows_it(desk: Desk) -> None:
    await desk.write("a.txt", "a\n")
    events = desk.journal.store.events(desk.context)
    announced = [one for one in events if one.type is EventType.CHECKPOINT_CREATED]
    assert [one.job_id for one in announced] == [desk.job, desk.job]
    assert set(announced[-1].data.model_dump()) == {
        *("id", "created_at", "label", "tool", "step_id", "files", "uncovered")
    }


async def test_a_command_is_covered_by_a_look_at_everything(desk: Desk) -> None:
    (desk.root / "data.csv").write_text("a,b\n1,2\n")
    async with desk.around(desk.use("execute_command", command="make")):
        (desk.root / "data.csv").write_text("a,b\n1,3\n")
        (desk.root / "out").mkdir()
        (desk.root / "out/plot.png").write_bytes(bytes(10))
    changed = {one["path"]: one["change"] for one in desk.listed()[-1]["files"]}
    assert changed == {"data.csv": "changed", "out": "added", "out/plot.png": "added"}


async def test_tools_that_only_look_leave_no_trace(desk: Desk) -> None:
    async with desk.around(desk.looks()):
        (desk.root / "a.txt").write_text("by the user")
    assert desk.listed() == []
    assert desk.parts.lazy_store.is_empty


async def test_a_tool_that_changed_nothing_leaves_only_the_place_before_its_job(desk: Desk) -> None:
    await desk.run("ls")
    assert [one["label"] for one in desk.listed()] == ["Before: Tidy up"]
    assert len(desk.parts.lazy_store.state.store.checkpoints(desk.root)) == 1
    assert desk.unfinished() == []


async def test_a_tool_that_names_no_file_is_covered_like_a_command(desk: Desk) -> None:
    async with desk.around(desk.use("mcp_tool", where="somewhere")):
        (desk.root / "made.txt").write_text("x")
    assert [one["path"] for one in desk.listed()[-1]["files"]] == ["made.txt"]


async def test_a_symlink_is_recorded_with_what_it_leads_to(desk: Desk) -> None:
    (desk.root / "real.txt").write_text("before")
    (desk.root / "link.txt").symlink_to("real.txt")
    async with desk.around(desk.use(path="link.txt")):
        (desk.root / "real.txt").write_text("after")
    made = desk.listed()[-1]
    assert [one["path"] for one in made["files"]] == ["real.txt"]
    await desk.parts.undo.rollback(made["id"])
    assert desk.text("real.txt") == "before"


async def test_what_a_failed_or_cancelled_tool_did_is_recorded_too(desk: Desk) -> None:
    (desk.root / "a.txt").write_text("before")

    async def broken_tool() -> None:
        async with desk.around(desk.use(path="a.txt")):
            (desk.root / "a.txt").write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await broken_tool()
    assert len(desk.listed()) == 2
    began = asyncio.Event()

    async def long_command() -> None:
        async with desk.around(desk.use("execute_command", command="make")):
            (desk.root / "b.txt").write_text("half")
            began.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(long_command())
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await desk.parts.recorder.settle()
    assert [one["path"] for one in desk.listed()[-1]["files"]] == ["b.txt"]


async def test_a_tool_whose_checkpoint_cannot_be_taken_does_not_run(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: WorkspaceState, paths: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(WorkspaceState, "capture", full)
    ran = False
    with pytest.raises(Unavailable, match="disk is full") as failure:
        async with desk.around(desk.use(path="a.txt")):
            ran = True
    assert not ran
    assert (failure.value.code, failure.value.retryable) == ("no_checkpoint", False)


async def test_a_checkpoint_that_fails_afterwards_is_told(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(self: object, *_: object) -> None:
        raise OSError(28, "No space left on device")

    async with desk.around(desk.use(path="a.txt")):
        (desk.root / "a.txt").write_text("x")
        monkeypatch.setattr(WorkspaceState, "capture", full)
    (notice,) = desk.notices()
    assert "No space left on device" in notice
    assert "No checkpoint of update_file" in caplog.text


# In the background


class Scans:
    """Looks at the workspace, which wait while they are told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.began, self._may_go_on = threading.Event(), threading.Event()
        self.count = 0
        self.go_on()
        scan = WorkspaceState.scan

        def waiting(state: WorkspaceState, **options: bool) -> Snapshot:
            self.count += 1
            self.began.set()
            assert self._may_go_on.wait(300)  # said by the loop, which must be free to do so
            return scan(state, **options)

        monkeypatch.setattr(WorkspaceState, "scan", waiting)

    def hold(self) -> None:
        self.began.clear()
        self._may_go_on.clear()

    def go_on(self) -> None:
        self._may_go_on.set()

    async def one_begins(self) -> None:
        assert await asyncio.to_thread(self.began.wait, 300)


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scans]:
    made = Scans(monkeypatch)
    yield made
    made.go_on()


async def is_still_waiting(task: asyncio.Task[Any]) -> bool:
    """Whether it has not ended although it had some time; one that should wait never does."""
    await asyncio.wait([task], timeout=0.1)
    return not task.done()


async def test_a_result_need_not_wait_for_the_look_at_what_the_command_did(
    desk: Desk, scans: Scans
) -> None:
    recorder, job = desk.parts.recorder, desk.job
    other = desk.new_job("Something else")
    await desk.write("a.txt", "a")
    desk.job = job
    async with recorder.around(desk.use("execute_command", command="make")):
        (desk.root / "made.txt").write_text("x")
        scans.hold()
    await scans.one_begins()  # and we are here
    async with recorder.around(desk.looks()):
        pass  # who only looks does not wait
    desk.job = other
    changing = asyncio.create_task(desk.write("b.txt", "b"))
    assert await is_still_waiting(changing)
    assert not (desk.root / "b.txt").exists()
    assert desk.listed()[-1]["label"] == "Before: Tidy up"
    scans.go_on()
    await changing
    labels = [one["label"] for one in desk.listed()]
    assert labels[-2:] == ["execute_command make", "update_file b.txt"]


async def test_a_job_ends_when_all_is_recorded_also_if_it_is_cancelled(
    desk: Desk, scans: Scans
) -> None:
    recorder, use = desk.parts.recorder, desk.use("execute_command", command="make")
    made = asyncio.Event()

    async def job() -> None:
        async with recorder.during(desk.job, RUNS), recorder.around(use):
            (desk.root / "made.txt").write_text("x")
            scans.hold()
            made.set()

    running = asyncio.create_task(job())
    await made.wait()
    await scans.one_begins()
    assert await is_still_waiting(running)
    running.cancel()
    assert await is_still_waiting(running)
    scans.go_on()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert desk.listed()[-1]["label"] == "execute_command make"


async def test_a_job_begins_with_a_look_that_only_changing_tools_wait_for(
    desk: Desk, scans: Scans
) -> None:
    recorder = desk.parts.recorder
    scans.hold()
    async with recorder.during(desk.job, WRITES):
        await scans.one_begins()
        async with recorder.around(desk.looks()):
            pass
        assert desk.listed() == []
        changing = asyncio.create_task(desk.write("a.txt", "a"))
        assert await is_still_waiting(changing)
        assert not (desk.root / "a.txt").exists()
        scans.go_on()
        await changing
    assert [one["label"] for one in desk.listed()] == ["Before: Tidy up", "update_file a.txt"]
    assert scans.count == 1


async def test_who_cannot_change_anything_looks_at_nothing(desk: Desk, scans: Scans) -> None:
    recorder, use = desk.parts.recorder, desk.looks()
    async with recorder.during(desk.job, use.permissions), recorder.around(use):
        pass
    assert (scans.count, desk.listed()) == (0, [])


async def test_a_job_that_changes_nothing_does_not_wait_for_the_look_before_it(
    desk: Desk, scans: Scans
) -> None:
    scans.hold()
    async with desk.parts.recorder.during(desk.job, RUNS):
        await scans.one_begins()
    assert desk.listed() == []


async def test_several_tools_at_once_have_one_place_before_their_job(desk: Desk) -> None:
    await asyncio.gather(*(desk.write(f"{name}.txt", name) for name in "abc"))
    labels = [one["label"] for one in desk.listed()]
    assert labels[0] == "Before: Tidy up"
    assert sorted(labels[1:]) == [f"update_file {name}.txt" for name in "abc"]


async def test_who_is_cancelled_before_the_tool_runs_leaves_nothing_open(
    desk: Desk, scans: Scans
) -> None:
    await desk.run("ls")
    scans.hold()
    running = asyncio.create_task(desk.run("make"))
    await scans.one_begins()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    scans.go_on()
    assert desk.unfinished() == []


async def test_a_look_before_a_job_ends_with_the_service(tmp_path: Path, scans: Scans) -> None:
    desk = Desk(tmp_path)
    scans.hold()
    async with desk.parts.recorder.during(desk.job, RUNS):
        await scans.one_begins()
    closing = asyncio.create_task(desk.close())
    while not desk.parts.lazy_store._closed:
        await asyncio.sleep(0.001)
    scans.go_on()
    await asyncio.wait_for(closing, 60)
    with pytest.raises(Unavailable, match="closed"):
        await desk.parts.recorder.preview()


async def test_what_is_not_covered_is_known_before_and_said_after(tmp_path: Path) -> None:
    desk = Desk(tmp_path, checkpoint_file_limit=LARGE)
    (desk.root / "model.bin").write_bytes(bytes(LARGE + 1))
    (desk.root / ".git").mkdir()
    before = [one.path for one in await desk.parts.recorder.preview()]
    assert before == [".git", "model.bin"]
    async with desk.around(desk.use("execute_command", command="train")):
        (desk.root / "model.bin").write_bytes(b"new")
    (changed,) = desk.listed()[-1]["files"]
    assert changed["path"] == "model.bin"
    result = await desk.parts.undo.rollback(desk.listed()[0]["id"])
    assert "was not kept" in result.skipped[0].why
    await desk.close()


async def test_a_large_file_is_kept_when_a_tool_names_it(tmp_path: Path) -> None:
    desk = Desk(tmp_path, checkpoint_file_limit=10)
    (desk.root / "large.bin").write_bytes(bytes(LARGE + 1))
    await desk.write("large.bin", "small")
    await desk.parts.undo.rollback(desk.listed()[0]["id"])
    assert (desk.root / "large.bin").read_bytes() == bytes(LARGE + 1)
    await desk.close()


# Going back


async def test_back_to_before_the_job(desk: Desk) -> None:
    (desk.root / "a.txt").write_text("v1\n")
    await desk.write("a.txt", "v2\n")
    await desk.write("b.txt", "b\n")
    await desk.write("a.txt", "v3\n")
    mark = desk.listed()[0]["id"]
    result = await desk.parts.undo.rollback(mark)
    assert (result.restored, result.removed, result.skipped) == (["a.txt"], ["b.txt"], [])
    assert result.notes == [KERNELS]
    assert desk.text("a.txt") == "v1\n"
    assert not (desk.root / "b.txt").exists()
    undone = desk.listed()[-1]
    assert undone["id"] == result.checkpoint_id
    assert undone["label"] == "Rolled back: Before: Tidy up"
    assert result.checkpoint_id
    again = await desk.parts.undo.rollback(result.checkpoint_id)
    assert (again.restored, again.removed) == (["a.txt", "b.txt"], [])
    assert desk.text("a.txt") == "v3\n"


async def test_a_dry_run_changes_nothing_and_tells_the_same(desk: Desk) -> None:
    (desk.root / "a.txt").write_text("v1")
    made = await desk.write("a.txt", "v2")
    before = desk.listed()
    dry = await desk.parts.undo.rollback(made, dry_run=True)
    assert (dry.restored, dry.checkpoint_id, dry.dry_run) == (["a.txt"], None, True)
    assert desk.text("a.txt") == "v2"
    assert desk.listed() == before
    assert (await desk.parts.undo.rollback(made)).restored == dry.restored


async def test_one_tool_one_step_one_job_one_card_or_everything_since(desk: Desk) -> None:
    first_job = desk.job
    one = await desk.write("1.txt", "x", task="A")
    await desk.write("2.txt", "x", task="A")
    await desk.write("3.txt", "x", task="B")
    desk.new_job("More")
    four = await desk.write("4.txt", "x", task="C")
    desk.new_job("Further, on the first card", card_id=first_job)
    await desk.write("5.txt", "x")
    dry: dict[str, list[str]] = {}
    for scope in ("this", "step", "job", "card", "since"):
        result = await desk.parts.undo.rollback(one, scope=scope, dry_run=True)
        dry[scope] = result.removed
        diff = await desk.parts.undo.diff(one, scope)
        assert [item.path for item in diff.items] == result.removed
    assert dry == {
        "this": ["1.txt"],
        "step": ["1.txt", "2.txt"],
        "job": ["1.txt", "2.txt", "3.txt"],
        "card": ["1.txt", "2.txt", "3.txt", "5.txt"],
        "since": ["1.txt", "2.txt", "3.txt", "4.txt", "5.txt"],
    }
    between = await desk.parts.undo.diff(one, until=four)
    assert [item.path for item in between.items] == ["2.txt", "3.txt", "4.txt"]
    assert [item.path for item in (await desk.parts.undo.diff(four, until=one)).items] == [
        *("2.txt", "3.txt", "4.txt")
    ]
    assert desk.job != first_job


async def test_some_paths_however_they_are_written(desk: Desk) -> None:
    await desk.write("d/a.txt", "x")
    await desk.write("d/b.txt", "x")
    mark = desk.listed()[0]["id"]
    result = await desk.parts.undo.rollback(mark, paths=["./d/a.txt"])
    assert result.removed == ["d/a.txt"]
    result = await desk.parts.undo.rollback(mark, paths=["d/"])
    assert result.removed == ["d", "d/b.txt"]


async def test_a_rollback_that_a_full_disk_refuses_says_so_and_touches_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_given: object, **_more: object) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorname = "SQLITE_FULL"
        raise error

    made = await desk.write("a.txt", "x")
    monkeypatch.setattr(CheckpointStore, "record", full)
    with pytest.raises(StoreError, match="disk is full") as refused:
        await desk.parts.undo.rollback(made)
    assert (refused.value.code, refused.value.retryable) == ("store_full", True)
    assert (desk.root / "a.txt").read_text() == "x"


async def test_no_rollback_while_a_job_runs(desk: Desk) -> None:
    made = await desk.write("a.txt", "x")
    with desk.journal.transaction() as tx:
        tx.save_job(Job(context_id=desk.context, status=JobStatus.RUNNING))
    with pytest.raises(Conflict) as refused:
        await desk.parts.undo.rollback(made)
    assert refused.value.code == "job_running"
    assert desk.text("a.txt") == "x"


async def test_an_unknown_checkpoint(desk: Desk) -> None:
    for work in (desk.parts.undo.rollback("nope"), desk.parts.undo.diff("nope")):
        with pytest.raises(NotFound):
            await work


async def test_names_that_are_no_utf8_can_be_named_as_they_are_shown(desk: Desk) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    async with desk.around(desk.use("execute_command", command="x")):
        (desk.root / name).write_text("x")
    made = desk.listed()[-1]
    shown = made["files"][0]["path"]
    json.dumps(shown).encode()
    assert (await desk.parts.undo.diff(made["id"])).items[0].path == shown
    assert (await desk.parts.undo.rollback(made["id"], paths=[shown])).removed == [shown]
    assert not (desk.root / name).exists()


# Open documents


async def test_unsaved_edits_in_an_open_tab_are_part_of_the_checkpoint(desk: Desk) -> None:
    (desk.root / "nb.ipynb").write_text("saved")
    desk.tabs.unsaved["nb.ipynb"] = b"unsaved words of the user"
    async with desk.around(desk.use("edit_cell", path="nb.ipynb")):
        desk.tabs.unsaved["nb.ipynb"] = b"edited by the agent"
    made = desk.listed()[-1]["id"]
    result = await desk.parts.undo.rollback(made)
    assert result.restored == ["nb.ipynb"]
    assert desk.tabs.unsaved["nb.ipynb"] == b"unsaved words of the user"
    assert desk.text("nb.ipynb") == "saved"  # never written under the open document
    assert result.checkpoint_id
    await desk.parts.undo.rollback(result.checkpoint_id)
    assert desk.tabs.unsaved["nb.ipynb"] == b"edited by the agent"


# Housekeeping


async def test_past_the_limit_the_oldest_go_from_the_list_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writers, "TIDY_EVERY", 1000)
    desk = Desk(tmp_path)
    for number in range(6):
        async with desk.around(desk.use(path="a.bin")):
            (desk.root / "a.bin").write_bytes(os.urandom(LARGE) + bytes([number]))
    before = [one["id"] for one in desk.listed()]
    store = desk.parts.lazy_store.state.store
    store.database._connection.execute("UPDATE objects SET seen=0")
    store.limits = type(store.limits)(total=store.objects.used() - 2 * LARGE)
    await desk.parts.recorder._writer.tidy()
    after = [one["id"] for one in desk.listed()]
    assert after == before[-len(after) :]
    assert 0 < len(after) < len(before)
    assert (await desk.parts.undo.rollback(after[-1])).restored == ["a.bin"]
    use = await desk.parts.lazy_store.use()
    assert use.bytes <= store.limits.total + LARGE
    assert verify(desk.parts.lazy_store.state.store).problems == []
    await desk.close()


async def test_a_deleted_conversation_takes_its_checkpoints_along(desk: Desk) -> None:
    made = await desk.write("a.txt", "x")
    await desk.parts.lazy_store.forget_context(desk.context)
    with pytest.raises(NotFound, match="no longer kept"):
        await desk.parts.undo.rollback(made)


async def test_our_own_records_in_the_workspace_are_left_out(tmp_path: Path) -> None:
    home = tmp_path / "workspace"
    home.mkdir()
    settings = Settings(workspace=home, data_dir=home / ".local/share/jupyter/cowork")
    store = Store(settings.database)
    parts = create_checkpoints(settings, Journal(lambda: store), compare)
    paths = {one.path for one in await parts.recorder.preview()}
    assert paths == {".local/share/jupyter/cowork"}
    parts.lazy_store.close()
    store.close()
