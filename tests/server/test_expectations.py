"""Expectations with a real kernel: pinned over HTTP, kept in the notebook, broken by a step."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.hosts.server import kernels
from tests.scripted import ScriptedServer, call, result

from .api import Api
from .notebook_kernel import NOTEBOOK, Place, write_notebook
from .notebook_kernel import place as open_elsewhere

MAKE = "import pandas\norders = pandas.DataFrame({'id': [1, 2, 3]})"
GROW = "orders = pandas.concat([orders, orders.head(1)])"
ROWS = {"of": "orders", "check": "rows", "value": 3}


__all__ = ["open_elsewhere"]


@pytest.fixture
def place(jp_serverapp: Any, jp_root_dir: Path, jp_asyncio_loop: Any) -> Iterator[Place]:
    """A notebook that nobody has open, so that its file may be written."""
    write_notebook(jp_root_dir / NOTEBOOK)
    made = Place(jp_serverapp, jp_root_dir)
    yield made
    jp_asyncio_loop.run_until_complete(made.end())


def document(root: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((root / NOTEBOOK).read_text())
    return found


async def pinned(api: Api, **more: Any) -> tuple[str, dict[str, Any]]:
    """A conversation of the notebook, and what is pinned there."""
    context = await api.new_context(notebook=NOTEBOOK)
    return context, await api.post(f"context/{context}/expectations", {**ROWS, **more}, status=201)


async def test_what_is_pinned_stands_in_the_notebook(
    place: Place, api: Api, jp_root_dir: Path
) -> None:
    context, made = await pinned(api, by="planner")
    assert made["by"] == "person"
    path = f"context/{context}/expectations"
    assert (await api.get(path))["items"] == [made]
    kept = (await asyncio.to_thread(document, jp_root_dir))["metadata"]["cowork"]["expectations"]
    assert kept == [{name: value for name, value in made.items() if value is not None}]
    changed = await api.post(path, {**ROWS, "id": made["id"], "value": 4}, status=201)
    assert (await api.get(path))["items"] == [changed]
    await place.run(MAKE, start=True)
    (state,) = (await api.get(f"{path}/check"))["items"]
    assert (state["words"], state["met"], state["found"]) == ("rows = 4", False, "it is 3")
    answer = await api.fetch("GET", f"{path}/export?format=asserts")
    assert b"assert len(orders) == 4" in answer.body
    await api.delete(f"{path}/{made['id']}")
    await api.refused("DELETE", f"{path}/{made['id']}", status=404)


@pytest.mark.usefixtures("open_elsewhere")
async def test_a_notebook_that_another_program_has_open_is_not_written(
    api: Api, jp_root_dir: Path
) -> None:
    before = await asyncio.to_thread(document, jp_root_dir)
    context = await api.new_context(notebook=NOTEBOOK)
    path = f"context/{context}/expectations"
    await api.refused("POST", path, ROWS, status=409, code="open_elsewhere")
    assert await asyncio.to_thread(document, jp_root_dir) == before


async def test_nonsense_is_refused(place: Place, api: Api) -> None:
    context = await api.new_context(notebook=NOTEBOOK)
    path = f"context/{context}/expectations"
    error = await api.refused(
        "POST", path, {"of": "orders", "check": "sum", "value": 3}, status=422
    )
    assert "needs a column" in error["message"]
    await api.refused("POST", path, {**ROWS, "check": "nice"}, status=422)
    await api.refused("GET", "context/gone/expectations", status=404)
    await api.refused("POST", "context/gone/expectations", ROWS, status=404)


async def test_a_table_is_not_measured_in_the_middle_of_a_cell(place: Place, api: Api) -> None:
    await place.run(MAKE, start=True)
    context, _ = await pinned(api)
    slow = "print('begun')\nsmall = orders.head(1)\norders, kept = small, orders\n"
    slow += "import time; time.sleep(1)\norders = kept"
    running = asyncio.ensure_future(place.run(slow))
    await place.until_shown("begun")
    (state,) = (await api.get(f"context/{context}/expectations/check"))["items"]
    assert (state["met"], state["found"]) == (True, "")
    await running


async def test_a_kernel_that_stays_busy_is_said_and_nothing_counts_as_broken(
    place: Place, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "WAITS_TO_MEASURE", 0.2)
    await place.run(MAKE, start=True)
    context, _ = await pinned(api)
    running = asyncio.ensure_future(place.run("print('begun')\nimport time; time.sleep(2)"))
    await place.until_shown("begun")
    (state,) = (await api.get(f"context/{context}/expectations/check"))["items"]
    told = "could not be checked: the kernel is busy"
    assert (state["met"], state["found"]) == (None, told)
    await running


@pytest.mark.usefixtures("connected")
async def test_a_step_that_changes_the_rows_waits_with_a_question(
    place: Place, api: Api, scripted: ScriptedServer
) -> None:
    await place.run(MAKE, start=True)
    context, made = await pinned(api)
    await api.post("rules", {"effect": "allow", "rule": "run_code", "scope": "global"}, status=201)
    plan = {"goal": "g", "steps": [{"action": "Grow orders", "tools_needed": ["run_code"]}]}
    await api.call("PUT", f"context/{context}/plan", {"plan": plan, "revision": 0})
    scripted.add(call("run_code", code=GROW, where="notebook"), result("done", "Grown."))
    body = {"revision": 1}
    job = (await api.post(f"context/{context}/plan/execute", body, status=202))["job_id"]
    question = await api.first_question(context)
    broken = "orders: expected rows = 3 — it is 4"
    assert broken in question["question"]
    assert "update" in [option["value"] for option in question["options"]]
    card = (await api.get(f"jobs/{job}/card"))["card"]
    assert broken in json.dumps(card, ensure_ascii=False)
    await api.post(f"questions/{question['id']}/answer", {"value": "update"})
    assert (await api.ended(job))["status"] == "completed"
    (updated,) = (await api.get(f"context/{context}/expectations"))["items"]
    assert (updated["id"], updated["value"]) == (made["id"], 4)


async def test_a_check_that_it_runs_holds_the_notebook_to_them(
    place: Place, api: Api, jp_root_dir: Path
) -> None:
    write_notebook(jp_root_dir / NOTEBOOK, MAKE, GROW)
    context, _ = await pinned(api)
    begun = (await api.post(f"context/{context}/reproduce", status=202))["reproduction"]
    await api.ended(begun["job_id"])
    message = (await api.get(f"context/{context}/messages"))["items"][-1]
    found = message["data"]["reproduction"]
    assert (found["runs"], found["expectations"]) == (True, 1)
    assert [one["found"] for one in found["broken"]] == ["it is 4"]
    assert "- orders: expected rows = 3 — it is 4" in message["content"][0]["text"]


async def test_a_number_that_no_json_holds_is_refused(api: Api) -> None:
    for number in ["1e999", "-1e999", "NaN", "Infinity"]:
        context = await api.new_context()
        body = f'{{"of": "df", "check": "rows", "value": {number}}}'.encode()
        address = f"context/{context}/expectations"
        await api.refused("POST", address, body, status=400, code="bad_json")
        assert (await api.get(address))["items"] == []
