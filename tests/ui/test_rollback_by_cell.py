"""An open notebook goes back cell by cell: what the agent changed, and nothing of its user's."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from cowork_jupyter.tools.notebook.state import CellState
from tests.scripted import Scripted, ScriptedServer, call, text

from .agent import Agent
from .lab import LabServer
from .patience import until
from .person import open_notebook, save

pytestmark = pytest.mark.slow

Screenshot = Callable[[Page, str], Path]
SOURCES = {"c1": "a = 1", "c2": "b = 2", "c3": "c = 3", "c4": "d = 4"}


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedServer]:
    with ScriptedServer(models="scripted") as server:
        yield server


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, model: ScriptedServer) -> Iterator[LabServer]:
    environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted"}
    with LabServer(tmp_path_factory.mktemp("by-cell"), environment) as server:
        yield server


@pytest.fixture(scope="module")
def agent(lab: LabServer, model: ScriptedServer) -> Agent:
    made = Agent(lab, model)
    made.allow("edit_cell")
    return made


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A notebook of its own for each test."""
    return f"{request.node.name[5:25]}.ipynb"


def edit(name: str, cell_id: str, source: str) -> Scripted:
    known = CellState(cell_id, "code", SOURCES[cell_id]).fingerprint
    return call("edit_cell", path=name, cell_id=cell_id, fingerprint=known, source=source)


def write(lab: LabServer, name: str) -> None:
    """Four cells of the user's, then those that ask the agent."""
    sources = {**SOURCES, "load": "%load_ext cowork_jupyter", "ask": "%%act\nTidy up"}
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "id": cell_id, "source": source, "metadata": {},
         "outputs": [], "execution_count": None}
        for cell_id, source in sources.items()
    ]  # fmt: skip
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    document = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4}
    (lab.root / name).write_text(json.dumps({**document, "nbformat_minor": 5}))


def editor(page: Page, number: int) -> Locator:
    """Of a cell, counted as people do."""
    return page.locator(".jp-Notebook .jp-Cell").nth(number - 1).locator(".cm-content")


def expect_cells(page: Page, *sources: str) -> None:
    """The user's cells show this, and after them come those that ask the agent."""
    expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(len(sources) + 2)
    for number, source in enumerate(sources, 1):
        expect(editor(page, number).locator(".cm-line")).to_have_text(source.split("\n"))


def add_line(page: Page, number: int, line: str) -> None:
    editor(page, number).click()
    page.keyboard.press("Control+End")
    page.keyboard.press("Enter")
    page.keyboard.type(line)
    expect(editor(page, number).locator(".cm-line").last).to_have_text(line)


def press(run: Locator, name: str) -> None:
    run.get_by_role("button", name=name, exact=True).click()


@pytest.fixture
def run(page: Page, lab: LabServer, agent: Agent, model: ScriptedServer, name: str) -> Locator:
    """The card of a run that changed cells 2 and 4, and inserted one behind them."""
    write(lab, name)
    open_notebook(page, lab, name)
    until(page, lambda: _is_open(agent, name), f"{name} is not known to be open")
    model.add(
        call("insert_cell", path=name, source="new = 'agent'", after="c4"),
        edit(name, "c2", "b = 'agent'"),
        edit(name, "c4", "d = 'agent'"),
        text("Done."),
    )
    for number in (5, 6):
        editor(page, number).click()
        page.keyboard.press("Control+Enter")
    card = page.locator(".jp-OutputArea .cw-run")
    press(card, "Allow once")
    expect(card).to_contain_text("Completed")
    expect_cells(page, "a = 1", "b = 'agent'", "c = 3", "d = 'agent'", "new = 'agent'")
    return card


def _is_open(agent: Agent, name: str) -> bool:
    result = agent.use("read_notebook", path=name, limit=1)
    return bool((result["data"].get("facts") or {}).get("open"))


def test_only_what_the_agent_changed_goes_back(
    page: Page, lab: LabServer, run: Locator, name: str, screenshot: Screenshot
) -> None:
    add_line(page, 1, "mine = 1")
    add_line(page, 4, "mine = 4")
    mine, both = "a = 1\nmine = 1", "d = 'agent'\nmine = 4"
    press(run, "Roll back…")
    choice = run.get_by_role("checkbox", name=f"Roll back anyway: Cell 4 of {name}")
    expect(choice).not_to_be_checked()
    expect(run.locator(".cw-cell-texts .cw-code")).to_have_text(["d = 4", both])
    expect(run).to_contain_text(f"Cells that only you changed stay as they are: {name}.")
    run.get_by_role("button", name="Roll back now").scroll_into_view_if_needed()
    screenshot(page, "by-cell-preview")
    press(run, "Roll back now")
    expect(run).to_contain_text("Rolled back.")
    expect_cells(page, mine, "b = 2", "c = 3", both)
    expect(run).to_contain_text(f"Cell 4 of {name}: someone else changed it too")
    screenshot(page, "by-cell-done")

    press(run, "Close")
    press(run, "Roll back…")
    choice.check()
    expect(run).to_contain_text("Would be restored · 1 file")
    press(run, "Roll back now")
    expect(run).to_contain_text("Rolled back.")
    expect_cells(page, mine, "b = 2", "c = 3", "d = 4")
    press(run, "Undo the rollback")
    expect(run).to_contain_text("The rollback is undone.")
    expect_cells(page, mine, "b = 2", "c = 3", both)
    save(page)
    saved = json.loads((lab.root / name).read_text())["cells"]
    assert ["".join(one["source"]) for one in saved][:4] == [mine, "b = 2", "c = 3", both]


def test_the_preview_is_made_anew_if_something_else_would_happen(
    page: Page, run: Locator, name: str, screenshot: Screenshot
) -> None:
    press(run, "Roll back…")
    expect(run).to_contain_text("Would be restored · 1 file")
    expect(run.get_by_role("checkbox")).to_have_count(0)
    add_line(page, 4, "mine = 4")
    press(run, "Roll back now")
    expect(run).to_contain_text("Something has changed since the preview.")
    expect(run.get_by_role("checkbox", name=f"Roll back anyway: Cell 4 of {name}")).to_be_visible()
    both = "d = 'agent'\nmine = 4"
    expect_cells(page, "a = 1", "b = 'agent'", "c = 3", both, "new = 'agent'")
    screenshot(page, "by-cell-anew")
    add_line(page, 1, "mine = 1")  # which nothing would be done to
    press(run, "Roll back now")
    expect(run).to_contain_text("Rolled back.")
    expect_cells(page, "a = 1\nmine = 1", "b = 2", "c = 3", both)
    press(run, "Undo the rollback")
    expect(run).to_contain_text("The rollback is undone.")
    expect_cells(page, "a = 1\nmine = 1", "b = 'agent'", "c = 3", both, "new = 'agent'")
