"""Notebook 7 has no status bar or launcher beside the notebook; cards and panel work as in Lab."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page, expect

from . import story
from .lab import LabServer
from .told import write_notebook
from .visit import open_panel

Screenshot = Callable[[Page, str], Path]
PATIENCE = 60_000
"""Milliseconds after which something must be wrong; the machine may be busy with other tests."""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh tab. Only our own errors fail the test: Notebook 7.6 has one of its own."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    tab = context.new_page()
    tab.set_default_timeout(20_000)
    errors: list[Error] = []
    tab.on("pageerror", lambda error: errors.append(error))
    yield tab
    context.close()
    assert not [one.stack for one in errors if "cowork" in (one.stack or "")]


def test_a_plan_a_question_and_the_panel_work_in_notebook_7(
    page: Page, told_lab: LabServer, screenshot: Screenshot
) -> None:
    sources = (f"%%act\n{story.ASK}", f"%%plan\n{story.LONG}")
    write_notebook(told_lab.root / "seven.ipynb", "%load_ext cowork_jupyter", *sources)
    page.goto(told_lab.url("notebooks/seven.ipynb"))
    cells = page.locator(".jp-Notebook .jp-CodeCell")

    def run(number: int) -> None:
        cells.nth(number).locator(".cm-content").click(timeout=PATIENCE)
        page.keyboard.press("Shift+Enter")

    run(0)
    run(1)
    asked = cells.nth(1).locator(".cw-run")
    asked.get_by_role("button", name="Leave them out").click(timeout=PATIENCE)
    expect(asked).to_contain_text("that is settled", timeout=PATIENCE)

    run(2)
    plan = cells.nth(2).locator(".cw-run")
    expect(plan.locator(".cw-steps > li")).to_have_count(60, timeout=PATIENCE)
    plan.get_by_role("button", name="Execute plan").click()
    expect(plan).to_contain_text("of 60", timeout=PATIENCE)
    plan.get_by_role("button", name="Stop").click()
    expect(plan).to_contain_text("Stopped", timeout=PATIENCE)

    cells.first.locator(".cm-content").click()  # keys pressed in a card stay in the card
    panel = open_panel(page)
    for words in (story.ASK, "Show all 60 steps"):
        expect(panel).to_contain_text(words, timeout=PATIENCE)
    screenshot(page, "notebook7")
