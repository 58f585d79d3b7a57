"""Cells that the agent runs in a notebook that is open in a real browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.scripted import ScriptedServer, call, text

from .agent import Agent
from .lab import LabServer
from .patience import PATIENCE, until
from .person import save
from .test_cells import cell, editor, open_it, until_read, write
from .test_cells import lab as lab
from .test_cells import model as model
from .test_cells import name as name

pytestmark = pytest.mark.slow

Screenshot = Callable[[Page, str], Path]


@pytest.fixture(scope="module")
def agent(lab: LabServer, model: object) -> Agent:
    made = Agent(lab, model)  # type: ignore[arg-type]
    made.allow("run_cell", "run_code")
    return made


def test_outputs_appear_in_the_notebook_as_they_come_and_reach_the_model(
    page: Page, lab: LabServer, agent: Agent, name: str, tmp_path: Path, screenshot: Screenshot
) -> None:
    go_on = tmp_path / "go on"
    waits = f"while not pathlib.Path({str(go_on)!r}).exists(): time.sleep(0.01)"
    source = f"import pathlib, time\nprint('first', flush=True)\n{waits}\nprint('second')\n6 * 7"
    path = write(lab, name, source, "user")
    open_it(page, lab, name, agent)
    editor(page, 1).click()
    page.keyboard.press("End")
    page.keyboard.type("s")  # a notebook without unsaved edits would be saved after the run
    until_read(agent, page, name, "users")
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(agent.use, "run_cell", path=name, cell_id="c0")
        output = cell(page, 0).locator(".jp-OutputArea")
        expect(output).to_contain_text("first")
        expect(cell(page, 0)).to_contain_text("[*]:")
        expect(output).not_to_contain_text("second")
        page.keyboard.type(" own words")
        screenshot(page, "running")
        go_on.touch()
        result = running.result(PATIENCE / 1000)
    said = agent.said(result)
    assert result["data"]["ok"], said
    assert "first\nsecond\n42" in said
    expect(output).to_contain_text("42")
    expect(cell(page, 0)).to_contain_text("[1]:")
    expect(editor(page, 1)).to_have_text("users own words")
    assert json.loads(path.read_text())["cells"][1]["source"] == "user"  # not saved for the user


def test_a_cell_that_asks_for_input_fails_and_says_why(
    page: Page, lab: LabServer, agent: Agent, name: str
) -> None:
    write(lab, name, "x = 1\nname = input('Who? ')")
    open_it(page, lab, name, agent)
    result = agent.use("run_cell", path=name, cell_id="c0")
    assert result["data"]["error"]["code"] == "code_failed"
    assert result["data"]["error"]["details"]["line"] == 2
    assert "it asks for input" in agent.said(result)
    expect(cell(page, 0).locator(".jp-OutputArea")).to_contain_text("StdinNotImplementedError")


def test_a_cell_that_the_user_is_changing_runs_as_it_is_now(
    page: Page, lab: LabServer, agent: Agent, name: str
) -> None:
    write(lab, name, "x = 1")
    open_it(page, lab, name, agent)
    editor(page, 0).click()
    page.keyboard.press("End")
    page.keyboard.type("00\nprint(x + 1)")
    result = agent.use("run_cell", path=name, cell_id="c0")
    assert "101" in agent.said(result)

    def is_seen() -> bool:
        """For a moment the server may not know yet that the kernel has nothing to do."""
        looked = agent.said(agent.use("inspect_variable", path=name, name="x"))
        return "x: int" in looked and "100" in looked

    until(page, is_seen, "x is not seen")


def test_the_card_checks_that_the_notebook_still_runs_and_finds_the_check_after_a_reload(
    page: Page,
    lab: LabServer,
    agent: Agent,
    model: ScriptedServer,
    name: str,
    tmp_path: Path,
    screenshot: Screenshot,
) -> None:
    go_on = tmp_path / "go on"
    waits = f"while not pathlib.Path({str(go_on)!r}).exists(): time.sleep(0.01)"
    waits = f"import pathlib, time\n{waits}"
    write(lab, name, "%load_ext cowork_jupyter", "%%act\nSay done", waits, "x + hidden")
    open_it(page, lab, name, agent)
    model.add(call("run_code", code="1 + 1"), text("Done."))
    for number in (0, 1):
        editor(page, number).click()
        page.keyboard.press("Shift+Enter")
    card = page.locator(".jp-OutputArea .cw-run")
    card.get_by_role("button", name="Check that it runs…").click()
    expect(card).to_contain_text(f"All code cells of {name} run from top to bottom")
    card.get_by_role("button", name="Run all cells").click()
    expect(card).to_contain_text("Running cell 2 of 3")
    screenshot(page, "check-running")
    save(page)
    page.reload()
    expect(card).to_contain_text("Running cell 2 of 3")
    go_on.touch()
    expect(card.locator(".cw-checked")).to_contain_text(
        "does not run from top to bottom: cell 4, line 1: NameError: name 'x' is not defined"
    )
    expect(card.locator(".cw-checked")).to_contain_text("It uses 'hidden', which no cell defines.")
    screenshot(page, "check-found")
