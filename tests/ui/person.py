"""What a person does in JupyterLab, so that the tests read like a visit."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

from playwright.sync_api import Locator, Page, expect

from .lab import LabServer
from .patience import MOMENT, until, worked
from .visit import until_lab_has_started

CELL = ".jp-Notebook .jp-Cell:not([style*='opacity: 0'])"
"""A cell. Of a notebook that takes long to load, Lab keeps the empty one that it had before, at
no height."""


def open_notebook(page: Page, lab: LabServer, name: str = "quickstart.ipynb") -> None:
    """Open a notebook and nothing else, and wait until its kernel is ready.

    In a workspace of its own: Lab would open again what other visits have left open.
    """
    # On a slow machine, real-time collaboration asks whether to go on waiting for a document.
    slow = page.locator(".jp-Dialog", has_text="taking some time to load")
    page.add_locator_handler(
        slow, lambda asking: asking.get_by_role("button", name="Continue waiting").click()
    )
    page.goto(lab.url(f"lab/workspaces/{uuid4().hex}/tree/{name}"))
    until_ready(page)


def until_ready(page: Page) -> None:
    """A notebook is there to work in, and has its kernel."""
    expect(page.locator(CELL).first).to_be_visible()
    expect(page.locator("#jp-main-statusbar")).to_contain_text("| Idle")
    until_lab_has_started(page)


def run_cells(page: Page, count: int) -> None:
    """Shift-Enter from the first cell on."""
    page.locator(".jp-Notebook .jp-Cell").first.click()
    page.keyboard.press("Escape")
    for _ in range(count):
        page.keyboard.press("Shift+Enter")


def save(page: Page) -> None:
    """Save the notebook, and again if something has changed it meanwhile: cards write down what
    became of their run, some time after it was shown."""
    page.locator(".jp-Notebook .cm-content").first.click()

    unsaved = page.locator(".jp-mod-dirty")

    def is_saved() -> bool:
        page.keyboard.press("Control+s")
        return worked(lambda: expect(unsaved).to_have_count(0, timeout=MOMENT))

    until(page, is_saved, "the notebook is not saved")


def card(page: Page, containing: str) -> Locator:
    """The inline card that shows this text."""
    return page.locator(".jp-OutputArea .cw-card").filter(has_text=containing)


def start_in_light(lab: LabServer) -> None:
    """A visit before may have left Lab in the dark."""
    lab.set("@jupyterlab/apputils-extension", "themes", theme="JupyterLab Light")


def use_dark_theme(page: Page) -> None:
    """Switch to Lab's dark theme."""
    choose_in_palette(page, "JupyterLab Dark")
    expect(page.locator("body")).to_have_attribute("data-jp-theme-light", "false")


def choose_in_menu(page: Page, menu: str, item: str) -> None:
    """Open a menu of Lab and choose. It closes when something else takes the focus; a person
    would open it again, and so do we."""

    heading = page.locator(".lm-MenuBar-item", has_text=menu)
    offered = page.locator(".lm-Menu-item", has_text=item).first
    _try_again(page, lambda: heading.click(timeout=MOMENT), lambda: offered.click(timeout=MOMENT))


def choose_in_palette(page: Page, command: str) -> None:
    """Open the command palette and run a command by its name.

    Lab closes the palette when a notebook that has just loaded takes the focus; a person
    would open it again, and so do we.
    """
    palette = page.locator("#modal-command-palette")
    best = palette.locator(".lm-CommandPalette-item").first
    _try_again(
        page,
        lambda: choose_in_menu(page, "View", "Activate Command Palette"),
        lambda: palette.locator("input").fill(command, timeout=MOMENT),
        # First what was found: while Lab looks, the list under the mouse becomes another one.
        lambda: expect(best).to_contain_text(command, timeout=MOMENT),
        lambda: best.click(timeout=MOMENT),
    )


def _try_again(page: Page, *steps: Callable[[], object]) -> None:
    """Do this, until it works; before another try, what is still open is closed."""

    def is_done() -> bool:
        done = worked(*steps)
        if not done:
            page.keyboard.press("Escape")
        return done

    until(page, is_done, "menus do not stay open, or do not offer it")
