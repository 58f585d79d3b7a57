"""Only a person approves: the same cell, run by a person and run by an agent."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.scripted import ScriptedServer, call, plan, text

from .agent import Agent
from .lab import LabServer
from .patience import MOMENT, until, worked
from .person import choose_in_menu
from .test_cells import cell, editor, open_it, write
from .test_cells import lab as lab
from .test_cells import model as model
from .test_cells import name as name

pytestmark = pytest.mark.slow

Screenshot = Callable[[Page, str], Path]
LOAD = "%load_ext cowork_jupyter"
GOAL = "Look around"


@pytest.fixture(scope="module")
def agent(lab: LabServer, model: ScriptedServer) -> Agent:
    made = Agent(lab, model)
    made.allow("run_cell", "insert_cell")
    return made


def press_shift_enter(page: Page, number: int) -> Locator:
    editor(page, number).click()
    page.keyboard.press("Shift+Enter")
    return cell(page, number).locator(".jp-OutputArea")


def add_plan(model: ScriptedServer) -> None:
    model.add(plan(GOAL, {"action": "List the files", "tools_needed": ["list_directory"]}))


def add_execution(model: ScriptedServer) -> None:
    model.add(call("list_directory", path="."), text("Looked."))


def executions(agent: Agent, name: str) -> list[dict[str, Any]]:
    (context,) = [
        one
        for one in agent.request("GET", f"context?notebook={name}")["items"]
        if one["title"] == GOAL
    ]
    jobs = agent.request("GET", f"context/{context['id']}/jobs")["items"]
    return [job for job in jobs if job["kind"] == "plan"]


def test_a_person_who_runs_the_cell_executes_the_plan_at_once(
    page: Page, lab: LabServer, agent: Agent, model: ScriptedServer, name: str
) -> None:
    write(lab, name, LOAD, f"%%plan\n{GOAL}", "%%act")
    open_it(page, lab, name, agent)
    add_plan(model)
    press_shift_enter(page, 0)
    planned = press_shift_enter(page, 1)
    expect(planned.get_by_role("button", name="Execute plan")).to_be_visible()
    add_execution(model)
    done = press_shift_enter(page, 2)
    expect(done.locator(".cw-run")).to_contain_text("Looked.")
    (job,) = executions(agent, name)
    assert (job["by"], job["cell_id"]) == ("person", "c2")


def test_a_person_who_runs_the_cell_in_notebook_7(
    page: Page, lab: LabServer, agent: Agent, model: ScriptedServer, name: str
) -> None:
    write(lab, name, LOAD, f"%%plan\n{GOAL}", "%%act")
    page.goto(lab.url(f"notebooks/{name}"))

    def is_loaded() -> bool:
        """Nothing on the screen tells when the kernel is there; what comes too early is lost."""
        press_shift_enter(page, 0)
        number = cell(page, 0).locator(".jp-InputPrompt")
        return worked(lambda: expect(number).to_have_text(re.compile(r"\d"), timeout=MOMENT))

    until(page, is_loaded, "the kernel does not run the first cell")
    add_plan(model)
    planned = press_shift_enter(page, 1)
    expect(planned.get_by_role("button", name="Execute plan")).to_be_visible()
    add_execution(model)
    done = press_shift_enter(page, 2)
    expect(done.locator(".cw-run")).to_contain_text("Looked.")
    (job,) = executions(agent, name)
    assert job["by"] == "person"


def test_all_cells_that_a_person_runs_together_count_in_their_turn(
    page: Page, lab: LabServer, agent: Agent, model: ScriptedServer, name: str
) -> None:
    write(lab, name, LOAD, f"%%plan --wait\n{GOAL}", "%%act --wait", "print('be' + 'hind')")
    open_it(page, lab, name, agent)
    add_plan(model)
    add_execution(model)
    choose_in_menu(page, "Run", "Run All Cells")
    expect(cell(page, 3).locator(".jp-OutputArea")).to_contain_text("behind")
    (job,) = executions(agent, name)
    assert (job["by"], job["status"]) == ("person", "completed")


def test_a_cell_that_an_agent_runs_shows_the_plan_which_waits_for_the_person(
    page: Page,
    lab: LabServer,
    agent: Agent,
    model: ScriptedServer,
    name: str,
    screenshot: Screenshot,
) -> None:
    write(lab, name, LOAD, f"%%plan\n{GOAL}")
    open_it(page, lab, name, agent)
    add_plan(model)
    press_shift_enter(page, 0)
    planned = press_shift_enter(page, 1)
    expect(planned.get_by_role("button", name="Execute plan")).to_be_visible()
    inserted = agent.use("insert_cell", path=name, source="%%act", after="c1")
    expect(editor(page, 2)).to_have_text("%%act")
    result = agent.use("run_cell", path=name, cell_id=inserted["data"]["facts"]["cell_id"])
    assert result["data"]["ok"], agent.said(result)
    output = cell(page, 2).locator(".jp-OutputArea")
    expect(output).to_contain_text("Click Execute plan on the card in JupyterLab")
    screenshot(page, "waits-for-the-person")
    assert executions(agent, name) == []
    add_execution(model)
    output.get_by_role("button", name="Execute plan").click()
    expect(output.locator(".cw-run")).to_contain_text("Looked.")
    (job,) = executions(agent, name)
    assert job["by"] == "person"


def test_a_person_may_give_the_agent_more_rights_in_a_cell_and_an_agent_may_not(
    page: Page, lab: LabServer, agent: Agent, name: str
) -> None:
    write(lab, name, LOAD, "%cowork role planner", "%cowork role actor", "%cowork role reviewer")
    open_it(page, lab, name, agent)
    press_shift_enter(page, 0)
    expect(press_shift_enter(page, 1)).to_contain_text("The role is Planner.")
    result = agent.use("run_cell", path=name, cell_id="c2")
    assert "Only you can give the agent more permissions" in agent.said(result)
    expect(press_shift_enter(page, 2)).to_contain_text("The role is now Actor.")
    agent.use("run_cell", path=name, cell_id="c3")
    expect(cell(page, 3).locator(".jp-OutputArea")).to_contain_text("The role is now Reviewer.")
