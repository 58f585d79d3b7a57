"""What a person does in the side panel of Cowork."""

from __future__ import annotations

import json
import re
import urllib.request
from typing import Any
from uuid import uuid4

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Locator, Page, expect

from .lab import TOKEN, LabServer
from .patience import MOMENT, until, worked


def open_lab(page: Page, lab: LabServer) -> None:
    """Lab as it opens in a workspace of its own, with no notebook and no kernel."""
    page.goto(lab.url(f"lab/workspaces/{uuid4().hex}"))
    expect(page.locator(".jp-Launcher")).to_be_visible()
    until_lab_has_started(page)


def until_lab_has_started(page: Page) -> None:
    """While Lab restores what was open, it covers itself, and takes the focus back and forth."""
    expect(page.locator("#jupyterlab-splash")).to_have_count(0)


def open_panel(page: Page) -> Locator:
    """The panel, brought up by its shortcut, ready to write in.

    While Lab starts it may take the focus back; a person would press the keys again, and so do we.
    """
    panel = page.locator(".cw-panel")
    field = panel.locator(".cw-composer textarea")

    def is_ready() -> bool:
        page.keyboard.press("Control+;")
        return worked(lambda: expect(field).to_be_focused(timeout=MOMENT))

    until(page, is_ready, "Ctrl+; does not lead to the panel")
    return panel


def say(panel: Locator, words: str) -> None:
    """Write and send."""
    panel.locator(".cw-composer textarea").fill(words)
    panel.locator(".cw-composer").get_by_role("button", name="Send").click()


def post(lab: LabServer, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Somebody else does something on the same server."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{lab.port}/cowork/{path}",
        data=json.dumps(body).encode(),
        headers={"Authorization": f"token {TOKEN}"},
        method="POST",
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        found: dict[str, Any] = json.load(answer)
        return found


def go_back(panel: Locator) -> None:
    """To the overview."""
    panel.get_by_role("button", name="Back to all conversations").click()


def unfold(panel: Locator, *titles: str) -> None:
    """Open parts of the overview."""
    for title in titles:
        part = panel.locator("details.cw-part", has=panel.page.locator("h2", has_text=title))
        if part.get_attribute("open") is None:
            part.locator("summary").first.click()
            expect(part).to_have_attribute("open", "")


def rows(panel: Locator) -> Locator:
    """The conversations that are listed."""
    part = panel.locator("details.cw-part", has=panel.page.locator("h2", has_text="Conversations"))
    return part.locator("li .cw-name")


def has(words: str) -> re.Pattern[str]:
    """These words, wherever they stand."""
    return re.compile(re.escape(words))


def complaints(page: Page, selector: str) -> list[str]:
    """What axe finds wrong there."""
    found: list[dict[str, Any]] = Axe().run(page, context=selector).response["violations"]
    return [f"{one['id']}: {node['html']}" for one in found for node in one["nodes"]]


def assert_nothing_sticks_out(panel: Locator) -> None:
    """However narrow it gets, nobody has to scroll sideways, once Lab has laid it out."""
    panel.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )
    wide = """panel => [panel, ...panel.querySelectorAll('.cw-panel-scroll, .cw-card, .cw-row')]
        .filter(node => node.scrollWidth > node.clientWidth + 1)
        .map(node => node.className)"""
    until(panel.page, lambda: panel.evaluate(wide) == [], "something sticks out of the panel")
