"""The gate before every tool: asked is what runs, and what runs was asked or allowed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from cowork_jupyter.agents.ask.user import Ruling
from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.errors import Conflict, InvalidInput
from cowork_jupyter.domain.events import EventType, PermissionRequested
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.policy.rules import Effect, Scope
from cowork_jupyter.record import ExportFormat
from cowork_jupyter.service.wiring import build_service
from cowork_jupyter.store import PlanRevision, UserRequest
from cowork_jupyter.tools.registry import ResolvedCall, ToolRegistry
from tests.scripted import Scripted, ScriptedServer, call, calls, result, text

from .conftest import Bench, make_bench
from .helpers import Clock, bench_with, ended, eventually
from .test_limits import clock as clock

pytestmark = pytest.mark.asyncio

ALLOW, DENY = Ruling(decision="allow"), Ruling(decision="deny")


@pytest_asyncio.fixture
async def asking(settings: Settings) -> AsyncIterator[Bench]:
    """A bench whose user has to be asked."""
    async for made in make_bench(settings):
        made.service.factory.tools.gate.approver = made.service.requests
        yield made


def create(path: str = "new.txt", content: str = "hello\n") -> Scripted:
    return call("create_file", path=path, content=content)


async def pending(bench: Bench, count: int = 1) -> list[UserRequest]:
    await eventually(
        lambda: len(bench.service.requests.pending(bench.context.id, "permission")) == count
    )
    return bench.service.requests.pending(bench.context.id, "permission")


async def test_a_change_waits_for_the_user_and_runs_once_allowed(
    asking: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(create(), text("Done."))
    job_id = asking.start("make it")
    (request,) = await pending(asking)
    assert not (asking.workspace / "new.txt").exists()
    assert asking.service.jobs.get(job_id).status is JobStatus.WAITING
    asking.service.requests.resolve_all([request.id], ALLOW)
    assert (await ended(asking, job_id)).status is JobStatus.COMPLETED
    assert (asking.workspace / "new.txt").read_text() == "hello\n"
    kinds = [event.type for event in asking.events()]
    assert kinds.index(EventType.PERMISSION_REQUEST) < kinds.index(EventType.PERMISSION_RESOLVED)


async def test_a_request_shows_everything_that_one_must_know(
    asking: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(create("a\u202eb.txt"), text("Done."))
    asking.start("make it")
    (request,) = await pending(asking)
    shown = asking.events(EventType.PERMISSION_REQUEST)[0].data.model_dump()
    assert shown["id"] == request.id
    assert (shown["tool"], shown["risk"], shown["status"]) == ("create_file", "medium", "pending")
    assert shown["resource"] == "a⟨U+202E⟩b.txt"
    assert shown["why"] == ["It creates a⟨U+202E⟩b.txt; nothing allows that yet."]
    assert "+hello" in shown["shown"]["text"]
    assert shown["shown"]["kind"] == "diff"
    assert shown["scopes"] == ["once"], "a name that cannot be shown is not kept"


async def test_a_name_cannot_write_lines_of_its_own(
    asking: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(create("n\n+++ b/harmless\n@@ -0,0 +1 @@\n+hi\n\nIt was checked."), text("Done."))
    job_id = asking.start("make it")
    (request,) = await pending(asking)
    shown = asking.events(EventType.PERMISSION_REQUEST)[0].data
    assert isinstance(shown, PermissionRequested)
    assert "\n" not in "".join([shown.resource, *shown.why, *shown.rules])
    lines = shown.shown.text.splitlines()
    assert lines[0].startswith("+++ b/n⟨U+000A⟩") or lines[1].startswith("+++ b/n⟨U+000A⟩")
    assert sum(line.startswith("+++") for line in lines) == 1
    assert shown.scopes == ["once"]
    asking.service.requests.resolve_all([request.id], ALLOW)
    await ended(asking, job_id)
    (result,) = asking.results()
    assert result["ok"]
    assert "\n" not in result["summary"]


async def test_a_call_is_resolved_once(
    asking: Bench, scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve, named = ToolRegistry.resolve, list[str]()

    def counted(registry: ToolRegistry, name: str, *given: Any) -> ResolvedCall:
        named.append(name)
        return resolve(registry, name, *given)

    monkeypatch.setattr(ToolRegistry, "resolve", counted)
    scripted.add(
        calls(
            ("read_file", {"path": "a.py"}), ("create_file", {"path": "new.txt", "content": "x"})
        ),
        text("Done."),
    )
    job_id = asking.start("make it")
    (request,) = await pending(asking)
    asking.service.requests.resolve_all([request.id], ALLOW)
    await ended(asking, job_id)
    assert (asking.workspace / "new.txt").exists()
    assert named == ["read_file", "create_file"]


async def test_a_denial_reaches_the_model_with_what_the_user_said(
    asking: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(create(), text("Then not."))
    job_id = asking.start("make it")
    (request,) = await pending(asking)
    ruling = Ruling(decision="deny", feedback="use the docs folder")
    asking.service.requests.resolve_all([request.id], ruling)
    assert (await ended(asking, job_id)).status is JobStatus.COMPLETED
    assert not (asking.workspace / "new.txt").exists()
    (result,) = asking.results()
    assert result["error"]["code"] == "denied_by_user"
    assert "use the docs folder" in result["error"]["message"]
    assert not result["error"]["retryable"]
    told = json.dumps(scripted.requests[-1].body)
    assert "use the docs folder" in told
    # What the model should do about it is no business of the user's, who sees the summary.
    assert "Do not try it again" in told
    assert result["summary"] == result["error"]["message"]
    assert "try it again" not in result["summary"]


@pytest.mark.parametrize("scope", ["session", "workspace", "global"])
async def test_a_lasting_answer_is_not_asked_again(
    asking: Bench, scripted: ScriptedServer, scope: Any
) -> None:
    update = call("update_file", path="a.py", old_text="42", new_text="43")
    back = call("update_file", path="a.py", old_text="43", new_text="42")
    scripted.add(update, text("Done."), back, text("Done."))
    job_id = asking.start("change it")
    (request,) = await pending(asking)
    ruling = Ruling(decision="allow", scope=scope)
    asking.service.requests.resolve_all([request.id], ruling)
    await ended(asking, job_id)
    assert (await asking.tell("change it back")).status is JobStatus.COMPLETED
    assert (asking.workspace / "a.py").read_text() == "answer = 42\n"
    (rule,) = asking.service.rules.all()
    assert (rule.text, rule.scope.value) == ("update_file(/a.py)", scope)


async def test_a_scope_that_is_not_offered_is_refused(
    asking: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(call("execute_command", command="python x.py"), text("Done."))
    job_id = asking.start("run it")
    (request,) = await pending(asking)
    lasting = Ruling(decision="allow", scope="global")
    with pytest.raises(InvalidInput):
        asking.service.requests.resolve_all([request.id], lasting)
    assert asking.service.rules.all() == []
    asking.service.requests.resolve_all([request.id], DENY)
    await ended(asking, job_id)


async def two_files(
    asking: Bench, scripted: ScriptedServer
) -> tuple[str, UserRequest, UserRequest]:
    """A job that asks for both in one reply, and what it asks."""
    both = calls(*(("create_file", {"path": f"{name}.txt"}) for name in "ab"))
    scripted.add(both, text("Done."))
    job_id = asking.start("make both")
    first, second = await pending(asking, 2)
    return job_id, first, second


async def test_several_are_decided_at_once_or_not_at_all(
    asking: Bench, scripted: ScriptedServer
) -> None:
    job_id, first, second = await two_files(asking, scripted)
    with pytest.raises(Exception, match="no permission request"):
        asking.service.requests.resolve_all([first.id, "perm_unknown"], ALLOW)
    assert len(await pending(asking, 2)) == 2
    asking.service.requests.resolve_all([first.id, second.id], ALLOW)
    assert (await ended(asking, job_id)).status is JobStatus.COMPLETED
    assert all((asking.workspace / f"{name}.txt").exists() for name in "ab")


async def test_what_is_answered_before_its_turn_holds_when_it_comes(
    asking: Bench, scripted: ScriptedServer
) -> None:
    job_id, first, second = await two_files(asking, scripted)
    asking.service.requests.resolve_all([second.id], DENY)
    assert asking.service.jobs.get(job_id).status is JobStatus.WAITING
    asking.service.requests.resolve_all([first.id], ALLOW)
    assert (await ended(asking, job_id)).status is JobStatus.COMPLETED
    assert (asking.workspace / "a.txt").exists()
    assert not (asking.workspace / "b.txt").exists()


async def test_what_a_call_changes_for_the_next_is_asked_when_that_has_its_turn(
    asking: Bench, scripted: ScriptedServer
) -> None:
    edits = [("42", "43"), ("43", "44")]
    twice = calls(
        *(("update_file", {"path": "a.py", "old_text": old, "new_text": new}) for old, new in edits)
    )
    scripted.add(twice, text("Done."))
    job_id = asking.start("change it twice")
    (first,) = await pending(asking)
    asking.service.requests.resolve_all([first.id], Ruling(decision="allow", scope="session"))
    assert (await ended(asking, job_id)).status is JobStatus.COMPLETED
    assert (asking.workspace / "a.py").read_text() == "answer = 44\n"


async def test_an_answer_that_lasts_withdraws_what_it_covers(
    asking: Bench, scripted: ScriptedServer
) -> None:
    job_id, first, second = await two_files(asking, scripted)
    asking.service.rules.add(Effect.ALLOW, "create_file", Scope.SESSION, asking.context.id)
    asking.service.requests.resolve_all([first.id], ALLOW)
    assert (await ended(asking, job_id)).status is JobStatus.COMPLETED
    assert (asking.workspace / "b.txt").exists()
    resolved = [one.data.model_dump() for one in asking.events(EventType.PERMISSION_RESOLVED)]
    assert [one["status"] for one in resolved if one["id"] == second.id] == ["withdrawn"]


async def test_a_decision_is_taken_once(asking: Bench, scripted: ScriptedServer) -> None:
    scripted.add(create(), text("Done."))
    job_id = asking.start("make it")
    (request,) = await pending(asking)
    asking.service.requests.resolve_all([request.id], DENY)
    with pytest.raises(Conflict):
        asking.service.requests.resolve_all([request.id], ALLOW)
    await ended(asking, job_id)
    assert not (asking.workspace / "new.txt").exists()


async def test_cancel_withdraws_what_waits(asking: Bench, scripted: ScriptedServer) -> None:
    scripted.add(create())
    job_id = asking.start("make it")
    (request,) = await pending(asking)
    await asking.service.jobs.cancel(job_id)
    assert asking.service.requests.pending(asking.context.id, "permission") == []
    assert (
        asking.events(EventType.PERMISSION_RESOLVED)[0].data.model_dump()["status"] == "withdrawn"
    )
    with pytest.raises(Conflict):
        asking.service.requests.resolve_all([request.id], ALLOW)


async def test_a_file_that_changed_while_the_user_thought_is_decided_again(
    asking: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(call("update_file", path="a.py", content="new = 1\n"), text("Done."))
    job_id = asking.start("rewrite it")
    (request,) = await pending(asking)
    (asking.workspace / "a.py").write_text("the user's own work\n")
    asking.service.requests.resolve_all([request.id], ALLOW)
    await eventually(
        lambda: any(
            one.id != request.id
            for one in asking.service.requests.pending(asking.context.id, "permission")
        )
    )
    (again,) = asking.service.requests.pending(asking.context.id, "permission")
    assert "the user's own work" in again.data["shown"]["text"]
    assert len(again.data["why"]) == len(request.data["why"]) + 1, "and why it asks again"
    assert (asking.workspace / "a.py").read_text() == "the user's own work\n"
    asking.service.requests.resolve_all([again.id], DENY)
    await ended(asking, job_id)
    assert (asking.workspace / "a.py").read_text() == "the user's own work\n"


async def test_a_path_that_became_a_symlink_meanwhile_is_decided_again(
    asking: Bench, scripted: ScriptedServer, tmp_path: Path
) -> None:
    (asking.workspace / ".git").mkdir()
    (asking.workspace / ".git" / "config").write_text("[core]\n")
    scripted.add(call("update_file", path="a.py", content="[evil]\n"), text("Done."))
    job_id = asking.start("rewrite it")
    (request,) = await pending(asking)
    (asking.workspace / "a.py").unlink()
    (asking.workspace / "a.py").symlink_to(".git/config")
    asking.service.requests.resolve_all([request.id], ALLOW)
    await eventually(
        lambda: any(
            one.id != request.id
            for one in asking.service.requests.pending(asking.context.id, "permission")
        )
    )
    (again,) = asking.service.requests.pending(asking.context.id, "permission")
    assert "protected" in again.data["why"][0]
    asking.service.requests.resolve_all([again.id], DENY)
    await ended(asking, job_id)
    assert (asking.workspace / ".git" / "config").read_text() == "[core]\n"


async def test_a_denied_tool_is_not_in_the_prompt_and_does_not_run(
    asking: Bench, scripted: ScriptedServer
) -> None:
    asking.service.rules.add(Effect.DENY, "create_file", Scope.SESSION)
    scripted.add(create(), text("Done."))
    await asking.tell("make it")
    assert "create_file" not in json.dumps(scripted.requests[0].body)
    assert asking.results()[0]["error"]["code"] == "denied"
    assert not (asking.workspace / "new.txt").exists()


async def test_a_search_does_not_come_across_what_may_not_be_read(
    asking: Bench, scripted: ScriptedServer
) -> None:
    for name in ("open.txt", "private/x.txt", "deploy.pem"):
        (asking.workspace / name).parent.mkdir(exist_ok=True)
        (asking.workspace / name).write_text("needle\n")
    asking.service.rules.add(Effect.DENY, "read_file(private/**)", Scope.SESSION)
    scripted.add(call("grep", pattern="needle"), text("Done."))
    await asking.tell("search")
    (result,) = asking.results()
    assert result["facts"]["paths"] == ["open.txt"]


async def test_headless_what_would_ask_is_denied_with_what_would_allow_it(
    settings: Settings, scripted: ScriptedServer
) -> None:
    scripted.add(create(), text("Then not."), create(), text("Done."))
    service = build_service(settings, interactive=False)
    context_id = service.conversations.create().id
    first = service.send_message(context_id, "make it").job_id
    assert (await service.jobs.wait(str(first))).status is JobStatus.COMPLETED
    assert not (settings.workspace / "new.txt").exists()
    notices = [
        one.data.model_dump()
        for one in service.journal.store.events(context_id, 0)
        if one.type == "notice"
    ]
    assert "create_file(/new.txt)" in notices[0]["message"]
    policy = {"permissions": {"allow": ["create_file(/new.txt)"]}}
    second = service.send_message(context_id, "make it", policy=policy).job_id
    assert (await service.jobs.wait(str(second))).status is JobStatus.COMPLETED
    assert (settings.workspace / "new.txt").exists()
    await service.close()


async def test_a_request_survives_a_restart_and_its_answer_is_used_once(
    settings: Settings, scripted: ScriptedServer
) -> None:
    scripted.add(create(), create(), text("Done."))
    service = build_service(settings)
    context_id = service.conversations.create().id
    job_id = str(service.send_message(context_id, "make it").job_id)
    await eventually(lambda: bool(service.requests.pending(context_id, "permission")))
    await service.close()

    service = build_service(settings)
    assert service.jobs.get(job_id).status is JobStatus.INTERRUPTED
    (request,) = service.requests.pending(context_id, "permission")
    service.requests.resolve_all([request.id], ALLOW)
    assert not (settings.workspace / "new.txt").exists()
    assert (await service.jobs.wait(job_id)).status is JobStatus.COMPLETED
    assert (settings.workspace / "new.txt").exists()
    await service.close()


async def test_a_request_left_open_is_taken_up_by_the_resumed_job(
    settings: Settings, scripted: ScriptedServer
) -> None:
    scripted.add(create(), create(), text("Done."))
    service = build_service(settings)
    context_id = service.conversations.create().id
    job_id = str(service.send_message(context_id, "make it").job_id)
    await eventually(lambda: bool(service.requests.pending(context_id, "permission")))
    await service.close()

    service = build_service(settings)
    (request,) = service.requests.pending(context_id, "permission")
    service.plans.resume(job_id)
    await eventually(lambda: service.jobs.get(job_id).status is JobStatus.WAITING)
    await asyncio.sleep(0)
    assert [one.id for one in service.requests.pending(context_id, "permission")] == [request.id]
    service.requests.resolve_all([request.id], ALLOW)
    assert (await service.jobs.wait(job_id)).status is JobStatus.COMPLETED
    await service.close()


def one_step(tools: list[str], files: list[str]) -> Plan:
    step = {"id": "1", "action": "do it", "tools_needed": tools, "files": files}
    return Plan.model_validate({"goal": "g", "steps": [step]})


async def run_plan(bench: Bench, plan: Plan) -> str:
    with bench.service.journal.transaction() as tx:
        tx.save_plan(PlanRevision(context_id=bench.context.id, revision=1, plan=plan))
    return (await bench.service.execute_plan(bench.context.id, 1)).id


async def test_what_the_approved_plan_says_does_not_ask_again(
    asking: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(call("update_file", path="a.py", old_text="42", new_text="43"), text("Done."))
    job_id = await run_plan(asking, one_step(["update_file"], ["a.py"]))
    assert (await ended(asking, job_id)).status is JobStatus.COMPLETED
    assert asking.events(EventType.PERMISSION_REQUEST) == []
    assert (asking.workspace / "a.py").read_text() == "answer = 43\n"


async def test_a_new_file_beyond_the_plan_is_mentioned(
    asking: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(create("new.txt"), create("other.txt"), text("Done."))
    job_id = await run_plan(asking, one_step(["create_file"], ["new.txt"]))
    assert (await ended(asking, job_id)).status is JobStatus.COMPLETED
    (notice,) = [one.data.model_dump() for one in asking.events(EventType.NOTICE)]
    assert (notice["code"], notice["size"]) == ("deviation", "small")
    assert asking.events(EventType.PERMISSION_REQUEST) == []


async def test_what_goes_further_asks(asking: Bench, scripted: ScriptedServer) -> None:
    scripted.add(call("delete_file", path="a.py"), result("failed", "not allowed"), text("x"))
    job_id = await run_plan(asking, one_step(["update_file"], ["a.py"]))
    (request,) = await pending(asking)
    (notice,) = [one.data.model_dump() for one in asking.events(EventType.NOTICE)]
    assert (notice["code"], notice["size"]) == ("deviation", "large")
    asking.service.requests.resolve_all([request.id], DENY)
    asked = await asking.until(EventType.QUESTION_ASKED)
    asking.service.requests.answer(asked.data.model_dump()["id"], "stop")
    await ended(asking, job_id)
    assert (asking.workspace / "a.py").exists()


async def test_the_next_message_is_not_covered_by_the_plan(
    asking: Bench, scripted: ScriptedServer
) -> None:
    update = call("update_file", path="a.py", old_text="42", new_text="43")
    again = call("update_file", path="a.py", old_text="43", new_text="44")
    scripted.add(update, text("Done."), again, text("Done."))
    await ended(asking, await run_plan(asking, one_step(["update_file"], ["a.py"])))
    job_id = asking.start("and once more", AgentRole.ACTOR)
    (request,) = await pending(asking)
    asking.service.requests.resolve_all([request.id], DENY)
    await ended(asking, job_id)
    assert (asking.workspace / "a.py").read_text() == "answer = 43\n"


@pytest.mark.process
async def test_a_secret_that_was_read_reaches_the_model_but_no_export(
    asking: Bench, scripted: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    (asking.workspace / ".env").write_text("DOOR=open-sesame\n")
    command = call("execute_command", command="cat .env")
    scripted.add(call("read_file", path=".env"), command, text("Done."))
    job_id = asking.start("read it")
    for _ in range(2):
        (request,) = await pending(asking)
        assert request.data["scopes"] == ["once"]
        asking.service.requests.resolve_all([request.id], ALLOW)
    await ended(asking, job_id)
    assert str(scripted.requests[-1].body).count("open-sesame") == 2
    for kind in ExportFormat:
        exported = await asking.service.export(asking.context.id, kind)
        assert b"open-sesame" not in exported.body, kind
    assert "open-sesame" not in caplog.text


async def test_time_in_which_the_user_thinks_does_not_count(
    settings: Settings, scripted: ScriptedServer, clock: Clock
) -> None:
    async with bench_with(settings) as asking:
        asking.service.factory.tools.gate.approver = asking.service.requests
        scripted.add(create(), text("Done."))
        job_id = asking.start("make it")
        (request,) = await pending(asking)
        clock.now += 10_000
        asking.service.requests.resolve_all([request.id], ALLOW)
        assert (await ended(asking, job_id)).status is JobStatus.COMPLETED


@pytest.mark.process
async def test_a_command_reaches_the_network_only_if_the_user_was_asked(
    asking: Bench, scripted: ScriptedServer
) -> None:
    port = asking.service.settings.base_url.split(":")[2].split("/")[0]
    code = f'import socket; socket.create_connection(("127.0.0.1", {port}), 5); print("reached")'
    command = f"python -c '{code}'"
    scripted.add(
        call("execute_command", command=command),
        call("execute_command", command=command, needs_network=True),
        text("Done."),
    )
    job_id = await run_plan(asking, one_step(["execute_command"], []))
    (request,) = await pending(asking)
    (first,) = asking.results()
    assert first["facts"]["exit_code"] != 0, "the plan's grant brings no network"
    network, untrusted = request.data["why"]
    assert network == "Uses the network: hosts it does not name."
    assert untrusted.startswith("Untrusted text was read just before")
    asking.service.requests.resolve_all([request.id], ALLOW)
    assert (await ended(asking, job_id)).status is JobStatus.COMPLETED
    assert asking.results()[1]["facts"]["exit_code"] == 0
