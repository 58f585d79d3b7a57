"""A newcomer opens the quickstart and runs it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from .lab import LabServer
from .person import card, open_notebook, run_cells

Screenshot = Callable[[Page, str], Path]


def test_running_the_quickstart_shows_a_card_that_answers_a_click(
    page: Page, lab: LabServer, screenshot: Screenshot
) -> None:
    open_notebook(page, lab)
    run_cells(page, 8)
    status = card(page, "Clean sales.csv")
    expect(status).to_be_visible()
    expect(status).to_contain_text("Planner")
    expect(status).to_contain_text("No language model is connected")

    status.get_by_role("button", name="Check connection").click()
    expect(status.locator("[aria-live]")).to_contain_text("Not ready")
    screenshot(page, "quickstart")
