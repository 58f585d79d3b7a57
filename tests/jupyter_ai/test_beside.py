"""jupyter-ai beside us: nothing is reloaded twice, no edit is lost, and what cannot be is said."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError

from playwright.sync_api import Page, expect

from tests.ui import test_cells
from tests.ui.agent import Agent
from tests.ui.lab import LabServer
from tests.ui.test_cells import cell, editor, expect_source, open_it, write

# The same tests, in this Lab.
test_typing_goes_on = test_cells.test_typing_goes_on_while_the_agent_edits_other_cells
test_no_letter_is_lost = test_cells.test_typing_at_full_speed_loses_no_letter


def test_both_are_there(page: Page, lab: LabServer) -> None:
    page.goto(lab.url("lab"))
    expect(page.locator(".jp-LauncherCard", has_text="Chat").first).to_be_visible()
    expect(page.get_by_role("tab", name="Cowork")).to_be_visible()


def test_what_the_agent_edits_is_not_loaded_again_from_the_disk(
    page: Page, lab: LabServer, agent: Agent, name: str
) -> None:
    write(lab, name, "one", "two", "three")
    open_it(page, lab, name, agent)
    editor(page, 2).click()
    page.keyboard.press("End")
    page.keyboard.type(" typed")
    mark = "document.querySelectorAll('.jp-Notebook .jp-Cell')[2].dataset.kept = 'yes'"
    page.evaluate(mark)
    agent.edit(name, "c0", "changed")
    expect_source(page, 0, "changed")
    page.keyboard.type(" on")
    page.keyboard.press("Control+s")
    expect_source(page, 2, "three typed on")
    # A notebook that was loaded again would have other cells.
    expect(cell(page, 2)).to_have_attribute("data-kept", "yes")
    expect(editor(page, 2)).to_be_focused()


def test_a_file_that_is_open_is_shown_as_the_agent_leaves_it(
    page: Page, lab: LabServer, agent: Agent
) -> None:
    Path(lab.root, "notes.txt").write_text("one\n")
    page.goto(lab.url("lab/tree/notes.txt"))
    shown = page.locator(".jp-FileEditor .cm-content")
    expect(shown).to_have_text("one")
    agent.allow("update_file")
    agent.use("update_file", path="notes.txt", old_text="one", new_text="two")
    expect(shown).to_have_text("two")
    expect(page.locator(".jp-Dialog")).to_have_count(0)


def test_our_mcp_says_what_keeps_it_from_working(agent: Agent) -> None:
    """jupyter-ai's own packages need an older one."""
    server = {"name": "web", "config": {"url": "http://127.0.0.1:9/mcp"}}
    agent.request("POST", "mcp/servers", server)
    with suppress(HTTPError):  # it cannot be started
        agent.request("POST", "mcp/servers/web/restart", {})
    (told,) = agent.request("GET", "mcp/servers")["items"]
    assert "is too old; 2 or newer is needed" in str(told)
    agent.request("DELETE", "mcp/servers/web")
