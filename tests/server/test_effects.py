"""What code does to data, in real kernels of a real server: agents' calls, and one's own cells."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.agents.run import watching
from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.hosts.server import kernel_connection
from cowork_jupyter.hosts.server.kernel_connection import evaluate
from tests.scripted import ScriptedServer, call, text

from .api import PATIENCE, Api
from .notebook_kernel import NOTEBOOK, Place, write_notebook
from .notebook_kernel import a_patient_look as a_patient_look
from .notebook_kernel import place as place

pytestmark = pytest.mark.usefixtures("a_patient_look", "connected", "a_patient_watch")

MAKE = """import pandas as pd
orders = pd.DataFrame({
    "id": range(10), "region": ["N", None] * 5, "password": [f"hush{n}" for n in range(10)],
})"""
DROP = "orders = orders.dropna()\norders['month'] = 1"
LINE = "orders: 10 → 5 rows (−5), +1 column month, region missing 5 → 0"


@pytest.fixture
def a_patient_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests say by themselves when the kernel is too busy."""
    monkeypatch.setattr(watching, "PATIENCE", PATIENCE)
    monkeypatch.setattr(kernel_connection, "FREE_AFTER", PATIENCE)


async def asked(
    api: Api, scripted: ScriptedServer, tool: str, **parameters: Any
) -> tuple[str, str]:
    """The conversation and the job in which an agent called this."""
    await api.post("rules", {"effect": "allow", "rule": tool, "scope": "global"}, status=201)
    context = await api.new_context(notebook=NOTEBOOK, role="actor")
    scripted.add(call(tool, **parameters), text("Done."))
    sent = await api.post(f"context/{context}/messages", {"content": "Go."}, status=202)
    assert (await api.ended(sent["job_id"]))["status"] == "completed"
    return context, sent["job_id"]


async def test_a_cell_that_drops_rows_is_told_everywhere(
    place: Place, api: Api, scripted: ScriptedServer, jp_root_dir: Path
) -> None:
    write_notebook(jp_root_dir / NOTEBOOK, MAKE, DROP)
    await place.run(MAKE)
    context, job = await asked(api, scripted, "run_cell", cell_id="c1")
    (effect,) = (await api.get(f"jobs/{job}/effects"))["items"]
    assert effect["line"].startswith(LINE)
    assert (effect["of"], effect["notebook"], effect["cell_id"]) == ("orders", NOTEBOOK, "c1")
    assert (effect["before"]["rows"], effect["after"]["rows"]) == (10, 5)
    assert effect["sampled"] is False
    events = (await api.get(f"context/{context}/events", timeout=0))["events"]
    (event,) = [one for one in events if one["type"] == "data-effect"]
    assert event["data"] == effect
    assert event["job_id"] == job
    (outside,) = (await api.get(f"context/{context}/audit"))["outside"]
    assert [one["line"] for one in outside["effects"]] == [effect["line"]]
    answer = await api.get(f"jobs/{job}/card", whole="true")
    assert [one["line"] for one in answer["card"]["snapshot"]["effects"]] == [effect["line"]]
    assert answer["state"]["effects"] == [effect]
    exported = await api.fetch("GET", f"context/{context}/export?format=md")
    assert LINE in exported.body.decode()
    read_by_model = scripted.requests[-1].body["messages"][-1]["content"]
    assert f"[data] {LINE}" in read_by_model
    everything = f"{events}{answer}{exported.body.decode()}{read_by_model}"
    assert "hush" not in everything.replace(MAKE, "")


async def test_code_without_a_cell_and_files_are_watched(
    place: Place, api: Api, scripted: ScriptedServer
) -> None:
    await place.run(MAKE)
    code = "del orders['region']\norders.to_csv('out.csv', index=False)\nraise ValueError('late')"
    _, job = await asked(api, scripted, "run_code", code=code, where="notebook")
    table, file = (await api.get(f"jobs/{job}/effects"))["items"]
    assert table["line"].startswith("orders: −1 column region")
    assert (file["of"], file["line"]) == ("file:out.csv", "out.csv: new, 10 rows, 2 columns")
    assert "hush" not in f"{table}{file}"


