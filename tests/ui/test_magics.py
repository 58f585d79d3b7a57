"""The magics in JupyterLab: the card lives on by itself, whatever happens to page and kernel."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.scripted import ScriptedServer, plan, stall, text

from .lab import LabServer
from .patience import until
from .person import card, choose_in_menu, open_notebook, run_cells, until_ready

Screenshot = Callable[[Page, str], Path]

STEPS = ["Load sales.csv", "Group by month", "Draw the chart"]
CELLS = ["%load_ext cowork_jupyter", "%%plan\nShow revenue by month"]


@pytest.fixture
def model() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def lab(tmp_path: Path, model: ScriptedServer) -> Iterator[LabServer]:
    """A JupyterLab with a model, and a notebook with a goal."""
    environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted"}
    with LabServer(tmp_path, environment) as running:
        write(running.root / "sales.ipynb", *CELLS)
        yield running


def write(path: Path, *sources: str) -> None:
    cells: list[dict[str, Any]] = [
        {
            "cell_type": "code",
            "id": f"cell-{number}",
            "metadata": {},
            "execution_count": None,
            "outputs": [],
            "source": source,
        }
        for number, source in enumerate(sources)
    ]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(notebook))


def chats(model: ScriptedServer) -> int:
    return sum("chat" in one.path for one in model.requests)


def save_until_it_reads(page: Page, path: Path, *words: str) -> None:
    """Save the notebook until the text of its second cell's output has these words."""

    def is_there() -> bool:
        choose_in_menu(page, "File", "Save Notebook")
        page.wait_for_timeout(500)
        outputs: list[dict[str, Any]] = []
        with contextlib.suppress(ValueError):  # it is being written just now
            outputs = json.loads(path.read_text())["cells"][1]["outputs"]
        text = "".join("".join(one["data"]["text/markdown"]) for one in outputs)
        return all(word in text for word in words)

    until(page, is_there, f"{words} are not saved")


def test_a_plan_card_is_saved_as_text_and_survives_a_reload_and_a_second_run(
    page: Page, lab: LabServer, model: ScriptedServer, screenshot: Screenshot
) -> None:
    model.add(plan("Show revenue by month", *STEPS))
    open_notebook(page, lab, "sales.ipynb")
    run_cells(page, 2)
    shown = card(page, STEPS[0])
    expect(shown).to_have_count(1)
    for step in STEPS:
        expect(shown).to_contain_text(step)
    expect(shown).to_contain_text("Planner")
    screenshot(page, "plan-card")

    save_until_it_reads(page, lab.root / "sales.ipynb", "*plan ready", "3. Draw the chart")
    page.reload()
    until_ready(page)
    expect(card(page, STEPS[2])).to_have_count(1)

    run_cells(page, 2)
    again = card(page, STEPS[0]).get_by_role("button", name="Run again")
    expect(again).to_be_visible()
    expect(card(page, STEPS[0]).get_by_role("button", name="Start over")).to_be_visible()
    screenshot(page, "run-before")
    assert chats(model) == 1, "looking at a card again asks no model"

    model.add(text("As before, there is no sales.csv here."))
    again.click()
    outputs = page.locator(".jp-OutputArea .cw-card").first
    expect(outputs).to_contain_text("As before, there is no")
    assert chats(model) == 2


@pytest.mark.slow
def test_the_status_card_switches_the_role_and_stops_what_runs_only_if_confirmed(
    page: Page, lab: LabServer, model: ScriptedServer, screenshot: Screenshot
) -> None:
    write(lab.root / "roles.ipynb", "%%act\nThink about trees", "%cowork")
    model.add(stall("Let me think", after=3))
    open_notebook(page, lab, "roles.ipynb")
    run_cells(page, 2)
    running = page.locator(".jp-OutputArea .cw-run")
    expect(running).to_contain_text("Let me")
    status = card(page, "Check connection")
    pill = status.locator(".cw-head .cw-pill").first
    expect(pill).to_contain_text("Actor")
    pill.click()
    status.get_by_role("menuitemradio", name="Reviewer").click()
    expect(status).to_contain_text("A job is running; switching to Reviewer stops it.")
    screenshot(page, "status-switcher")
    expect(running).to_contain_text("Working…")
    status.get_by_role("button", name="Switch and stop").click()
    expect(pill).to_contain_text("Reviewer")
    expect(running).to_contain_text("Stopped")
