"""Agents of others as sub-agents: what they ask of us is held to the role that they work under."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
import pytest_asyncio

from cowork_jupyter.agents.ask.user import PermissionRequest, Ruling
from cowork_jupyter.agents.log import RunLog
from cowork_jupyter.agents.run.budget import JobBudget
from cowork_jupyter.agents.run.limits import GO_ON, STOP
from cowork_jupyter.domain.contexts import Job, JobStatus
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.domain.team import rights_of
from cowork_jupyter.parts.external_agents import run
from cowork_jupyter.parts.external_agents.configured import ConfiguredAgents
from cowork_jupyter.parts.external_agents.run import ExternalTask
from tests.scripted import ScriptedServer, call, plan, text
from tests.scripted.fixtures import scripted as scripted
from tests.unit.agents.conftest import Bench, make_bench
from tests.unit.agents.conftest import settings as settings
from tests.unit.conftest import clean_environment as clean_environment

from . import foreign
from .published import Conversation

pytestmark = pytest.mark.asyncio


class Approver:
    """Allows what it is asked about, and remembers it."""

    def __init__(self) -> None:
        self.asked: list[PermissionRequest] = []

    async def decide(self, request: PermissionRequest, _log: RunLog) -> Ruling:
        self.asked.append(request)
        return Ruling(decision="allow")


@pytest.fixture
def frames(tmp_path: Path) -> Path:
    """In the folder that is the foreigner's own."""
    return tmp_path / "foreigner" / "frames.jsonl"


@pytest.fixture
def approver() -> Approver:
    return Approver()


@pytest_asyncio.fixture
async def bench(settings: Settings, frames: Path, approver: Approver) -> AsyncIterator[Bench]:
    """A service whose user has an agent called `foreigner`."""
    frames.parent.mkdir()
    program = shutil.copy(foreign.__file__, frames.parent)  # this folder may be hidden from it
    configured = {
        "command": sys.executable,
        "args": [program],
        "env": {"FRAMES": str(frames), "THEIR_KEY": "${MY_SECRET:-none}"},
        "writes": [str(frames.parent)],
    }
    settings.user_settings.parent.mkdir(parents=True)
    settings.user_settings.write_text(json.dumps({"agents": {"foreigner": configured}}))
    async for made in make_bench(replace(settings)):
        made.service.factory.tools.gate.approver = approver
        yield made


async def hand_over(
    bench: Bench,
    model: ScriptedServer,
    actions: Sequence[Sequence[Any]],
    role: str = "actor",
    answer: str = "allow",
) -> Job:
    """The commander gives the foreigner a task, and the user agrees or not."""
    task = f"DO {json.dumps(actions)}\nThat is all."
    model.add(call("delegate", role=role, task=task, agent="foreigner"), text("Done."))
    job_id = bench.start("Get it done.", AgentRole.COMMANDER)
    await answer_next(bench, answer)
    return await bench.service.jobs.wait(job_id)


async def answer_next(bench: Bench, answer: str) -> str:
    """Wait for a question, however long that takes, and answer it; gives its words."""
    while not (waiting := bench.service.requests.pending(bench.context.id, "question")):
        await asyncio.sleep(0.01)
    bench.service.requests.answer(waiting[0].id, answer)
    return str(waiting[0].data["question"])


def outcomes(bench: Bench) -> list[Any]:
    """What the foreigner says came of each of its actions."""
    (result,) = bench.messages(MessageType.TASK_RESULT)
    found: list[Any] = json.loads(result.text)
    return found


def calls(bench: Bench) -> list[tuple[str, str]]:
    """The calls of our tools, with who made them."""
    found = bench.messages(MessageType.TOOL_CALL)
    return [(str(one.agent_role), one.data.model_dump()["tool"]) for one in found]


