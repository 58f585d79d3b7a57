"""The agent's hands in documents that several people share: what holds for one, and more."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.ui import test_cells
from tests.ui.agent import Agent
from tests.ui.lab import LabServer
from tests.ui.test_cells import cell, editor, expect_source, open_it, write

# The same tests, in this Lab.
test_typing_goes_on = test_cells.test_typing_goes_on_while_the_agent_edits_other_cells
test_no_letter_is_lost = test_cells.test_typing_at_full_speed_loses_no_letter


def test_stale_edit_is_refused(page: Page, lab: LabServer, agent: Agent, name: str) -> None:
    """Here the server saves what people type, by itself, when it pleases."""
    test_cells.refuse_a_stale_edit(page, lab, agent, name)


def test_an_edit_and_an_output_appear_in_both_tabs_while_both_type(
    page: Page, second: Page, lab: LabServer, agent: Agent, name: str
) -> None:
    write(lab, name, "one", "two", "6 * 7", "four")
    open_it(page, lab, name, agent)
    open_it(second, lab, name, agent)
    for tab, number, words in ((page, 0, " typed here"), (second, 3, " typed there")):
        editor(tab, number).click()
        tab.keyboard.press("End")
        tab.keyboard.type(words)
    agent.edit(name, "c1", "changed")
    agent.use("run_cell", path=name, cell_id="c2")
    for tab in (page, second):
        expect(editor(tab, 0)).to_have_text("one typed here")
        expect_source(tab, 1, "changed")  # beside it stands what it was
        expect(cell(tab, 2).locator(".jp-OutputArea-output")).to_have_text("42")
        expect(editor(tab, 3)).to_have_text("four typed there")
    expect(editor(page, 0)).to_be_focused()
