"""Workers that do not see the workspace: files go out, and what changed comes back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.parts.dask import parcels as pool_parcels
from cowork_jupyter.parts.dask import worker as pool_worker
from cowork_jupyter.parts.dask.sent_files import store_piece
from tests.scripted import Scripted, ScriptedServer, call, calls, text
from tests.unit.agents.conftest import Bench
from tests.unit.agents.test_coordinator import execute, make_plan

from .conftest import Cluster
from .test_plans import ended

pytestmark = pytest.mark.asyncio
TOOLS = ["execute_command", "read_file", "create_file", "query_table", "run_code"]


@pytest.fixture(autouse=True)
def another_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """What would show a worker that it sees the workspace is not written."""
    monkeypatch.setattr(pool_worker.WorkspaceProof, "write", lambda _: None)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The contents that were sent, by their digests."""
    digests: list[str] = []
    deliver = pool_parcels.FileBundle.deliver

    async def counted(self: pool_parcels.FileBundle, sender: str, at: Callable[..., Any]) -> None:
        async def counting(function: Callable[..., Any], *arguments: Any) -> Any:
            if function is store_piece and arguments[-1]:
                digests.append(arguments[1])
            return await at(function, *arguments)

        await deliver(self, sender, counting)

    monkeypatch.setattr(pool_parcels.FileBundle, "deliver", counted)
    return digests


async def run_step(
    bench: Bench, scripted: ScriptedServer, *replies: Scripted, files: list[str]
) -> None:
    scripted.add(*replies, text("Done."))
    make_plan(bench, {"a": []}, tools_needed=TOOLS, files=files)
    job = await ended(bench, await execute(bench))
    assert job.status is JobStatus.COMPLETED, job.error


async def refused_in_step(
    bench: Bench, scripted: ScriptedServer, reply: Scripted, files: list[str]
) -> dict[str, Any]:
    """The error of a step's only call; the user, who is asked about such a step, stops there."""
    scripted.add(reply, text("Done."))
    make_plan(bench, {"a": []}, tools_needed=TOOLS, files=files)
    job_id = await execute(bench)
    await bench.answer("stop")
    assert (await ended(bench, job_id)).status is JobStatus.FAILED
    (refused,) = bench.results()
    error: dict[str, Any] = refused["error"]
    return error


def command(line: str, **more: Any) -> Scripted:
    return call("execute_command", command=line, **more)


async def test_files_go_out_once_and_what_a_command_changed_comes_back(
    bench: Bench, cluster: Cluster, scripted: ScriptedServer, sent: list[str]
) -> None:
    folder = bench.workspace
    (folder / "data").mkdir()
    (folder / "data" / "in.csv").write_text("n\n1\n2\n")
    (folder / "old.txt").write_text("old")
    (folder / "other.txt").write_text("none of the step's")
    await run_step(
        *(bench, scripted),
        command("ls; pwd; mkdir -p out; wc -l < data/in.csv > out/lines.txt; rm old.txt"),
        command("cat out/lines.txt; echo 3 >> data/in.csv; mkdir __pycache__; touch __pycache__/x"),
        command("cat ../data/in.csv", cwd="out"),
        files=["data", "old.txt", "out/lines.txt"],
    )
    first, second, third = bench.results()
    assert {one["facts"]["worker"] for one in (first, second, third)} <= set(await cluster.pids())
    said = [message.text for message in bench.messages() if "exit code 0" in message.text]
    assert "other.txt" not in said[0]
    assert str(folder) not in said[0], "it ran in another folder"
    assert (first["facts"]["brought_back"], second["facts"]["brought_back"]) == (
        ["old.txt", "out/lines.txt"],
        ["data/in.csv"],
    )
    assert (folder / "out" / "lines.txt").read_text().strip() == "3"
    assert (folder / "data" / "in.csv").read_text() == "n\n1\n2\n3\n"
    assert "n\n1\n2\n3\n" in said[2], "what came back goes out again"
    assert not (folder / "old.txt").exists()
    assert not (folder / "__pycache__").exists()
    assert len(sent) <= 2 * len(set(sent)), "at most once to each worker"