def is_alive(pid: int) -> bool:
    """A zombie is not: whoever should bury it is another matter."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:  # perhaps just now
        return False


async def test_its_files_and_terminals_are_our_tools(
    bench: Bench, scripted: ScriptedServer, frames: Path, approver: Approver
) -> None:
    (bench.workspace / "crlf.txt").write_bytes(b"one\r\ntwo\r\n")
    await hand_over(
        bench,
        scripted,
        [
            ["read", "a.py"],
            ["read", "crlf.txt"],
            ["write", "a.py", "answer = 43\n"],
            ["write", "new/b.py", "b = 1\n"],
            ["command", "cat", "a.py"],
            ["command", "exit 3"],
            ["kill", "echo ready; sleep 600"],
        ],
    )
    read, exact, *written, shown, left, killed = outcomes(bench)
    assert (read, exact) == ("answer = 42\n", "one\r\ntwo\r\n")
    assert written == ["written", "written"]
    assert shown["code"] == 0
    assert "answer = 43" in shown["output"]
    assert left["code"] == 3
    assert killed["signal"] == "SIGKILL"
    assert (bench.workspace / "a.py").read_text() == "answer = 43\n"
    assert (bench.workspace / "new" / "b.py").read_text() == "b = 1\n"
    assert calls(bench)[1:] == [
        *[("actor", "read_file")] * 2,
        ("actor", "update_file"),
        ("actor", "create_file"),
        *[("actor", "execute_command")] * 3,
    ]
    assert {one.tool for one in approver.asked} >= {"update_file", "create_file"}
    check_frames(frames)


def check_frames(frames: Path) -> None:
    """Both directions, as the foreigner saw them."""
    conversation = Conversation()
    for line in frames.read_text().splitlines():
        direction, frame = json.loads(line)
        conversation.add("agent" if direction == "outgoing" else "client", frame)
    conversation.check()
    assert conversation.frames


async def test_the_role_is_its_ceiling_whatever_it_asks_for(
    bench: Bench, scripted: ScriptedServer, approver: Approver
) -> None:
    await hand_over(
        bench,
        scripted,
        [
            ["read", "a.py"],
            ["write", "a.py", "answer = 43\n"],
            ["write", "b.py", "b = 1\n"],
            ["command", "touch c.py"],
            ["ask_edit", "a.py", "42", "43"],
            ["ask", "execute"],
            ["ask", "fetch"],
            ["capabilities"],
        ],
        role="reviewer",
    )
    read, *refused, edit, execute, fetch, can = outcomes(bench)
    assert read == "answer = 42\n"
    assert all(one.startswith("refused: ") for one in refused)
    assert (edit, execute, fetch) == ("no", "no", "no")
    assert approver.asked == []
    assert not can.get("terminal")
    assert not can["fs"].get("write_text_file")
    assert sorted(one.name for one in bench.workspace.iterdir()) == ["a.py"]
    assert (bench.workspace / "a.py").read_text() == "answer = 42\n"


async def test_what_it_would_do_by_itself_is_asked_about_as_if_we_did(
    bench: Bench, scripted: ScriptedServer, approver: Approver
) -> None:
    actions = [["ask_edit", "a.py", "42", "43"], ["ask", "fetch"]]
    await hand_over(bench, scripted, actions)
    assert outcomes(bench) == ["yes", "yes"]
    assert [one.tool for one in approver.asked] == ["update_file", "agent:foreigner"]
    assert "answer = 43" in approver.asked[0].shown.text
    notices = [event.data.model_dump().get("code") for event in bench.events(EventType.NOTICE)]
    assert notices.count("external-permission") == 2


async def test_nothing_outside_the_workspace_and_nothing_made_up(
    bench: Bench, scripted: ScriptedServer
) -> None:
    await hand_over(
        bench,
        scripted,
        [["read", "../secret"], ["read", "/etc/passwd"], ["write", "../b", "x"], ["terminal", "t"]],
    )
    assert all(one.startswith("refused: ") for one in outcomes(bench))
    assert not (bench.workspace.parent / "b").exists()


async def test_what_it_changed_unasked_can_be_taken_back(
    bench: Bench, scripted: ScriptedServer
) -> None:
    job = await hand_over(bench, scripted, [["itself", "a.py", "answer = 0\n"]])
    assert (bench.workspace / "a.py").read_text() == "answer = 0\n"
    first = next(
        one
        for one in await bench.service.checkpoints.listing(bench.context.id)
        if one.job_id == job.id
    )
    await bench.service.checkpoints.undo.rollback(first.id)
    assert (bench.workspace / "a.py").read_text() == "answer = 42\n"


async def test_files_that_it_touched_by_itself_are_in_checkpoint_and_audit(
    bench: Bench, scripted: ScriptedServer, approver: Approver
) -> None:
    """As agents of version 2 do, which ask us for no files at all."""
    actions = [["itself", "a.py", "answer = 0\n"], ["itself", "b.py", "b = 1\n"]]
    step = {
        "action": f"DO {json.dumps(actions)}",
        "tools_needed": ["agent:foreigner"],
        "files": ["a.py"],
    }
    scripted.add(plan("Change it", step))
    await bench.tell("Plan it.", AgentRole.PLANNER)
    job = await bench.service.execute_plan(bench.context.id, 1)
    await bench.service.jobs.wait(job.id)
    assert approver.asked == []
    made = await bench.service.checkpoints.listing(bench.context.id)
    (point,) = [one for one in made if one.job_id == job.id and one.data["files"]]
    assert {file["path"] for file in point.data["files"]} == {"a.py", "b.py"}
    (audited,) = (await bench.service.audit(bench.context.id)).steps
    assert sorted(audited.actual.files) == ["a.py", "b.py"]
    assert any("b.py" in one.what for one in audited.deviations)
    await bench.service.checkpoints.undo.rollback(point.id)
    assert (bench.workspace / "a.py").read_text() == "answer = 42\n"
    assert not (bench.workspace / "b.py").exists()


def reconfigure(settings: Settings, **changes: object) -> None:
    configured = json.loads(settings.user_settings.read_text())
    configured["agents"]["foreigner"] |= changes
    settings.user_settings.write_text(json.dumps(configured))


async def test_by_itself_it_writes_only_to_the_workspace_and_what_is_its_own(
    bench: Bench, scripted: ScriptedServer, frames: Path
) -> None:
    at_home = Path.home() / f".{bench.context.id}"
    places = [at_home, frames.parent / "session", bench.workspace / "made.py"]
    hook = bench.workspace / ".envrc"
    await hand_over(bench, scripted, [["try_to_write", str(place)] for place in (*places, hook)])
    elsewhere, own, inside, _ = outcomes(bench)
    assert elsewhere.startswith("failed: ")
    assert (own, inside) == ("done", "done")
    assert [place.exists() for place in places] == [False, True, True]
    assert not hook.exists()  # what runs later is set aside
    notices = [event.data.model_dump().get("message") for event in bench.events(EventType.NOTICE)]
    assert [said for said in notices if said and "set aside: .envrc" in said]


async def test_it_reads_no_secrets_and_nothing_of_ours(
    bench: Bench, scripted: ScriptedServer, settings: Settings
) -> None:
    places = [settings.database, "/etc/shadow"]
    await hand_over(bench, scripted, [["try_to_read", str(place)] for place in places])
    assert all(outcome.startswith("failed: ") or not outcome for outcome in outcomes(bench))


async def test_in_a_role_that_only_reads_it_cannot_write_to_the_workspace(
    bench: Bench, scripted: ScriptedServer, frames: Path
) -> None:
    places = [bench.workspace / "a.py", bench.workspace / "new.py", frames.parent / "session"]
    actions = [["try_to_write", str(place)] for place in places]
    await hand_over(bench, scripted, actions, role="reviewer")
    *refused, own = outcomes(bench)
    assert all(outcome.startswith("failed: ") for outcome in refused)
    assert own == "done"
    assert (bench.workspace / "a.py").read_text() == "answer = 42\n"
    assert not (bench.workspace / "new.py").exists()


@pytest.mark.parametrize("answer", ["start", "leave"])
async def test_without_the_sandbox_it_starts_only_if_the_user_says_so(
    bench: Bench, scripted: ScriptedServer, settings: Settings, tmp_path: Path, answer: str
) -> None:
    reconfigure(settings, sandbox=False)
    place = tmp_path / "elsewhere"
    task = f"DO {json.dumps([['try_to_write', str(place)]])}\n"
    scripted.add(call("delegate", role="actor", task=task, agent="foreigner"), text("Done."))
    job_id = bench.start("Get it done.", AgentRole.COMMANDER)
    await answer_next(bench, "allow")
    assert "without the sandbox" in await answer_next(bench, answer)
    await bench.service.jobs.wait(job_id)
    assert place.exists() == (answer == "start")


async def test_without_the_sandbox_no_role_that_only_reads_can_use_it(
    bench: Bench, scripted: ScriptedServer, settings: Settings
) -> None:
    reconfigure(settings, sandbox=False)
    await hand_over(bench, scripted, [["itself", "started", ""]], role="reviewer")
    assert "must not change the workspace" in bench.results()[-1]["error"]["message"]
    assert not (bench.workspace / "started").exists()


async def test_one_that_cannot_write_its_state_says_where_to_list_it(
    bench: Bench, scripted: ScriptedServer
) -> None:
    await hand_over(bench, scripted, [["die", "EROFS: read-only file system, open '~/.state'"]])
    assert '"writes"' in bench.results()[-1]["error"]["message"]


async def test_whoever_chooses_it_reads_what_holds(bench: Bench, scripted: ScriptedServer) -> None:
    scripted.add(
        call("delegate", role="reviewer", task="DO []\n", agent="foreigner"), text("Done.")
    )
    job_id = bench.start("Get it done.", AgentRole.COMMANDER)
    asked = await answer_next(bench, "deny")
    await bench.service.jobs.wait(job_id)
    assert "within the sandbox and this role's rights" in asked
    assert "checkpoint" in asked
    step = {"action": "Do it.", "agent": "foreigner"}
    scripted.add(plan("Do it", step))
    await bench.tell("Plan it.", AgentRole.PLANNER)
    made = bench.service.plans.find(bench.context.id)
    assert made
    assert "within the sandbox" in rights_of(made.plan)


async def test_one_of_another_version_fails_its_task_in_words(
    bench: Bench, scripted: ScriptedServer, settings: Settings, frames: Path
) -> None:
    reconfigure(settings, args=[str(frames.parent / "foreign.py"), "2"])
    await hand_over(bench, scripted, [["itself", "started", ""]])
    assert "speaks only version 2" in bench.results()[-1]["error"]["message"]
    assert not (bench.workspace / "started").exists()


async def test_without_the_users_word_it_is_not_even_started(
    bench: Bench, scripted: ScriptedServer
) -> None:
    actions = [["itself", "started", ""]]
    await hand_over(bench, scripted, actions, role="reviewer", answer="deny")
    assert not (bench.workspace / "started").exists()
    assert bench.results()[-1]["error"]["code"] == "delegation_denied"


async def test_a_step_of_an_approved_plan_is_carried_out_by_it_within_the_plan(
    bench: Bench, scripted: ScriptedServer, approver: Approver
) -> None:
    actions = [["write", "a.py", "answer = 1\n"], ["ask_edit", "a.py", "1", "2"]]
    step = {
        "action": f"DO {json.dumps(actions)}",
        "tools_needed": ["agent:foreigner", "update_file"],
        "files": ["a.py"],
    }
    scripted.add(plan("Change it", step))
    await bench.tell("Plan it.", AgentRole.PLANNER)
    assert '"agent": "NAME"' in scripted.requests[-1].body["messages"][0]["content"]
    job = await bench.service.execute_plan(bench.context.id, 1)
    ended = await bench.service.jobs.wait(job.id)
    assert ended.status is JobStatus.COMPLETED
    assert (bench.workspace / "a.py").read_text() == "answer = 1\n"
    assert outcomes(bench) == ["written", "yes"]
    assert approver.asked == []  # the plan grants what it says


async def test_one_that_dies_fails_its_task_with_its_last_words(
    bench: Bench, scripted: ScriptedServer
) -> None:
    await hand_over(bench, scripted, [["die", "I had enough"]])
    error = bench.results()[-1]["error"]
    assert error["code"] == "delegate_failed"
    assert "I had enough" in error["message"]
    assert '"writes"' not in error["message"]


async def test_one_that_ends_at_once_fails_its_task_at_once(
    bench: Bench, scripted: ScriptedServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "START_SECONDS", 3600.0)
    reconfigure(settings, args=["-c", "raise SystemExit('unknown option')"])
    await hand_over(bench, scripted, [])
    assert "Its last output: unknown option" in bench.results()[-1]["error"]["message"]


async def test_one_that_talks_nonsense_fails_its_task(
    bench: Bench, scripted: ScriptedServer
) -> None:
    await hand_over(bench, scripted, [["babble"]])
    assert bench.results()[-1]["error"]["code"] == "delegate_failed"


async def test_one_that_hangs_ends_with_the_job(bench: Bench, scripted: ScriptedServer) -> None:
    task = 'DO [["hang", "pid"]]\n'
    scripted.add(call("delegate", role="actor", task=task, agent="foreigner"))
    job_id = bench.start("Get it done.", AgentRole.COMMANDER)
    await answer_next(bench, "allow")
    place = bench.workspace / "pid"
    while not (place.exists() and place.read_text()):
        await asyncio.sleep(0.01)
    pid = int(place.read_text())
    await bench.service.jobs.cancel(job_id)
    while is_alive(pid):
        await asyncio.sleep(0.01)
    assert bench.job_statuses() == [JobStatus.CANCELLED]


async def test_at_its_time_limit_the_user_decides(bench: Bench) -> None:
    factory, job = bench.service.factory, Job(context_id=bench.context.id)
    with factory.journal.transaction() as tx:
        tx.save_job(job)
    log = RunLog(factory.journal, bench.context.id, job.id, AgentRole.ACTOR)
    budget = JobBudget(job, replace(factory.settings, max_seconds=1.0), log, factory.tools.user)
    errand = ExternalTask(
        factory.tools,
        ConfiguredAgents(factory.settings.user_settings).all()["foreigner"],
        "foreigner",
        log,
    )
    running = asyncio.create_task(errand.run('DO [["hang", "pid"]]\n', budget))
    assert "max_seconds" in await answer_next(bench, GO_ON)
    assert "max_seconds" in await answer_next(bench, STOP)
    outcome = await running
    assert outcome.status is JobStatus.CANCELLED
    assert "max_seconds" in str(outcome.error)


async def test_a_secret_of_its_environment_stays_out_of_what_is_told(
    bench: Bench, scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SECRET", "hunter2-hunter2")
    await hand_over(bench, scripted, [["tell", "THEIR_KEY"], ["tell", "MY_SECRET"]])
    told, unset = outcomes(bench)
    assert told == "•••"
    assert unset == "not set"
    assert "hunter2" not in str(scripted.requests[-1].body)
    assert "hunter2" not in str([event.data for event in bench.events()])


async def test_a_folder_cannot_bring_agents(bench: Bench, settings: Settings) -> None:
    settings.user_settings.write_text("{}")
    (bench.workspace / ".cowork").mkdir()
    content = {"agents": {"mole": {"command": "touch", "args": ["here"]}}}
    (bench.workspace / ".cowork" / "settings.json").write_text(json.dumps(content))
    assert not bench.service.factory.prompts.externals.names()
    assert "external agents" not in bench.service.factory.prompt(AgentRole.COMMANDER, bench.context)
