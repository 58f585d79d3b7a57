"""A browser and a Lab for the tests in this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from docs.site.pictures import outdated

from .chromium import ARGUMENTS, HELP, find_chromium
from .lab import LabServer
from .told import model as model
from .told import told_lab as told_lab

OUTPUT = Path(__file__).parent / "output"

expect.set_options(timeout=45_000)  # a slow machine is no failure


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """A JupyterLab with no model configured, as a newcomer has it."""
    with LabServer(tmp_path_factory.mktemp("lab")) as server:
        yield server


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = find_chromium()
    if not executable:
        pytest.fail(HELP)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh tab. What the page reports as an error fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    tab = context.new_page()
    tab.set_default_timeout(45_000)
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    yield tab
    context.close()
    assert not errors, errors


@pytest.fixture
def screenshot() -> Callable[[Page, str], Path]:
    """Keep a picture of the page for a person to look at."""

    def take(page: Page, name: str) -> Path:
        OUTPUT.mkdir(exist_ok=True)
        path = OUTPUT / f"{name}.png"
        page.screenshot(path=path, animations="disabled")
        return path

    return take


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the documentation's pictures that look otherwise by now."""
    for name in outdated():
        terminalreporter.write_line(f"docs/images/{name}.png is out of date: make screenshots")
