"""What agents changed, seen and taken back over HTTP."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.scripted import ScriptedServer, call, text

from .api import Api
from .test_callers import AsKernel
from .test_callers import as_kernel as as_kernel
from .test_callers import kernels as kernels

pytestmark = pytest.mark.usefixtures("connected")

SHAPE = {"id", "created_at", "label", "tool", "step_id", "files", "uncovered"}


async def job(api: Api, scripted: ScriptedServer, context: str, *calls: Any) -> dict[str, Any]:
    """A job with these calls, once it is over, with all requests allowed."""
    scripted.add(*calls, text("Done."))
    sent = await api.post(f"context/{context}/messages", {"content": "Go."}, status=202)
    ended = asyncio.ensure_future(api.ended(sent["job_id"]))
    while not ended.done():
        waiting = (await api.get(f"context/{context}/permissions"))["items"]
        if waiting:
            ids = [one["id"] for one in waiting]
            await api.post("permissions", {"ids": ids, "decision": "allow"})
        await asyncio.wait([ended], timeout=0.02)
    assert (await ended)["status"] == "completed"
    return await ended


async def checkpoints(api: Api, context: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = (await api.get(f"context/{context}/checkpoints"))["items"]
    return items


Work = Callable[[], Awaitable[str]]


@pytest.fixture
def work(api: Api, scripted: ScriptedServer, jp_root_dir: Path) -> Work:
    """Makes a conversation in which three files are changed, and gives its id."""

    async def go() -> str:
        (jp_root_dir / "old.txt").write_text("one\ntwo\n")
        (jp_root_dir / "data.csv").write_text("x,y\n1,2\n")
        context = await api.new_context(role="actor")
        calls = (
            call("update_file", path="old.txt", old_text="two", new_text="2"),
            call("create_file", path="new/made.txt", content="made\n"),
            call("execute_command", command="echo 3,4 >> data.csv"),
        )
        await job(api, scripted, context, *calls)
        assert (jp_root_dir / "data.csv").read_text() == "x,y\n1,2\n3,4\n"
        return context

    return go


async def test_every_change_has_a_checkpoint(api: Api, work: Work) -> None:
    worked = await work()
    mark, updated, created, ran = await checkpoints(api, worked)
    assert set(mark) >= SHAPE
    assert (mark["label"], mark["tool"], mark["files"]) == ("Before: Go.", None, [])
    assert updated["tool"] == "update_file"
    change = {"path": "old.txt", "change": "changed", "added": 1, "removed": 1}
    assert (updated["files"], updated["changes"]) == (["old.txt"], [change])
    assert created["files"] == ["new", "new/made.txt"]
    assert ran["files"] == ["data.csv"]
    events = (await api.get(f"context/{worked}/events", timeout=0.1))["events"]
    announced = [one["data"] for one in events if one["type"] == "checkpoint-created"]
    assert [one["id"] for one in announced] == [one["id"] for one in (mark, updated, created, ran)]
    assert all(set(one) == SHAPE for one in announced)


async def test_the_diff_of_one_tool_and_of_everything(api: Api, work: Work) -> None:
    worked = await work()
    mark, updated, _, ran = await checkpoints(api, worked)
    one = await api.get(f"checkpoints/{updated['id']}/diff")
    (file,) = one["items"]
    assert (file["path"], file["status"], file["kind"]) == ("old.txt", "changed", "text")
    assert "-two\n+2\n" in file["diff"]
    assert (one["added"], one["removed"]) == (1, 1)
    everything = await api.get(f"checkpoints/{mark['id']}/diff")
    paths = [file["path"] for file in everything["items"]]
    assert paths == ["data.csv", "new", "new/made.txt", "old.txt"]
    table = everything["items"][0]
    assert (table["before"]["rows"], table["after"]["rows"]) == (1, 2)
    later = await api.get(f"checkpoints/{updated['id']}/diff", until=ran["id"])
    assert [file["path"] for file in later["items"]] == ["data.csv", "new", "new/made.txt"]


async def test_a_dry_run_then_the_rollback_then_its_undoing(
    api: Api, work: Work, jp_root_dir: Path
) -> None:
    worked = await work()
    mark = (await checkpoints(api, worked))[0]
    address = f"checkpoints/{mark['id']}/rollback"
    dry = await api.post(address, {"dry_run": True})
    assert dry["checkpoint_id"] is None
    assert (jp_root_dir / "new/made.txt").exists()
    done = await api.post(address)
    assert {key: done[key] for key in ("restored", "removed", "skipped")} == {
        "restored": ["data.csv", "old.txt"],
        "removed": ["new", "new/made.txt"],
        "skipped": [],
    }
    assert {**done, "checkpoint_id": None, "dry_run": True} == dry
    assert "kernels are not restored" in done["notes"][0]
    assert (jp_root_dir / "old.txt").read_text() == "one\ntwo\n"
    assert not (jp_root_dir / "new").exists()
    undone = await api.post(f"checkpoints/{done['checkpoint_id']}/rollback")
    assert undone["restored"] == ["data.csv", "new", "new/made.txt", "old.txt"]
    assert (jp_root_dir / "old.txt").read_text() == "one\n2\n"


async def test_the_run_says_that_it_was_rolled_back(api: Api, work: Work) -> None:
    """So does the agent's next turn: it would build on files that are gone."""
    worked = await work()
    mark = (await checkpoints(api, worked))[0]
    gone = "Rolled back. Restored: data.csv, old.txt. Removed: new, new/made.txt."
    back = "The rollback is undone. Restored: data.csv, new, new/made.txt, old.txt."
    latest = mark["id"]
    for expected in (gone, back, gone):
        done = await api.post(f"checkpoints/{latest}/rollback")
        latest = done["checkpoint_id"]
        said = (await api.get(f"context/{worked}/messages"))["items"][-1]
        assert (said["role"], said["job_id"]) == ("system", mark["job_id"])
        assert said["content"][0]["text"] == expected
        card = await api.get(f"jobs/{mark['job_id']}/card")
        assert card["card"]["snapshot"]["messages"][-1]["text"] == expected
        assert expected in card["markdown"]