@pytest.mark.slow
async def test_what_came_back_can_be_taken_back(bench: Bench, scripted: ScriptedServer) -> None:
    await run_step(
        *(bench, scripted),
        command("echo 'answer = 43' > a.py; echo new > new.txt"),
        files=["a.py", "new.txt"],
    )
    assert (bench.workspace / "a.py").read_text() == "answer = 43\n"
    taken = bench.service.journal.store.checkpoints(bench.context.id)
    await bench.service.checkpoints.undo.rollback(taken[0].id)
    assert (bench.workspace / "a.py").read_text() == "answer = 42\n"
    assert not (bench.workspace / "new.txt").exists()


@pytest.mark.slow
async def test_what_was_changed_here_meanwhile_is_not_overwritten(
    bench: Bench, scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_back = pool_parcels.write_back

    def after_the_user(*given: Any) -> list[str]:
        (bench.workspace / "a.py").write_text("answer = 'mine'\n")
        return write_back(*given)

    monkeypatch.setattr("cowork_jupyter.parts.dask.dask.write_back", after_the_user)
    line = "echo said; echo 'answer = 43' > a.py; echo new > new.txt"
    error = await refused_in_step(bench, scripted, command(line), ["a.py", "new.txt"])
    assert error["code"] == "changed_at_home"
    assert "'a.py' was changed here" in error["message"]
    assert "said" in error["message"]
    assert (bench.workspace / "a.py").read_text() == "answer = 'mine'\n"
    assert not (bench.workspace / "new.txt").exists(), "all of it, or nothing"


@pytest.mark.slow
async def test_a_file_that_is_here_but_is_not_the_step_s_is_not_overwritten(
    bench: Bench, scripted: ScriptedServer
) -> None:
    (bench.workspace / "notes.txt").write_text("mine")
    error = await refused_in_step(bench, scripted, command("echo gone > notes.txt"), ["a.py"])
    assert error["code"] == "changed_at_home"
    assert (bench.workspace / "notes.txt").read_text() == "mine"


@pytest.mark.slow
async def test_tables_and_scratch_get_their_files_and_what_is_about_the_workspace_stays_here(
    bench: Bench, cluster: Cluster, scripted: ScriptedServer
) -> None:
    parts = bench.workspace / "parts"
    parts.mkdir()
    for number in range(3):
        (parts / f"{number}.csv").write_text(f"n\n{number}\n")
    (bench.workspace / ".env").write_text("KEY=very-secret")
    await run_step(
        *(bench, scripted),
        calls(
            ("query_table", {"paths": ["parts"], "sql": "SELECT sum(n) AS total FROM parts"}),
            ("query_table", {"paths": ["p*/2.csv"], "sql": "SELECT n AS two FROM 'p*/2.csv'"}),
        ),
        call("run_code", code="import os\nfound = sorted(os.listdir())\nfound", where="scratch"),
        call("run_code", code="open('a.py').read(), found", where="scratch"),
        call("read_file", path="parts/1.csv"),
        call("create_file", path="made.txt", content="here"),
        files=["a.py", ".env"],
    )
    results = bench.results()
    assert [one["ok"] for one in results] == [True] * 6
    workers = set(await cluster.pids())
    assert [one["facts"].get("worker") in workers for one in results] == [True] * 4 + [False] * 2
    said = "".join(message.text for message in bench.messages())
    assert "total\n3\n" in said
    assert "two\n2\n" in said
    assert "['a.py']" in said
    assert "very-secret" not in said
    assert (bench.workspace / "made.txt").read_text() == "here"
    trees = await cluster.run(task_trees)
    assert not any(trees.values()), "the tree of scratch goes with its step"


def task_trees(dask_worker: Any) -> list[str]:
    folder = Path(dask_worker.local_directory, "cowork")
    return [one.name for one in folder.glob("task-*")]


@pytest.mark.slow
async def test_too_much_to_send_is_said(
    bench: Bench, scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_parcels, "MAX_SENT", 5)
    error = await refused_in_step(bench, scripted, command("ls"), ["a.py"])
    assert error["code"] == "too_large"
    assert "too large to send: 12 bytes" in error["message"]
