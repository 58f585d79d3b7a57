"""What a person does in JupyterLab, so that the tests read like a visit."""

from __future__ import annotations

from playwright.sync_api import Error, Locator, Page, expect

from .lab import LabServer


def open_notebook(page: Page, lab: LabServer, name: str = "quickstart.ipynb") -> None:
    """Open a notebook and wait until its kernel is ready."""
    page.goto(lab.url(f"lab/tree/{name}"))
    expect(page.locator("#jp-main-statusbar")).to_contain_text("| Idle", timeout=60_000)


def run_cells(page: Page, count: int) -> None:
    """Shift-Enter from the first cell on."""
    page.locator(".jp-Notebook .jp-Cell").first.click()
    page.keyboard.press("Escape")
    for _ in range(count):
        page.keyboard.press("Shift+Enter")


def card(page: Page, containing: str) -> Locator:
    """The inline card that shows this text."""
    return page.locator(".jp-OutputArea .cw-card").filter(has_text=containing)


def use_dark_theme(page: Page) -> None:
    """Switch to Lab's dark theme."""
    choose_in_palette(page, "JupyterLab Dark")
    expect(page.locator("body")).to_have_attribute("data-jp-theme-light", "false")


def choose_in_palette(page: Page, command: str) -> None:
    """Open the command palette and run a command by its name.

    Lab closes the palette when a notebook that has just loaded takes the focus; a person
    would open it again, and so do we.
    """
    palette = page.locator("#modal-command-palette")
    for _ in range(5):
        page.locator(".lm-MenuBar-item", has_text="View").click()
        page.locator(".lm-Menu-item", has_text="Activate Command Palette").click()
        try:
            palette.locator("input").fill(command, timeout=2_000)
            palette.locator(".lm-CommandPalette-item", has_text=command).first.click(timeout=2_000)
            return
        except Error:
            page.keyboard.press("Escape")
    raise AssertionError(f"the palette does not offer {command}")