async def test_what_the_user_changed_stays_unless_they_say_so(
    api: Api, work: Work, jp_root_dir: Path
) -> None:
    worked = await work()
    mark = (await checkpoints(api, worked))[0]
    address = f"checkpoints/{mark['id']}/rollback"
    (jp_root_dir / "old.txt").write_text("mine")
    done = await api.post(address, {"paths": ["old.txt"]})
    assert (done["restored"], done["checkpoint_id"]) == ([], None)
    assert done["skipped"][0]["path"] == "old.txt"
    assert "you have changed it" in done["skipped"][0]["why"]
    assert done["skipped"][0]["can_overwrite"] is True
    assert (jp_root_dir / "old.txt").read_text() == "mine"
    chosen = {"paths": ["old.txt"], "overwrite": ["old.txt"]}
    dry = await api.post(address, {**chosen, "dry_run": True})
    assert (dry["restored"], dry["skipped"]) == (["old.txt"], [])
    assert (jp_root_dir / "old.txt").read_text() == "mine"
    done = await api.post(address, chosen)
    assert done["restored"] == ["old.txt"]
    assert (jp_root_dir / "old.txt").read_text() == "one\ntwo\n"
    assert (jp_root_dir / "data.csv").read_text() == "x,y\n1,2\n3,4\n"
    await api.post(f"checkpoints/{done['checkpoint_id']}/rollback")
    assert (jp_root_dir / "old.txt").read_text() == "mine"


async def test_what_was_set_aside_comes_back(
    api: Api, scripted: ScriptedServer, jp_root_dir: Path
) -> None:
    (jp_root_dir / "make.sh").write_text("mkdir .vscode; echo mine > .vscode/tasks.json\n")
    context = await api.new_context(role="actor")
    await job(api, scripted, context, call("execute_command", command="sh make.sh"))
    assert not (jp_root_dir / ".vscode").exists()
    messages = (await api.get(f"context/{context}/messages"))["items"]
    (facts,) = [one["data"]["facts"] for one in messages if one["message_type"] == "tool_result"]
    assert facts["set_aside"]["paths"] == [".vscode"]
    address = f"context/{context}/set-aside/{facts['set_aside']['id']}/restore"
    assert await api.post(address) == {"restored": [".vscode"], "skipped": []}
    assert (jp_root_dir / ".vscode/tasks.json").read_text() == "mine\n"
    assert await api.post(address) == {"restored": [], "skipped": []}
    for unknown in (f"context/{context}/set-aside/x/restore", f"context/x{address[8:]}"):
        await api.post(unknown, status=404)


async def test_the_size_of_the_store_is_shown(api: Api, work: Work) -> None:
    empty = (await api.get(f"context/{await api.new_context()}/checkpoints"))["store"]
    assert (empty["bytes"], empty["oldest"]) == (0, None)
    before = int(time.time())
    store = (await api.get(f"context/{await work()}/checkpoints"))["store"]
    assert 0 < store["bytes"] < store["limit"] == empty["limit"]
    assert before <= datetime.fromisoformat(store["oldest"]).timestamp() <= time.time()


async def test_what_does_not_exist_or_make_sense(api: Api, work: Work) -> None:
    worked = await work()
    mark = (await checkpoints(api, worked))[0]
    await api.refused("GET", "checkpoints/nope/diff", status=404)
    await api.refused("POST", "checkpoints/nope/rollback", {}, status=404)
    await api.refused("GET", f"checkpoints/{mark['id']}/diff?until=nope", status=404)
    await api.refused("GET", f"checkpoints/{mark['id']}/diff?scope=all", status=422)
    for body in ({"path": "x"}, {"paths": "x"}, {"dry_run": "yes"}, {"scope": "all"}):
        await api.refused("POST", f"checkpoints/{mark['id']}/rollback", body, status=422)


async def test_a_kernel_may_look_at_and_take_back_only_what_is_its_own_users(
    api: Api, work: Work, as_kernel: AsKernel, jp_serverapp: Any
) -> None:
    worked = await work()
    extension = jp_serverapp.extension_manager.extension_apps["cowork_jupyter"].copy().pop()
    with extension.service.journal.transaction() as tx:
        tx.set_owner(worked, "")
    kernel = await as_kernel()
    mark = (await checkpoints(kernel, worked))[0]
    await kernel.get(f"checkpoints/{mark['id']}/diff")
    await kernel.post(f"checkpoints/{mark['id']}/rollback", {"dry_run": True})
    with extension.service.journal.transaction() as tx:
        tx.set_owner(worked, "somebody else")
    await kernel.refused("GET", f"checkpoints/{mark['id']}/diff", status=404)
    await kernel.refused("POST", f"checkpoints/{mark['id']}/rollback", {}, status=404)


async def test_what_a_command_could_ruin_is_on_the_card_before_it_runs(
    api: Api, scripted: ScriptedServer, jp_root_dir: Path
) -> None:
    (jp_root_dir / ".git").mkdir()
    context = await api.new_context(role="actor")
    scripted.add(call("execute_command", command="make"))
    sent = await api.post(f"context/{context}/messages", {"content": "Go."}, status=202)
    request = await api.first_request(context)
    assert request["uncovered"] == [".git (git's own data is never touched)"]
    await api.post(f"jobs/{sent['job_id']}/cancel")
