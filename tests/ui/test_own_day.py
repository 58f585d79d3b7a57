"""One's own day: being called when something waits, the tour, and the list of shortcuts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.scripted import ScriptedServer

from . import story
from .lab import LabServer
from .patience import until
from .person import choose_in_palette, start_in_light, use_dark_theme
from .visit import complaints, has, open_lab, open_panel, post

pytestmark = pytest.mark.slow

Screenshot = Callable[[Page, str], Path]

BROWSER = """(permission) => {
  window.asked = 0;
  window.notified = [];
  window.Notification = class {
    static permission = permission;
    static async requestPermission() {
      window.asked += 1;
      return (this.permission = 'granted');
    }
    constructor(title, { body }) {
      window.notified.push({ title, body, shown: this });
    }
    close() {
      this.closed = true;
    }
  };
}"""
"""A browser that writes down what it would show."""

HIDE = """hidden => {
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
  const state = hidden ? 'hidden' : 'visible';
  Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
  document.dispatchEvent(new Event('visibilitychange'));
}"""
"""As if the user looked at another tab."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, model: ScriptedServer) -> Iterator[LabServer]:
    """A Lab in which only this file's tests ask something."""
    environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "gpt-5-mini"}
    with LabServer(tmp_path_factory.mktemp("own-day"), environment, tour=True) as server:
        yield server


def visit(page: Page, lab: LabServer, permission: str) -> None:
    """Somebody who knows Cowork, in a browser that was asked before, or was not."""
    lab.set("cowork-jupyter", "plugin", tour=False)
    page.add_init_script(f"({BROWSER})('{permission}')")
    open_lab(page, lab)


def ask(lab: LabServer) -> None:
    """The agent asks something, in a conversation that nobody looks at."""
    context = post(lab, "context", {"role": "planner"})
    post(lab, f"context/{context['id']}/messages", {"content": story.ASK})


def answer(panel: Locator) -> None:
    panel.locator(".cw-inbox").get_by_role("button", name=has("Leave them out")).click()
    expect(panel.locator(".cw-inbox .cw-part")).to_have_count(0)


def test_a_hidden_tab_says_in_its_title_and_by_the_browser_that_something_waits(
    page: Page, lab: LabServer
) -> None:
    visit(page, lab, "granted")
    open_panel(page)
    page.evaluate(HIDE, True)
    ask(lab)
    expect(page).to_have_title(re.compile(r"^\(1\) .*JupyterLab"))
    until(page, lambda: page.evaluate("notified.length") == 1, "the browser does not notify")
    told = page.evaluate("({ title: notified[0].title, body: notified[0].body })")
    assert told["title"] == "Cowork is waiting for you"
    assert "12 rows have no region" in told["body"]

    page.evaluate(HIDE, False)
    page.locator(".jp-DirListing-item", has_text="quickstart.ipynb").dblclick()
    expect(page).to_have_title(re.compile(r"^\(1\) quickstart"))  # Lab has written another one
    page.evaluate("notified[0].shown.onclick()")
    answer(page.locator(".cw-panel"))
    expect(page).to_have_title(re.compile("^quickstart"))
    assert page.evaluate("notified[0].shown.closed && notified.length === 1 && asked === 0")


def test_the_browser_is_asked_only_by_whoever_takes_the_offer(
    page: Page, lab: LabServer, screenshot: Screenshot
) -> None:
    visit(page, lab, "default")
    panel = open_panel(page)
    ask(lab)
    offer = panel.get_by_role("button", name="Turn on notifications")
    expect(offer).to_be_visible()
    assert page.evaluate("asked") == 0
    assert complaints(page, ".cw-panel") == []
    screenshot(page, "notify-offer")
    offer.click()
    expect(panel).to_contain_text("Your browser will notify you")
    assert page.evaluate("asked") == 1
    answer(panel)
    expect(page).to_have_title(re.compile("^JupyterLab"))


