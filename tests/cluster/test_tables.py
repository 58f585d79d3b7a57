"""Tables are read by the workers of a cluster: large ones for anybody, all of them for steps."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.parts.dask import worker as pool_worker
from cowork_jupyter.parts.tables import TABLE_TOOLS
from cowork_jupyter.service.parts import shipped_tools
from cowork_jupyter.tools.registry import ToolRegistry
from tests.scripted import ScriptedServer, calls, text
from tests.unit.agents.conftest import Bench
from tests.unit.agents.test_coordinator import execute, make_plan

from .conftest import Cluster
from .test_plans import ended

pytestmark = pytest.mark.asyncio


async def test_a_planner_s_query_over_a_folder_runs_at_a_worker(
    bench: Bench, cluster: Cluster, scripted: ScriptedServer
) -> None:
    folder = bench.workspace / "parts"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number}.csv").write_text(f"n\n{number}\n")
    sql = "SELECT sum(n) AS total FROM "
    scripted.add(
        calls(
            ("query_table", {"paths": ["parts"], "sql": f"{sql}parts"}),
            ("query_table", {"paths": ["parts/1*.csv"], "sql": f"{sql}'parts/1*.csv'"}),
            ("describe_table", {"path": "parts"}),
            ("query_table", {"paths": ["parts/7.csv"], "sql": f"{sql}'parts/7.csv'"}),
        ),
        text("Done."),
    )
    job = await bench.tell("Add up the parts", AgentRole.PLANNER)
    assert job.status is JobStatus.COMPLETED
    facts = [result["facts"] for result in bench.results()]
    workers = set(await cluster.pids())
    assert {len(one["paths"]): one.get("worker") in workers for one in facts} == {
        20: True,
        11: True,
        1: False,
    }
    said = "".join(message.text for message in bench.messages())
    assert "total\n190\n" in said
    assert "total\n146\n" in said
    assert "total\n7\n" in said
    assert "parts: 20 rows, 1 column" in said


async def run_step(bench: Bench, scripted: ScriptedServer, *wanted: tuple[str, Any]) -> None:
    """A plan of one step that asks these questions about tables."""
    scripted.add(calls(*wanted), text("Done."))
    make_plan(bench, {"a": []}, tools_needed=sorted(TABLE_TOOLS))
    job = await ended(bench, await execute(bench))
    assert job.status is JobStatus.COMPLETED, job.error


@pytest.mark.slow
async def test_a_step_s_questions_about_folders_and_files_are_answered_by_workers(
    bench: Bench, cluster: Cluster, scripted: ScriptedServer
) -> None:
    parts, days = bench.workspace / "parts", bench.workspace / "days"
    parts.mkdir()
    days.mkdir()
    for number in range(5):
        file = parts / f"{number}.parquet"
        duckdb.execute(f"COPY (SELECT {number} AS n, 'p' AS kind) TO '{file}'")
        (days / f"{number}.csv").write_text(f"n,weight\n{number},0.5\n")
    sql = "SELECT count(*) AS pairs, sum(weight) AS heavy FROM parts JOIN days USING (n)"
    await run_step(
        *(bench, scripted),
        ("query_table", {"paths": ["parts", "days/*.csv"], "sql": sql.replace("days", "days_1")}),
        ("query_table", {"paths": ["parts", "days"], "sql": sql}),
        ("describe_table", {"path": "parts/*.parquet"}),
        ("query_table", {"paths": ["days/3.csv"], "sql": "SELECT n AS small FROM 'days/3.csv'"}),
    )
    workers = set(await cluster.pids())
    answered = [one for one in bench.results() if one["ok"]]
    tools = sorted(one["tool"] for one in answered)
    assert tools == ["describe_table", "query_table", "query_table"]
    assert {one["facts"]["worker"] for one in answered} <= workers
    (wrong,) = (one for one in bench.results() if not one["ok"])
    assert wrong["error"]["code"] == "bad_query", "what DuckDB says there comes back"
    said = "".join(message.text for message in bench.messages())
    assert "5,2.5\n" in said.replace(" ", "").replace("|", ",").replace("\t", ",")
    assert "parts/*.parquet: 5 rows, 2 columns" in said
    assert "small\n3\n" in said


def forget_tables() -> None:
    """In a worker's process: it was installed without DuckDB."""
    tools = shipped_tools()
    left = ToolRegistry(tool for tool in tools.values() if tool.name not in TABLE_TOOLS)
    pool_worker.shipped_tools = lambda: left  # type: ignore[attr-defined]


def remember_tables() -> None:
    pool_worker.shipped_tools = shipped_tools  # type: ignore[attr-defined]


@pytest.mark.slow
async def test_a_worker_without_duckdb_says_what_to_install_there(
    bench: Bench, cluster: Cluster, scripted: ScriptedServer
) -> None:
    (bench.workspace / "a.csv").write_text("n\n1\n")
    await cluster.pids()
    await cluster.run(forget_tables)
    try:
        await run_step(bench, scripted, ("describe_table", {"path": "a.csv"}))
    finally:
        await cluster.run(remember_tables)
    (refused,) = bench.results()
    assert refused["error"]["code"] == "worker_unfit"
    assert "cowork-jupyter[data]" in refused["error"]["message"]
