"""The pill in the status bar: who gets the next message in the conversation in view."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.scripted import Scripted, ScriptedServer, plan, text

from .lab import LabServer
from .person import choose_in_palette, open_notebook
from .test_cells import tabs, write

pytestmark = pytest.mark.slow

Screenshot = Callable[[Page, str], Path]


def answers(body: dict[str, Any]) -> Scripted:
    """A planner plans, everybody else is done at once."""
    if "operating in PLANNER role" in str(body["messages"][0]["content"]):
        return plan("Count the birds", {"id": "1", "action": "Count them"})
    return text("Done.")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    with ScriptedServer(answers) as model:
        environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted"}
        with LabServer(tmp_path_factory.mktemp("pill"), environment) as server:
            yield server


def test_it_follows_the_notebook_in_front_and_the_conversation_in_the_panel(
    page: Page, lab: LabServer, screenshot: Screenshot
) -> None:
    write(lab, "act.ipynb", "%%act\nCatch the birds")
    write(lab, "plan.ipynb", "%%plan\nCount the birds")
    write(lab, "new.ipynb", "1 + 1")
    pill = page.locator("#jp-main-statusbar .cw-status-pill .cw-pill-button").first
    open_notebook(page, lab, "act.ipynb")
    expect(pill).to_contain_text("Planner")  # what a new conversation would start in
    run_first_cell(page, "Completed")
    expect(pill).to_contain_text("Actor")
    for name in ("new.ipynb", "plan.ipynb"):
        page.locator(".jp-DirListing-item", has_text=name).dblclick()
        expect(tabs(page).filter(has_text=name)).to_have_class(re.compile("lm-mod-current"))
        expect(in_front(page).locator(".jp-Cell").first).to_be_visible()
        expect(page.locator("#jp-main-statusbar")).to_contain_text("| Idle")
        expect(pill).to_contain_text("Planner")
    run_first_cell(page, "Plan ready")
    for name, role in (("act", "Actor"), ("plan", "Planner"), ("act", "Actor"), ("new", "Planner")):
        tabs(page).filter(has_text=f"{name}.ipynb").click()
        expect(pill).to_contain_text(role)

    choose_in_palette(page, "Show Cowork Panel")
    panel = page.locator(".cw-panel")
    panel.get_by_role("button", name="Catch the birds").first.click()
    expect(pill).to_contain_text("Actor")
    pill.click()
    page.locator(".lm-Menu-item", has_text="Reviewer").click()
    expect(pill).to_contain_text("Reviewer")
    expect(panel.locator(".cw-switcher").last).to_contain_text("Reviewer")  # where one writes
    screenshot(page, "status-pill")
    tabs(page).filter(has_text="plan.ipynb").click()
    expect(pill).to_contain_text("Planner")
    tabs(page).filter(has_text="act.ipynb").click()
    expect(pill).to_contain_text("Reviewer")


def in_front(page: Page) -> Locator:
    """The notebook that is looked at."""
    return page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")


def run_first_cell(page: Page, ending: str) -> None:
    """In the notebook in front, until its card says this."""
    front = in_front(page)
    front.locator(".jp-Notebook .cm-content").first.click()
    page.keyboard.press("Control+Enter")
    expect(front.locator(".cw-run")).to_contain_text(ending)
