"""The side panel, the status-bar pill and the palette."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from .lab import LabServer
from .patience import MOMENT, until, worked
from .person import choose_in_palette, open_notebook, until_ready

Screenshot = Callable[[Page, str], Path]

NOTE_TOASTS = """() => {
  window.toasts = new Set();
  const shown = document.getElementsByClassName('Toastify__toast');
  const note = () => [...shown].forEach(one => toasts.add(one.textContent));
  const all = { childList: true, subtree: true, characterData: true };
  new MutationObserver(note).observe(document.body, all);
}"""
"""What Lab says in passing goes away by itself, so the page writes it down when it comes."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """A Lab that nobody has used before, whatever other tests have done in theirs."""
    with LabServer(tmp_path_factory.mktemp("panel")) as server:
        yield server


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

    before = len(json.loads((lab.root / "quickstart.ipynb").read_text())["cells"])
    cells = page.locator(".jp-Notebook .jp-Cell")
    expect(cells).to_have_count(before)  # Lab fills a notebook bit by bit
    panel.get_by_role("button", name="Insert a %%plan cell").click()
    expect(cells).to_have_count(before + 1)
    made = page.locator(".jp-Notebook .jp-mod-active .cm-content")
    expect(made).to_contain_text("%%plan")
    expect(made).to_be_focused()
    page.keyboard.type("tidy up")  # the cursor is where one goes on writing
    expect(made).to_contain_text("tidy up")


def switch_to_actor(page: Page, pill: Locator) -> None:
    """With the keyboard alone. A notebook that has just loaded may take the focus in between;
    a person would begin again, and so do we.
    """
    active = page.locator(".lm-Menu .lm-mod-active")
    items = page.locator(".lm-Menu .lm-Menu-item")

    def is_switched() -> bool:
        if "Actor" in pill.inner_text():
            return True
        pill.focus()
        page.keyboard.press("Enter")
        done = worked(
            lambda: expect(items).to_have_count(6, timeout=MOMENT),
            lambda: expect(active).to_contain_text("Planner", timeout=MOMENT),
            lambda: page.keyboard.press("ArrowDown"),
            lambda: expect(active).to_contain_text("Actor", timeout=MOMENT),
            lambda: page.keyboard.press("Enter"),
            lambda: expect(pill).to_contain_text("Actor", timeout=MOMENT),
        )
        if not done:
            page.locator("#jp-MainLogo").click()  # closes the menu, wherever the keyboard is
        return done

    until(page, is_switched, "the keyboard does not switch the role")


@pytest.mark.slow
def test_the_pill_shows_the_role_and_switches_it_by_keyboard(page: Page, lab: LabServer) -> None:
    open_notebook(page, lab)
    pill = page.locator("#jp-main-statusbar .cw-status-pill button")
    expect(pill).to_contain_text("Planner")
    switch_to_actor(page, pill)
    until(page, lambda: '"actor"' in lab.setting("cowork-jupyter", "plugin"), "it is not kept")

    page.reload()
    until_ready(page)
    expect(pill).to_contain_text("Actor")
    planner = page.locator(".lm-Menu-item", has_text="Planner")

    def is_chosen() -> bool:
        choose_in_palette(page, "Choose Role…")
        return worked(lambda: planner.click(timeout=MOMENT))

    until(page, is_chosen, "the palette does not lead to the roles")
    expect(pill).to_contain_text("Planner")


@pytest.mark.slow
def test_the_palette_checks_the_connection(page: Page, lab: LabServer) -> None:
    open_notebook(page, lab)
    page.evaluate(NOTE_TOASTS)
    choose_in_palette(page, "Check Model Connection")
    page.wait_for_function(
        "() => [...toasts].some(words => words.includes('The built-in guide answers'))"
    )
