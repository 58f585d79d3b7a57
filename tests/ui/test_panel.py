"""The side panel, the status-bar pill and the palette."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from .lab import LabServer
from .person import choose_in_palette, open_notebook

Screenshot = Callable[[Page, str], Path]


def test_the_panel_says_what_to_do_and_inserts_the_cell(
    page: Page, lab: LabServer, screenshot: Screenshot
) -> None:
    open_notebook(page, lab)
    choose_in_palette(page, "Show Cowork Panel")
    panel = page.locator(".cw-panel")
    expect(panel).to_contain_text("No conversations yet")
    expect(panel).to_contain_text("nothing changes until you approve it")
    expect(panel).to_contain_text("No language model is connected")
    screenshot(page, "panel")

    before = page.locator(".jp-Notebook .jp-Cell").count()
    panel.get_by_role("button", name="Insert a %%plan cell").click()
    expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(before + 1)
    expect(page.locator(".jp-Notebook .jp-mod-active .cm-content")).to_contain_text("%%plan")
    page.keyboard.type("tidy up")  # the cursor is where one goes on writing
    expect(page.locator(".jp-Notebook .jp-mod-active .cm-content")).to_contain_text("tidy up")


def switch_to_actor(page: Page, pill: Locator) -> None:
    """With the keyboard alone. A notebook that has just loaded may take the focus in between;
    a person would begin again, and so do we.
    """
    active = page.locator(".lm-Menu .lm-mod-active")
    for _ in range(5):
        pill.focus()
        page.keyboard.press("Enter")
        try:
            expect(page.locator(".lm-Menu .lm-Menu-item")).to_have_count(6, timeout=3_000)
            expect(active).to_contain_text("Planner", timeout=3_000)
            page.keyboard.press("ArrowDown")
            expect(active).to_contain_text("Actor", timeout=3_000)
            page.keyboard.press("Enter")
            expect(pill).to_contain_text("Actor", timeout=3_000)
            return
        except AssertionError:
            page.locator("#jp-MainLogo").click()  # closes the menu, wherever the keyboard is
    raise AssertionError("the keyboard does not switch the role")


def test_the_pill_shows_the_role_and_switches_it_by_keyboard(page: Page, lab: LabServer) -> None:
    open_notebook(page, lab)
    pill = page.locator("#jp-main-statusbar .cw-status-pill button")
    expect(pill).to_contain_text("Planner")
    switch_to_actor(page, pill)

    page.reload()
    expect(page.locator("#jp-main-statusbar")).to_contain_text("| Idle", timeout=60_000)
    expect(pill).to_contain_text("Actor")
    choose_in_palette(page, "Choose Role…")
    page.locator(".lm-Menu-item", has_text="Planner").click()
    expect(pill).to_contain_text("Planner")


def test_the_palette_checks_the_connection(page: Page, lab: LabServer) -> None:
    open_notebook(page, lab)
    choose_in_palette(page, "Check Model Connection")
    toast = page.locator(".Toastify__toast")
    expect(toast).to_contain_text("built-in guide · no language model answers")
