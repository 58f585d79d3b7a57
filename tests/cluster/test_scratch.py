"""Code in scratch at the workers of a real cluster: a confined kernel for each step."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest

from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.messages import ImagePart, MessageType
from cowork_jupyter.tools.kernel.state import NoKernels, TableCopy
from cowork_jupyter.tools.registry import tools_with_kernels
from cowork_jupyter.workspace import Workspace
from tests.scripted import Scripted, ScriptedServer, call, text
from tests.unit.agents.conftest import Bench
from tests.unit.agents.test_coordinator import execute, make_plan

from .conftest import PATIENCE, Cluster, children_of, line_of

pytestmark = pytest.mark.asyncio


def code(source: str, **more: Any) -> Scripted:
    return call("run_code", code=source, where="scratch", **more)


async def run_plan(bench: Bench, *steps: str) -> None:
    make_plan(bench, {step: [] for step in steps or ("a",)}, tools_needed=["run_code"])
    async with asyncio.timeout(PATIENCE):
        job = await bench.service.jobs.wait(await execute(bench))
    assert job.status is JobStatus.COMPLETED, job.error


async def kernels_at(cluster: Cluster) -> dict[str, list[psutil.Process]]:
    """The processes that run code for steps, by worker."""
    return {
        worker: [one for one in children_of(pid) if "<scratch kernel>" in line_of(one)]
        for worker, pid in (await cluster.pids()).items()
    }


async def test_a_step_keeps_its_variables_and_tables_and_pictures_come_back(
    bench: Bench, cluster: Cluster, scripted: ScriptedServer
) -> None:
    (bench.workspace / "sales.csv").write_text("region,amount\nnorth,3\nsouth,4\n")
    scripted.add(
        code("import pandas as pd\nsales = pd.read_csv('sales.csv')\nsales"),
        code("import matplotlib.pyplot as plt\nplt.bar(sales.region, sales.amount)\nplt.show()"),
        code("print(sales.amount.sum())\n1 / 0"),
        code("sales.amount.max()"),
        text("Done."),
    )
    await run_plan(bench)
    table, picture, failed, last = bench.messages(MessageType.TOOL_RESULT)
    assert "north" in table.text
    assert any(isinstance(part, ImagePart) for part in picture.content)
    assert "ZeroDivisionError" in failed.text
    assert "7" in failed.text
    assert "4" in last.text
    facts = [one["facts"] for one in bench.results() if one["ok"]]
    (worker,) = {one["worker"] for one in facts}
    assert worker in await cluster.pids()
    assert {one["where"] for one in facts} == {"scratch"}
    assert not any((await kernels_at(cluster)).values()), "it ends with its step"


@pytest.mark.slow
async def test_code_is_confined_there(bench: Bench, scripted: ScriptedServer) -> None:
    (bench.workspace / ".env").write_text("KEY=very-secret")
    scripted.add(
        code("open('a.py', 'w').write('gone')"),
        code("import socket\nsocket.create_connection(('127.0.0.1', 9), 1)"),
        code("print('found', repr(open('.env').read()))"),
        text("Done."),
    )
    await run_plan(bench)
    assert [one["ok"] for one in bench.results()] == [False, False, True]
    assert (bench.workspace / "a.py").read_text() == "answer = 42\n"
    said = "".join(message.text for message in bench.messages())
    assert "The workspace is read-only in scratch" in said
    assert "found ''\n" in said, "an empty file covers it"
    assert "very-secret" not in said


@pytest.mark.slow
async def test_steps_side_by_side_have_a_kernel_each(bench: Bench, cluster: Cluster) -> None:
    def answer(body: dict[str, Any]) -> Scripted:
        step = "a" if "The step: do a" in json.dumps(body["messages"]) else "b"
        done = [one for one in body["messages"] if "[ran code" in str(one)]
        wait = "while not os.path.exists('go'): time.sleep(0.05)"
        if not done:
            return code(f"import os, time\nmine = '{step}'\n{wait}")
        return code("print('I am', mine)") if len(done) == 1 else text("Done.")

    with ScriptedServer(answer) as model:
        bench.connect(model.base_url)
        running = asyncio.create_task(run_plan(bench, "a", "b"))
        async with asyncio.timeout(PATIENCE):
            while not all((await kernels_at(cluster)).values()):
                assert not running.done()
                await asyncio.sleep(0.05)
        (bench.workspace / "go").touch()
        await running
    said = "".join(message.text for message in bench.messages(MessageType.TOOL_RESULT))
    assert "I am a" in said
    assert "I am b" in said
    assert {one["facts"]["worker"] for one in bench.results()} == set(await cluster.pids())


@pytest.mark.slow
async def test_with_its_worker_the_variables_are_gone_and_the_model_is_told(
    bench: Bench, cluster: Cluster, scripted: ScriptedServer
) -> None:
    scripted.add(
        code("import time, os\nprint('begun')\nwhile not os.path.exists('go'): time.sleep(0.05)"),
        code("6 * 7"),
        text("Done."),
    )
    running = asyncio.create_task(run_plan(bench))
    async with asyncio.timeout(PATIENCE):
        while not any((await kernels_at(cluster)).values()):
            await asyncio.sleep(0.05)
    lost = await cluster.kill_whoever_works()
    await running
    gone, again = bench.results()
    assert gone["error"]["code"] == "scratch_lost"
    assert again["facts"]["worker"] != lost
    assert await cluster.pids()


@pytest.mark.slow
async def test_cancelling_the_job_ends_the_kernel(
    bench: Bench, cluster: Cluster, scripted: ScriptedServer
) -> None:
    scripted.add(code("import time\ntime.sleep(3600)"))
    make_plan(bench, {"a": []}, tools_needed=["run_code"])
    job_id = await execute(bench)
    async with asyncio.timeout(PATIENCE):
        while not any((await kernels_at(cluster)).values()):
            await asyncio.sleep(0.05)
        await bench.service.jobs.cancel(job_id)
        while any((await kernels_at(cluster)).values()):
            await asyncio.sleep(0.05)


class Kernel(NoKernels):
    """A notebook's kernel, with one table."""

    async def copy_table(
        self, workspace: Workspace, path: str, name: str, file: str, room: int
    ) -> TableCopy:
        pd.DataFrame({"n": [20, 22]}).to_pickle(Path(file), compression=None)
        return TableCopy(name, "DataFrame", "")


@pytest.mark.slow
async def test_copies_of_the_notebook_s_tables_are_taken_along(
    bench: Bench, cluster: Cluster, scripted: ScriptedServer
) -> None:
    tools = bench.service.factory.tools
    tools.registry, tools.kernels = tools_with_kernels(), Kernel()
    with bench.service.journal.transaction() as tx:
        notebook = bench.context.model_copy(update={"notebook": "book.ipynb"})
        tx.save_context(notebook)
    scripted.add(code("int(df.n.sum())", tables=["df"]), text("Done."))
    await run_plan(bench)
    (result,) = bench.results()
    assert result["ok"], result
    assert result["facts"]["worker"] in await cluster.pids()
    assert "42" in bench.messages(MessageType.TOOL_RESULT)[0].text