def test_nobody_is_called_who_does_not_want_it(page: Page, lab: LabServer) -> None:
    visit(page, lab, "granted")
    lab.set("cowork-jupyter", "plugin", tour=False, notify=False)
    page.reload()
    panel = open_panel(page)
    page.evaluate(HIDE, True)
    ask(lab)
    expect(panel.locator(".cw-inbox .cw-part")).to_be_visible()
    assert page.evaluate("notified.length") == 0
    expect(page).to_have_title(re.compile("^JupyterLab"))
    answer(panel)


def test_the_tour_is_skipped_for_ever_and_can_be_seen_again(
    page: Page, lab: LabServer, screenshot: Screenshot
) -> None:
    lab.set("cowork-jupyter", "plugin")
    start_in_light(lab)
    open_lab(page, lab)
    tour = page.get_by_role("dialog", name=has("Cowork tour"))
    expect(tour).to_have_count(0)  # nobody has opened the panel yet
    panel = open_panel(page)
    expect(tour).to_contain_text("1 of 4")
    titles = []
    for number in range(1, 5):
        expect(tour).to_contain_text(f"{number} of 4")
        expect(panel.locator("[data-toured]")).to_have_count(1)
        titles.append(tour.locator(".cw-title").inner_text())
        assert complaints(page, ".cw-panel") == []
        screenshot(page, f"tour-{number}")
        if number < 4:
            tour.get_by_role("button", name="Next").click()
    assert titles == ["Roles", "Plan a change", "Approve", "Roll back"]
    tour.get_by_role("button", name="Back").press("Enter")
    expect(tour).to_contain_text("3 of 4")

    page.reload()  # neither finished nor skipped
    panel = open_panel(page)
    expect(tour).to_contain_text("1 of 4")
    page.keyboard.press("Escape")
    expect(tour).to_have_count(0)
    until(page, lambda: '"tour": false' in lab.setting("cowork-jupyter", "plugin"), "not kept")
    page.reload()
    panel = open_panel(page)
    expect(panel.locator(".cw-composer")).to_be_visible()
    expect(tour).to_have_count(0)

    choose_in_palette(page, "Show the Cowork tour")
    expect(tour).to_be_focused()
    use_dark_theme(page)
    assert complaints(page, ".cw-panel") == []
    screenshot(page, "tour-dark")
    tour.get_by_role("button", name="Skip").click()
    expect(panel.locator("[data-toured]")).to_have_count(0)


def test_a_question_mark_lists_all_shortcuts_as_they_are(
    page: Page, lab: LabServer, screenshot: Screenshot
) -> None:
    start_in_light(lab)
    lab.set("cowork-jupyter", "plugin", tour=False)
    lab.set(
        "@jupyterlab/shortcuts-extension",
        "shortcuts",
        shortcuts=[{"command": "cowork:show-inbox", "keys": ["Alt Shift W"], "selector": "body"}],
    )
    open_lab(page, lab)
    panel = open_panel(page)
    page.keyboard.press("?")  # this is what one writes
    expect(panel.locator(".cw-composer textarea")).to_have_value("?")
    panel.locator(".cw-head .cw-pill").focus()
    page.keyboard.press("?")
    dialog = page.locator(".jp-Dialog", has_text="Cowork shortcuts")
    row = dialog.locator("tr")
    expect(row.filter(has_text="New Conversation")).to_contain_text("Ctrl+;")
    expect(row.filter(has_text="Show What Is Waiting for You")).to_contain_text("Alt+Shift+W")
    expect(row.filter(has_text="Send what you wrote")).to_contain_text("Enter")
    assert complaints(page, ".jp-Dialog .cowork-root") == []
    screenshot(page, "shortcuts")
    page.set_viewport_size({"width": 1280, "height": 400})
    page.keyboard.press("Shift+Tab")  # from the button into the list
    page.keyboard.press("End")
    expect(dialog.get_by_text("To change them")).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    use_dark_theme(page)
    choose_in_palette(page, "Show Cowork shortcuts")
    expect(dialog).to_be_visible()
    assert complaints(page, ".jp-Dialog .cowork-root") == []
