"""How long the tests here wait, and what for."""

from __future__ import annotations

import time
from collections.abc import Callable

from playwright.sync_api import Error, Page

PATIENCE = 120_000
"""Milliseconds after which something must be wrong, also on a slow machine that has other work."""

MOMENT = 4_000
"""Milliseconds after which a person would try once more what cannot do harm a second time."""


def until(page: Page, come_true: Callable[[], object], otherwise: str) -> None:
    """Look again and again, while the page goes on."""
    give_up = time.monotonic() + PATIENCE / 1000
    while not come_true():
        assert time.monotonic() < give_up, otherwise
        page.wait_for_timeout(50)


def worked(*steps: Callable[[], object]) -> bool:
    """Whether all of these could be done; each should take no more than a `MOMENT`."""
    try:
        for step in steps:
            step()
    except (AssertionError, Error):
        return False
    return True
