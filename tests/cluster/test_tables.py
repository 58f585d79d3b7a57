"""Large folders of tables are read by the workers of a cluster, small files where one is."""

from __future__ import annotations

import pytest

from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.roles import AgentRole
from tests.scripted import ScriptedServer, calls, text
from tests.unit.agents.conftest import Bench

from .conftest import Cluster

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
