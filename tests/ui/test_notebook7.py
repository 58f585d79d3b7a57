"""Notebook 7 has no status bar or launcher beside the notebook; cards and panel work as in Lab."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from . import story
from .lab import LabServer
from .patience import MOMENT, until, worked
from .scripted_lab import write_notebook
from .visit import open_panel

pytestmark = pytest.mark.slow

Screenshot = Callable[[Page, str], Path]


def test_a_plan_a_question_and_the_panel_work_in_notebook_7(
    page: Page, scripted_lab: LabServer, screenshot: Screenshot
) -> None:
    sources = (f"%%act\n{story.ASK}", f"%%plan\n{story.ENDLESS}")
    write_notebook(scripted_lab.root / "seven.ipynb", "%load_ext cowork_jupyter", *sources)
    page.goto(scripted_lab.url("notebooks/seven.ipynb"))
    cells = page.locator(".jp-Notebook .jp-CodeCell")

    def run(number: int) -> None:
        cells.nth(number).locator(".cm-content").click()
        page.keyboard.press("Shift+Enter")

    def is_loaded() -> bool:
        """Nothing on the screen tells when the kernel is there; what comes too early is lost."""
        run(0)
        number = cells.first.locator(".jp-InputPrompt")
        return worked(lambda: expect(number).to_have_text(re.compile(r"\d"), timeout=MOMENT))

    until(page, is_loaded, "the kernel does not run the first cell")
    run(1)
    asked = cells.nth(1).locator(".cw-run")
    asked.get_by_role("button", name="Leave them out").click()
    expect(asked).to_contain_text("that is settled")

    run(2)
    plan = cells.nth(2).locator(".cw-run")
    expect(plan.locator(".cw-steps > li")).to_have_count(60)
    plan.get_by_role("button", name="Execute plan").click()
    expect(plan).to_contain_text("of 60")
    plan.get_by_role("button", name="Stop").click()
    expect(plan).to_contain_text("Stopped")

    cells.first.locator(".cm-content").click()  # keys pressed in a card stay in the card
    panel = open_panel(page)
    for words in (story.ASK, "Show all 60 steps"):
        expect(panel).to_contain_text(words)
    screenshot(page, "notebook7")