async def test_a_kernel_that_works_for_somebody_else_has_no_effects(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = asyncio.create_task(place.run("print('in it', flush=True)\nwhile True: pass"))
    await place.until_shown("in it")
    monkeypatch.setattr(kernel_connection, "FREE_AFTER", 0.1)
    with pytest.raises(CoworkError, match="busy"):
        await place.kernels.tables(place.workspace, NOTEBOOK, (), 0.1)
    running.cancel()


async def test_effects_of_another_job_are_not_found(api: Api) -> None:
    await api.refused("GET", "jobs/job_none/effects", status=404)


async def test_an_integer_may_be_written_as_json_writes_it(api: Api) -> None:
    cell = {"notebook": NOTEBOOK, "cell_id": "c1", "source": ""}
    await api.refused("POST", "cell-effects", {**cell, "execution_count": 1.5}, status=422)
    await api.refused("POST", "cell-effects", {**cell, "execution_count": 1.0}, status=404)


async def ran(place: Place, code: str) -> int:
    """Run by hand; the number that the cell then has."""
    await run_by_hand(place, code)
    count: str = await place.value("get_ipython().execution_count - 1")
    return int(count)


async def told(api: Api, source: str, count: int, cell: str = "c1") -> list[dict[str, Any]]:
    body = {"notebook": NOTEBOOK, "cell_id": cell, "source": source, "execution_count": count}
    items: list[dict[str, Any]] = (await api.post("cell-effects", body))["items"]
    return items


async def watch(place: Place, api: Api) -> None:
    """As a page does: what goes to the kernel first, it has seen when a cell comes."""
    recorder = await api.get("cell-recorder")
    await evaluate(place.manager, recorder["expression"])


async def run_by_hand(place: Place, code: str) -> None:
    """As a page does, so that the kernel's history has it."""
    client = place.manager.client()
    client.start_channels(stdin=False, hb=False)
    try:
        await client.wait_for_ready()
        async with asyncio.timeout(PATIENCE):
            reply = await client.execute_interactive(code, output_hook=lambda _message: None)
        assert reply["content"]["status"] == "ok"
    finally:
        client.stop_channels()


async def test_ones_own_cells_are_told_once_their_kernel_records_them(
    place: Place, api: Api
) -> None:
    count = await ran(place, MAKE)
    assert await told(api, MAKE, count) == [], "nobody watched"
    count = await ran(place, DROP)
    (effect,) = await told(api, DROP, count, "c2")
    assert effect["line"].startswith(LINE)
    assert (effect["cell_id"], effect.get("call_id")) == ("c2", None)
    assert await told(api, DROP, count, "c2") == [effect]
    assert await told(api, MAKE, count) == [], "another cell ran as this"
    count = await ran(place, "orders.head()")
    assert await told(api, "orders.head()", count) == []
    assert (await api.get("context"))["items"] == [], "nothing is stored"


async def test_a_join_that_multiplied_rows_is_told_with_the_table_that_has_more(
    place: Place, api: Api
) -> None:
    await watch(place, api)
    await ran(place, f"{MAKE}\nlistings = orders.loc[[*range(10), 0, 1], ['id']]")
    join = "joined = orders.merge(listings, on='id', how='left')"
    (effect,) = await told(api, join, await ran(place, join))
    assert effect["line"] == "joined: new, 12 rows, 3 columns"
    (warning,) = effect["warnings"]
    assert warning["message"].endswith("2 keys appear twice in listings; 2 rows were added.")


async def test_cells_that_ran_together_are_told_one_by_one(place: Place, api: Api) -> None:
    await watch(place, api)
    counts = [await ran(place, code) for code in (MAKE, DROP, "1 / 1")]
    (made,) = await told(api, MAKE, counts[0], "c0")
    assert made["line"] == "orders: new, 10 rows, 3 columns"
    (dropped,) = await told(api, DROP, counts[1], "c1")
    assert dropped["line"].startswith(LINE)
    assert await told(api, "1 / 1", counts[2]) == []


async def test_what_the_last_run_left_is_not_compared_with(place: Place, api: Api) -> None:
    await watch(place, api)
    for code in (MAKE, DROP):
        await ran(place, code)
    counts = [await ran(place, code) for code in (MAKE, DROP)]
    (made,) = await told(api, MAKE, counts[0], "c0")
    assert made["line"] == "orders: new, 10 rows, 3 columns"
    assert made["before"] is None
    (dropped,) = await told(api, DROP, counts[1], "c1")
    assert dropped["line"].startswith(LINE)


async def test_what_an_agent_did_in_between_is_not_a_cells(place: Place, api: Api) -> None:
    await watch(place, api)
    await ran(place, MAKE)
    await place.run(DROP)
    count = await ran(place, "other = orders.copy()")
    (effect,) = await told(api, "other = orders.copy()", count)
    assert effect["line"] == "other: new, 5 rows, 4 columns"


async def test_a_kernel_that_was_restarted_has_lost_nothing_by_a_cell(
    place: Place, api: Api
) -> None:
    await watch(place, api)
    count = await ran(place, MAKE)
    await place.app.kernel_manager.restart_kernel(place.kernel_id)
    assert await told(api, MAKE, count) == []
    count = await ran(place, "x = 1")
    assert await told(api, "x = 1", count) == []


async def test_cells_that_depend_on_another_are_listed(api: Api, jp_root_dir: Path) -> None:
    sources = ("orders = 1", "x = 2", "clean = orders + 1", "clean")
    write_notebook(jp_root_dir / NOTEBOOK, *sources)
    path = jp_root_dir / NOTEBOOK
    path.write_text(path.read_text().replace('"execution_count": null', '"execution_count": 3'))
    found = await api.get("stale-cells", notebook=NOTEBOOK, cell_id="c0")
    assert found == {
        "items": [
            {"cell_id": "c2", "cell": 3, "name": "orders", "changed_id": "c0"},
            {"cell_id": "c3", "cell": 4, "name": "clean", "changed_id": "c0"},
        ],
        "next": None,
    }
    address = f"stale-cells?notebook={NOTEBOOK}&cell_id=none"
    await api.refused("GET", address, status=404, code="no_such_cell")
    await api.refused("GET", "stale-cells?notebook=gone.ipynb&cell_id=c0", status=404)


async def test_cells_that_ran_before_their_input_changed_are_listed(api: Api) -> None:
    cells = [
        {"id": "c0", "source": "orders = 1", "ran": 3, "changed": 3},
        {"id": "c1", "source": "orders + 1", "ran": 2, "changed": 2},
        {"id": "c2", "source": "orders + 2"},
    ]
    found = await api.post("stale-cells", {"cells": cells})
    stale = {"cell_id": "c1", "cell": 2, "name": "orders", "changed_id": "c0"}
    assert found == {"items": [stale], "next": None}
    await api.refused("POST", "stale-cells", {"cells": [{"source": ""}]}, status=422)
