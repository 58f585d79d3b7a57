"""A browser and a Lab for the tests in this folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

from docs.site.pictures import outdated
from tests import quick

from .chromium import ARGUMENTS, HELP, find_chromium
from .judge.judge import judge
from .lab import LabServer
from .patience import PATIENCE
from .scripted_lab import model as model
from .scripted_lab import scripted_lab as scripted_lab

OUTPUT = Path(__file__).parent / "output"

TEST_SECONDS = 600
"""A test waits for many things, one after the other."""

expect.set_options(timeout=PATIENCE)


def pytest_configure() -> None:
    quick.keep_files_in_memory()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """On a slow machine a visit takes longer than what other tests may take."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.timeout(TEST_SECONDS))


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
    """A fresh tab."""
    yield from _tab(browser)


@pytest.fixture
def second(browser: Browser) -> Iterator[Page]:
    """A tab of somebody else, or of another browser."""
    yield from _tab(browser)


def _tab(browser: Browser) -> Iterator[Page]:
    """What the page reports as an error of ours fails the test, and so does a card that shows
    otherwise than the server says: see `judge`."""
    began = time.time()
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(PATIENCE)
    tab = context.new_page()
    errors: list[Error] = []
    tab.on("pageerror", lambda error: errors.append(error))
    yield tab
    try:
        found = judge(context, began)
    finally:
        context.close()
    assert not [one.stack or one.message for one in errors if not _is_of_others(one)]
    assert not found, "cards show otherwise than it is:\n" + "\n".join(found)


def _is_of_others(error: Error) -> bool:
    """Lab has errors of its own, as when a kernel goes away; only Lab's scripts are in them.

    And Chromium calls it an error when a slow page is laid out over two frames."""
    stack = error.stack or ""
    only_lab = "/static/" in stack and "cowork" not in stack
    return only_lab or "ResizeObserver loop" in error.message


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
