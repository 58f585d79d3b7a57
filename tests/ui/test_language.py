"""Cowork speaks the language that the user has chosen in Lab, with no language pack installed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from .lab import LabServer
from .patience import PATIENCE
from .person import choose_in_palette, open_notebook, run_cells
from .test_cells import write

pytestmark = pytest.mark.slow

Screenshot = Callable[[Page, str], Path]


@pytest.fixture
def german_lab(tmp_path: Path) -> Iterator[LabServer]:
    chosen = tmp_path / "settings/@jupyterlab/translation-extension/plugin.jupyterlab-settings"
    chosen.parent.mkdir(parents=True)
    chosen.write_text(json.dumps({"locale": "de_DE"}))
    with LabServer(tmp_path) as server:
        yield server


@pytest.fixture
def german_page(browser: Browser) -> Iterator[Page]:
    """A tab without the judge of the other tests, who reads English."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


def test_card_panel_and_what_the_server_says_are_german(
    german_page: Page, german_lab: LabServer, screenshot: Screenshot
) -> None:
    page = german_page
    goal = "Remove duplicate rows from data/sales.csv and plot revenue by region"
    write(german_lab, "deutsch.ipynb", f"%%plan\n{goal}")
    open_notebook(page, german_lab, "deutsch.ipynb")
    run_cells(page, 1)
    card = page.locator(".jp-OutputArea .cw-card").first
    expect(card.get_by_role("button", name="Plan ausführen")).to_be_visible()
    expect(card).to_contain_text("Plan bereit")
    expect(card).to_contain_text("Planer")
    card.get_by_role("button", name="Plan ausführen").click()
    expect(card).to_contain_text("Abgeschlossen", timeout=2 * PATIENCE)
    expect(card).to_contain_text("wie geplant")

    choose_in_palette(page, "Cowork-Seitenleiste anzeigen")
    panel = page.locator(".cw-panel")
    expect(panel).to_contain_text("Sicherungspunkte")
    expect(panel).to_contain_text("kein Sprachmodell")
    expect(panel.get_by_label("Ihre Nachricht")).to_be_visible()
    panel.get_by_text("Workflows").click()
    expect(panel).to_contain_text("Einen Datensatz beschreiben")  # the server's words
    screenshot(page, "german")
