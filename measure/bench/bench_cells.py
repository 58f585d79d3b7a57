"""Edits of a notebook that is open in a real browser, from the model's call to its result."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from cowork_jupyter.tools.notebook.state import CellState
from tests.scripted import ScriptedServer, call, text
from tests.ui.agent import Agent
from tests.ui.chromium import ARGUMENTS, HELP, find_chromium
from tests.ui.lab import LabServer

from .rows import Row

EDITS = 20
CELLS = 100
NAME = "bench.ipynb"


def measure() -> Iterator[Row]:
    executable = find_chromium()
    if not executable:
        raise SystemExit(HELP)
    with tempfile.TemporaryDirectory() as folder, ScriptedServer(models="scripted") as model:
        environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted"}
        with LabServer(Path(folder), environment) as lab, sync_playwright() as playwright:
            (lab.root / NAME).write_text(json.dumps(_notebook()))
            agent = Agent(lab, model)
            agent.allow("edit_cell")
            chromium = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
            page = chromium.new_page()
            page.goto(lab.url(f"lab/tree/{NAME}"))
            _wait_until_open(agent)
            times = _edit_times(agent, model)
            chromium.close()
    yield Row(
        "edit_cell in an open notebook, with its checkpoints",
        statistics.median(times),
        "ms",
        300,
        f"median of {EDITS}, {CELLS} cells, slowest {max(times):.0f} ms",
    )


def _notebook() -> dict[str, Any]:
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "id": f"c{number}", "source": f"x = {number}", "metadata": {},
         "outputs": [], "execution_count": None}
        for number in range(CELLS)
    ]  # fmt: skip
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def _wait_until_open(agent: Agent) -> None:
    give_up = time.monotonic() + 60
    while not agent.use("read_notebook", path=NAME, limit=1)["data"]["facts"]["open"]:
        if time.monotonic() > give_up:
            raise TimeoutError("the notebook does not open")
        time.sleep(0.1)


def _edit_times(agent: Agent, model: ScriptedServer) -> list[float]:
    """Milliseconds from each call to its result, as the record has them."""
    for number in range(EDITS):
        known = CellState(f"c{number}", "code", f"x = {number}").fingerprint
        model.add(
            call("edit_cell", path=NAME, cell_id=f"c{number}", fingerprint=known, source="y = 1")
        )
    model.add(text("Done."))
    messages = agent.run()
    began = {one["data"]["call_id"]: one for one in messages if one["message_type"] == "tool_call"}
    ended = [one for one in messages if one["message_type"] == "tool_result"]
    assert [one["data"]["ok"] for one in ended] == [True] * EDITS, ended[-1]
    return [(_at(one) - _at(began[one["data"]["call_id"]])) * 1000 for one in ended]


def _at(message: dict[str, Any]) -> float:
    return datetime.fromisoformat(message["created_at"]).timestamp()
