"""Suggestions over HTTP: streamed, ended with the caller, and nothing sent that must not be."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from cowork_jupyter.domain.settings import BUILT_IN
from tests import scripted as replies
from tests.scripted import Scripted, ScriptedServer

from .api import PATIENCE, Api
from .test_callers import AsKernel
from .test_callers import as_kernel as as_kernel
from .test_callers import kernels as kernels

KEY = "sk-this-is-the-users-own-secret-key"
NOTEBOOK = "sales.ipynb"
FIXED = "x = total + 1"
ANSWER = f"The name was wrong.\n\n```python\n{FIXED}\n```\nGood luck!"
CELLS: list[dict[str, Any]] = [
    {"id": "c0", "source": "total = 41", "has_run": True},
    {"id": "c1", "source": "password = 'of my own'", "has_run": True},
    {"id": "c2", "source": "x = totl + 1", "has_run": True},
]
ERROR: dict[str, str] = {
    "name": "NameError",
    "value": "name 'totl' is not defined",
    "traceback": "Cell In[3], line 1\n----> 1 x = totl + 1\n\nNameError: 'totl' is not defined",
}
FIX: dict[str, Any] = {
    "kind": "fix",
    "cell_id": "c2",
    "source": "x = totl + 1",
    "error": ERROR,
    "cells": CELLS,
}


@pytest.fixture
def keyed(connected: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COWORK_API_KEY", KEY)


def write_notebook(root: Path, private: str = "") -> None:
    cells = [
        {"cell_type": "code", "id": cell["id"], "source": cell["source"], "outputs": [],
         "execution_count": 1, "metadata": {"tags": ["private"] if cell["id"] == private else []}}
        for cell in CELLS
    ]  # fmt: skip
    document = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (root / NOTEBOOK).write_text(json.dumps(document))


async def suggested(api: Api, context: str, **request: Any) -> list[dict[str, Any]]:
    """The lines of an answer."""
    answer = await api.fetch("POST", f"context/{context}/suggestions", request)
    assert answer.code == 200, answer.body
    assert answer.headers["Content-Type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.body.splitlines()]


def shown(lines: list[dict[str, Any]]) -> str:
    text = ""
    for line in lines:
        text = "" if line["type"] == "reset" else text + line.get("text", "")
    return text


def sent(scripted: ScriptedServer) -> str:
    return json.dumps(scripted.requests[-1].body["messages"])


@pytest.mark.usefixtures("connected")
async def test_a_fix_is_streamed_and_stored_with_what_became_of_it(
    api: Api, scripted: ScriptedServer
) -> None:
    context = await api.new_context()
    scripted.add(replies.text(ANSWER, delay=0.02))
    lines = await suggested(api, context, **FIX)
    assert [lines[0]["type"], lines[0]["model"], lines[-1]["type"]] == [
        "started",
        "scripted",
        "done",
    ]
    assert len([one for one in lines if one["type"] == "text"]) > 3
    assert shown(lines) == lines[-1]["source"] == FIXED
    assert lines[-1]["explanation"] == "The name was wrong."
    assert "Good luck" not in json.dumps(lines)
    address = f"context/{context}/suggestions/{lines[0]['id']}/decision"
    await api.post(address, {"decision": "rejected"}, status=204)
    events = (await api.get(f"context/{context}/events", after=0, timeout=0))["events"]
    made, decided = [one["data"] for one in events if one["type"] == "notice"]
    assert made["code"] == "suggestion"
    assert (made["kind"], made["cell_id"], made["source"]) == ("fix", "c2", FIXED)
    assert made["model"] == "scripted"
    assert decided == {"code": "suggestion_decided", "id": made["id"], "decision": "rejected"}
    exported = await api.fetch("GET", f"context/{context}/export?format=jsonl")
    assert FIXED in exported.body.decode()
    report = (await api.fetch("GET", f"context/{context}/export?format=md")).body.decode()
    assert "## Suggestions" in report
    assert f"```python\n{FIXED}\n```" in report
    assert "The name was wrong. · *rejected*" in report
    # What was not wanted is known the next time.
    scripted.add(replies.text("```python\nx = 42\n```"))
    await suggested(api, context, **FIX)
    assert "Tried already" in sent(scripted)
    assert FIXED in sent(scripted)


@pytest.mark.usefixtures("connected")
async def test_each_piece_leaves_as_it_comes_and_an_abort_ends_the_models_connection(
    api: Api,
    scripted: ScriptedServer,
    http_server: Any,
    jp_serverapp: Any,
    jp_http_port: int,
    jp_auth_header: dict[str, str],
) -> None:
    context = await api.new_context()
    scripted.add(replies.stall("```python\nx = 1\ny = 2", after=7))
    base = f"http://127.0.0.1:{jp_http_port}{jp_serverapp.base_url}cowork"
    url = f"{base}/context/{context}/suggestions"
    async with asyncio.timeout(PATIENCE), httpx.AsyncClient(timeout=None) as client:
        async with client.stream("POST", url, json=FIX, headers=jp_auth_header) as response:
            lines = response.aiter_lines()
            text = ""
            while "x" not in text:
                text += json.loads(await anext(lines)).get("text", "")
            exchange = scripted.requests[-1]
            assert not exchange.disconnected.is_set()
        while not exchange.disconnected.is_set():
            await asyncio.sleep(0.01)
    events = (await api.get(f"context/{context}/events", after=0, timeout=0))["events"]
    assert not [one for one in events if one["type"] == "notice"]


@pytest.mark.usefixtures("connected")
async def test_private_cells_are_sent_to_no_model(
    api: Api, scripted: ScriptedServer, jp_root_dir: Path
) -> None:
    write_notebook(jp_root_dir, private="c1")
    context = await api.new_context(notebook=NOTEBOOK)
    request = {**FIX, "source": "x = totl + 1\nprint(password)"}
    request["error"] = {**ERROR, "traceback": f"{ERROR['traceback']}\n      1 {CELLS[1]['source']}"}
    for kind in ("fix", "explain", "change", "next_cell", "complete"):
        scripted.add(replies.text(ANSWER))
        await suggested(api, context, **{**request, "kind": kind, "instruction": "Do it."})
        assert "of my own" not in sent(scripted), kind
        assert "totl" in sent(scripted), kind
    # Nor is it told of where the user is.
    scripted.add(replies.text("Hello."))
    posted = await api.post(f"context/{context}/messages", {"content": "Hello?"}, status=202)
    await api.ended(posted["job_id"])
    assert "total = 41" in sent(scripted)
    assert "of my own" not in sent(scripted)


@pytest.mark.usefixtures("connected")
async def test_a_private_cell_gets_no_suggestion_of_a_model(
    api: Api, scripted: ScriptedServer, jp_root_dir: Path
) -> None:
    write_notebook(jp_root_dir, private="c2")
    context = await api.new_context(notebook=NOTEBOOK)
    for kind in ("fix", "complete"):
        lines = await suggested(api, context, **{**FIX, "kind": kind})
        assert lines[-1]["error"]["code"] == "private_cell"
    assert scripted.requests == []


@pytest.mark.usefixtures("keyed")
async def test_keys_are_masked_on_the_wire_and_come_back_in_the_cell(
    api: Api, scripted: ScriptedServer
) -> None:
    context = await api.new_context()
    source = f'key = "{KEY}"\nx = totl'
    scripted.add(replies.text('```python\nkey = "•••"\nx = total\n```'))
    lines = await suggested(api, context, **{**FIX, "source": source})
    assert KEY not in json.dumps(scripted.requests[-1].body)
    assert lines[-1]["source"] == f'key = "{KEY}"\nx = total'
    events = await api.fetch("GET", f"context/{context}/events?after=0&timeout=0")
    assert KEY not in events.body.decode()


@pytest.mark.usefixtures("connected")
async def test_what_others_wrote_is_framed(api: Api, scripted: ScriptedServer) -> None:
    context = await api.new_context()
    scripted.add(replies.text(ANSWER))
    await suggested(api, context, **{**FIX, "kind": "change", "instruction": "Use total."})
    system, user = (one["content"] for one in scripted.requests[-1].body["messages"])
    mark = system.partition("<data-")[2].partition(">")[0]
    framed, _, rest = user.partition(f"</data-{mark}>")
    assert "totl" in framed
    assert "Use total." in rest


@pytest.mark.usefixtures("connected")
async def test_a_completion_is_cut_to_what_fits_and_asked_for_once(
    api: Api, scripted: ScriptedServer
) -> None:
    context = await api.new_context()
    scripted.add(replies.text("tal + 1)\n\nprint('more')"))
    request = {"kind": "complete", "cell_id": "c2", "source": "print(to)", "cursor": 8}
    lines = await suggested(api, context, **request, cells=CELLS)
    assert lines[-1] == {**lines[-1], "type": "done", "source": "tal + 1"}
    assert scripted.requests[-1].body["max_tokens"] <= 128
    again = await suggested(api, context, **request, cells=CELLS)
    assert again[-1]["source"] == "tal + 1"
    assert len(scripted.requests) == 1
    events = (await api.get(f"context/{context}/events", after=0, timeout=0))["events"]
    assert events == []


@pytest.fixture
def small_model(connected: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COWORK_SMALL_MODEL", "gpt-6-luna")


@pytest.mark.usefixtures("small_model")
async def test_a_small_model_completes_at_its_own_price_and_fixes_nothing(
    api: Api, scripted: ScriptedServer
) -> None:
    context = await api.new_context()
    spent = {"prompt_tokens": 1_000_000, "completion_tokens": 10, "total_tokens": 1_000_010}
    scripted.add(Scripted(text="tal", usage=spent), replies.text("```python\nx\n```"))
    request = {"kind": "complete", "cell_id": "c2", "source": "print(to)", "cursor": 8}
    lines = await suggested(api, context, **request, cells=CELLS)
    usage = lines[-1]["usage"]
    assert (lines[0]["model"], usage["model"]) == ("gpt-6-luna", "gpt-6-luna")
    assert usage["cost"] == pytest.approx(0.1, rel=0.01)
    await suggested(api, context, **FIX)
    assert [one.body["model"] for one in scripted.requests] == ["gpt-6-luna", "scripted"]


@pytest.mark.usefixtures("connected")
async def test_words_without_code_are_an_error_that_says_them(
    api: Api, scripted: ScriptedServer
) -> None:
    context = await api.new_context()
    scripted.add(replies.text("I would need to see the data for this."))
    lines = await suggested(api, context, **FIX)
    assert lines[-1]["error"]["code"] == "no_code"
    assert "see the data" in lines[-1]["error"]["message"]


@pytest.mark.usefixtures("connected")
async def test_a_server_that_fails_is_the_last_line(api: Api, scripted: ScriptedServer) -> None:
    context = await api.new_context()
    scripted.add(replies.unknown_model())
    lines = await suggested(api, context, **FIX)
    assert lines[-1]["type"] == "error"
    assert lines[-1]["error"]["code"] == "model_unknown"


async def test_without_a_model_the_guide_fixes_and_explains(api: Api) -> None:
    context = await api.new_context()
    other = {**FIX, "source": "np.zeros(3)"}
    other["error"] = {**ERROR, "value": "name 'np' is not defined"}
    lines = await suggested(api, context, **other)
    assert lines[0]["model"] == BUILT_IN
    assert shown(lines) == lines[-1]["source"] == "import numpy as np\nnp.zeros(3)"
    assert lines[-1]["explanation"] == "`np` was not imported."
    explained = await suggested(api, context, **{**other, "kind": "explain"})
    assert "`np` was not imported." in explained[-1]["source"]
    for kind in ("generate", "change", "complete", "next_cell"):
        refused = await suggested(api, context, kind=kind, cell_id="c", instruction="A chart")
        assert refused[-1]["error"]["code"] == "no_model"


async def test_the_guide_leaves_a_cell_as_it_is_that_it_cannot_repair(api: Api) -> None:
    context = await api.new_context()
    odd: dict[str, Any] = {"source": "x = zzz", "error": {"name": "OddError", "value": "so"}}
    lines = await suggested(api, context, **{**FIX, **odd})
    assert [one["type"] for one in lines] == ["started", "done"]
    assert lines[-1]["source"] == "x = zzz"
    assert "I have no rule for this error" in lines[-1]["explanation"]


async def test_who_may_not_ask_is_told_before_the_first_byte(api: Api, as_kernel: AsKernel) -> None:
    context = await api.new_context()
    address = f"context/{context}/suggestions"
    await api.refused("POST", "context/ctx_nothing/suggestions", FIX, status=404, code="not_found")
    await api.refused("POST", address, {**FIX, "kind": "other"}, status=422)
    await api.refused("POST", address, {**FIX, "extra": 1}, status=422)
    await api.refused("POST", address, b"{", status=400, code="bad_json")
    decision = f"{address}/sug_nothing/decision"
    await api.refused("POST", decision, {"decision": "accepted"}, status=404)
    kernel = await as_kernel()
    await kernel.refused("POST", address, FIX, status=403)
    await kernel.refused("POST", decision, {"decision": "accepted"}, status=403)


@pytest.mark.usefixtures("connected")
async def test_what_an_instruction_points_at_goes_along_as_far_as_the_role_may_read_it(
    api: Api, scripted: ScriptedServer, jp_root_dir: Path
) -> None:
    write_notebook(jp_root_dir, private="c1")
    (jp_root_dir / "prices.csv").write_text("product,price\nlamp,20\n")
    context = await api.new_context(notebook=NOTEBOOK)
    scripted.add(replies.text("```python\n1\n```"))
    words = "read @prices.csv as in @cell:2"
    await suggested(api, context, **{**FIX, "kind": "change", "error": None, "instruction": words})
    assert "product" in sent(scripted)
    assert "of my own" not in sent(scripted)
    assert "tagged private" in sent(scripted)
