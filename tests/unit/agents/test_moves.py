"""Files that the user renames or moves while there is still something to be done with them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from cowork_jupyter.agents.ask.user import PermissionRequest, Ruling
from cowork_jupyter.agents.log import RunLog
from cowork_jupyter.domain.contexts import Context, JobStatus
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.identity import now
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.store import PlanRevision
from cowork_jupyter.workspace import fingerprint
from tests.scripted import Scripted, ScriptedServer, call, stall, text
from tests.scripted.server import last_words

from .conftest import Bench
from .helpers import ended, eventually

pytestmark = pytest.mark.asyncio

DRAFT = {"action": "Change draft.txt", "tools_needed": ["update_file"], "files": ["draft.txt"]}
CHANGE = call("update_file", path="final.txt", old_text="one", new_text="two")
CHANGE_DRAFT = call("update_file", path="draft.txt", old_text="one", new_text="two")


class Nobody:
    """Allows nothing: what a test does must be granted."""

    asked: int = 0

    async def decide(self, _request: PermissionRequest, _log: RunLog) -> Ruling:
        self.asked += 1
        return Ruling(decision="deny")


def make_plan(bench: Bench, *steps: dict[str, Any]) -> str:
    made = Plan.model_validate({"goal": "g", "steps": list(steps)})
    read = {"draft.txt": fingerprint(bench.service.factory.tools.workspace, "draft.txt")}
    revision = PlanRevision(context_id=bench.context.id, plan=made, files_read=read)
    with bench.service.journal.transaction() as tx:
        tx.save_plan(revision)
    return revision.plan_id


def files(bench: Bench, plan_id: str | None = None) -> list[list[str]]:
    revision = bench.service.plans.find(bench.context.id, plan_id)
    assert revision
    return [step.files for step in revision.plan.steps]


async def rename(bench: Bench, old: str, new: str) -> None:
    (bench.workspace / new).parent.mkdir(exist_ok=True)
    (bench.workspace / old).rename(bench.workspace / new)
    await bench.service.move_file(old, new)


@pytest.fixture(autouse=True)
def draft(bench: Bench) -> None:
    (bench.workspace / "draft.txt").write_text("one\n")


async def test_conversations_and_runs_go_along_with_their_notebook(
    bench: Bench, scripted: ScriptedServer
) -> None:
    service = bench.service
    moved, other, gone = (
        service.conversations.create(notebook=one) for one in ("n.ipynb", "nn.ipynb", "new/m.ipynb")
    )
    scripted.add(text("Hello."))
    job = service.send_message(moved.id, "Hello").job_id
    await service.jobs.wait(job or "")
    (bench.workspace / "n.ipynb").write_text("{}")
    await rename(bench, "n.ipynb", "new/m.ipynb")
    await rename(bench, "new", "newer")
    assert service.conversations.get(moved.id).notebook == "newer/m.ipynb"
    assert service.jobs.get(job or "").notebook == "newer/m.ipynb"
    assert service.conversations.get(other.id).notebook == "nn.ipynb"
    assert service.conversations.get(gone.id).notebook is None, (
        "its notebook had been deleted before"
    )
    told = [one.data.model_dump() for one in service.journal.store.events(moved.id, 0)]
    assert {"old": "n.ipynb", "new": "new/m.ipynb"} in told
    assert service.journal.store.events(other.id, 0) == []


async def test_a_plan_that_waits_is_carried_out_on_the_new_name(
    bench: Bench, scripted: ScriptedServer
) -> None:
    user = bench.service.factory.tools.gate.approver = Nobody()
    plan_id = make_plan(bench, DRAFT, {"action": "Look", "files": ["a.py"]})
    make_plan(bench, {"action": "Something else"})
    await rename(bench, "draft.txt", "final.txt")
    assert files(bench, plan_id) == [["final.txt"], ["a.py"]]
    shown = [one.data.model_dump() for one in bench.events(EventType.PLAN_UPDATE)]
    (steps,) = [one["steps"] for one in shown if one["id"] == plan_id]
    assert steps[0]["files"] == ["final.txt"]
    revision = bench.service.plans.find(bench.context.id, plan_id)
    assert revision
    assert bench.service.plans.stale_files(revision) == []
    scripted.add(CHANGE, text("Changed it."), text("Looked."))
    job = await bench.service.execute_plan(bench.context.id, 1, plan_id=plan_id)
    assert (await ended(bench, job.id)).status is JobStatus.COMPLETED
    assert user.asked == 0, "approving the plan has granted it"
    assert (bench.workspace / "final.txt").read_text() == "two\n"
    told = last_words(scripted.requests[0].body, "user")
    assert "The user has renamed draft.txt to final.txt since." in told
    assert "Files it was approved for: final.txt" in told
    audit = await bench.service.audit(bench.context.id, job.id)
    assert [step.deviations for step in audit.steps] == [[], []]


async def test_a_plan_that_was_stopped_goes_on_with_the_new_name(
    bench: Bench, scripted: ScriptedServer
) -> None:
    user = bench.service.factory.tools.gate.approver = Nobody()
    again = {**DRAFT, "action": "Change it again"}
    make_plan(bench, DRAFT, again)
    scripted.add(CHANGE_DRAFT, text("Changed it."), stall())
    job = await bench.service.execute_plan(bench.context.id, 1)
    await eventually(lambda: len(scripted.requests) == 3)
    await bench.service.jobs.cancel(job.id)
    await rename(bench, "draft.txt", "final.txt")
    change = call("update_file", path="final.txt", old_text="two", new_text="three")
    scripted.add(change, text("Changed it again."))
    bench.service.plans.resume(job.id)
    assert (await ended(bench, job.id)).status is JobStatus.COMPLETED
    assert (bench.workspace / "final.txt").read_text() == "three\n"
    assert (files(bench), user.asked) == ([["final.txt"], ["final.txt"]], 0)
    audit = await bench.service.audit(bench.context.id, job.id)
    assert [step.actual.files for step in audit.steps] == [["final.txt"], ["final.txt"]]
    assert [step.deviations for step in audit.steps] == [[], []]


async def test_an_agent_at_work_is_told_the_new_name_and_makes_nothing_under_the_old_one(
    bench: Bench,
) -> None:
    user = bench.service.factory.tools.gate.approver = Nobody()
    replies = iter(
        [
            call("read_file", path="draft.txt"),
            CHANGE_DRAFT,
            call("create_file", path="draft.txt", content="anew\n"),
            CHANGE,
            text("Changed it."),
        ]
    )
    may_go_on = asyncio.Event()
    loop = asyncio.get_running_loop()

    def answer(_body: dict[str, Any]) -> Scripted:
        reply = next(replies)
        if reply is CHANGE_DRAFT:  # the user renames it while the model thinks
            asyncio.run_coroutine_threadsafe(may_go_on.wait(), loop).result(60)
        return reply

    make_plan(bench, DRAFT)
    with ScriptedServer(answer) as model:
        bench.connect(model.base_url)
        job = await bench.service.execute_plan(bench.context.id, 1)
        await eventually(lambda: len(model.requests) == 2)
        await rename(bench, "draft.txt", "final.txt")
        may_go_on.set()
        assert (await ended(bench, job.id)).status is JobStatus.COMPLETED
    codes = [one["error"]["code"] if one["error"] else "" for one in bench.results()]
    assert codes == ["", "renamed", "renamed", ""]
    assert "renamed 'draft.txt' to 'final.txt'" in bench.results()[1]["summary"]
    assert (bench.workspace / "final.txt").read_text() == "two\n"
    assert not (bench.workspace / "draft.txt").exists()
    assert (files(bench), user.asked) == ([["final.txt"]], 0)


async def test_a_later_job_may_use_the_old_name_for_something_new(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(text("Hello."))
    await bench.tell("Hello")
    notebook = bench.context.model_copy(update={"notebook": "draft.txt"})
    bench.service.journal.store.save_context(notebook)
    await rename(bench, "draft.txt", "final.txt")
    moved = bench.events(EventType.FILE_MOVED)[-1].created_at
    await eventually(lambda: now() > moved)  # times are told to the millisecond
    scripted.add(CHANGE_DRAFT, call("create_file", path="draft.txt", content="anew\n"), text("Ok."))
    await bench.tell("Begin anew")
    changed, created = bench.results()
    assert (changed["error"]["code"], created["ok"]) == ("renamed", True)
    assert (bench.workspace / "draft.txt").read_text() == "anew\n"


async def test_the_notebook_of_an_agent_at_work_is_the_one_it_is_called_now(bench: Bench) -> None:
    service = bench.service
    context = service.conversations.create(notebook="old.ipynb")
    log = RunLog(service.journal, context.id, "job", context.role)
    await service.move_file("old.ipynb", "new.ipynb")
    assert log.notebook == "new.ipynb"


async def test_what_was_changed_goes_back_under_the_new_name(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(CHANGE_DRAFT, text("Changed it."))
    await bench.tell("Change it")
    (bench.workspace / "docs").mkdir()
    await rename(bench, "draft.txt", "docs/final.txt")
    await rename(bench, "docs", "papers")
    taken = (await bench.service.checkpoints.listing(bench.context.id))[-1]
    diff = await bench.service.checkpoints.undo.diff(taken.id)
    assert [one.path for one in diff.items] == ["papers/final.txt"]
    result = await bench.service.checkpoints.undo.rollback(taken.id)
    assert (result.restored, result.skipped) == (["papers/final.txt"], [])
    assert (bench.workspace / "papers/final.txt").read_text() == "one\n"
    assert not (bench.workspace / "draft.txt").exists()


async def test_a_plan_in_another_conversation_hears_of_it_too(bench: Bench) -> None:
    elsewhere = Context(notebook="other.ipynb")
    bench.service.journal.store.save_context(elsewhere)
    make_plan(bench, DRAFT)
    await rename(bench, "draft.txt", "final.txt")
    assert files(bench) == [["final.txt"]]
    assert bench.service.journal.store.events(elsewhere.id, 0) == []
