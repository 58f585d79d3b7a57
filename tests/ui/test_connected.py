"""With a model connected, everything says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.scripted import ScriptedServer, plan

from .lab import LabServer
from .person import card, choose_in_palette, open_notebook, run_cells

pytestmark = pytest.mark.slow

PLAN = plan("Clean sales.csv and show monthly revenue by region", "Load sales.csv", "Plot it")
Screenshot = Callable[[Page, str], Path]


@pytest.fixture(scope="module")
def connected_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """A JupyterLab that was started with a model in its environment."""
    with ScriptedServer([PLAN], models="gpt-5-mini") as model:
        environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "gpt-5-mini"}
        with LabServer(tmp_path_factory.mktemp("connected"), environment) as lab:
            yield lab


def test_card_and_panel_name_the_model_and_say_it_answers(
    page: Page, connected_lab: LabServer, screenshot: Screenshot
) -> None:
    open_notebook(page, connected_lab)
    choose_in_palette(page, "Show Cowork Panel")
    panel = page.locator(".cw-panel")
    expect(panel).to_contain_text("gpt-5-mini is ready")
    run_cells(page, 7)
    shown = card(page, "Load sales.csv")
    expect(shown).to_contain_text("gpt-5-mini")
    page.locator(".jp-Notebook .jp-Cell").nth(4).scroll_into_view_if_needed()
    screenshot(page, "connected")
    status = card(page, "Check connection")
    status.get_by_role("button", name="Check connection").click()
    expect(status.locator("[aria-live]")).to_contain_text("gpt-5-mini answers at")
