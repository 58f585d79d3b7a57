"""A page with many cards asks its server little: one socket, and one request for each card."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from .crowd import CARDS, PER_PAGE, PILL, Traffic, crowded_lab, reloaded, until_live, write_cards
from .person import open_notebook, run_cells
from .scripted_lab import write_notebook

pytestmark = pytest.mark.slow

Screenshot = Callable[[Page, str], Path]


def test_a_reload_of_thirty_cards_opens_one_socket_and_asks_once_for_each(
    page: Page, tmp_path: Path, screenshot: Screenshot
) -> None:
    with crowded_lab(tmp_path) as lab:
        write_cards(lab, "thirty.ipynb")
        open_notebook(page, lab, "thirty.ipynb")
        until_live(page, CARDS)
        traffic = reloaded(page)
        screenshot(page, "many-cards")
    assert traffic.sockets == ["/cowork/ws"]
    of_cards = {path for path in traffic.requests if path.startswith("jobs/")}
    assert len(of_cards) == CARDS
    assert all(path.endswith("/card") for path in of_cards)
    others = set(traffic.requests) - of_cards - PER_PAGE
    assert len(others) <= 1
    assert all(map(PILL.fullmatch, others))
    assert max(traffic.requests.values()) == 1


def test_widgets_share_a_socket_where_our_extension_is_not(
    page: Page, tmp_path: Path, screenshot: Screenshot
) -> None:
    """Each of them brings a script of its own, which is evaluated for it alone."""
    settings = tmp_path / "CONFIG" / "labconfig" / "page_config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"disabledExtensions": {"cowork-jupyter": True}}))
    asks = [f"%%act -c talk{number}\nDo thing {number}" for number in range(3)]
    with crowded_lab(tmp_path) as lab:
        write_notebook(lab.root / "widgets.ipynb", "%load_ext cowork_jupyter", *asks)
        traffic = Traffic(page)
        open_notebook(page, lab, "widgets.ipynb")
        run_cells(page, 1 + len(asks))
        until_live(page, len(asks))
        screenshot(page, "many-widgets")
    assert traffic.sockets == ["/cowork/ws"]
    of_cards = [path for path in traffic.requests.elements() if path.startswith("jobs/")]
    assert len(of_cards) == len(asks)
