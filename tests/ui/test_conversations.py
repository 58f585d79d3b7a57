"""Conversations in the panel: named, pinned, found, exported, deleted and brought back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from .lab import LabServer
from .person import start_in_light, use_dark_theme
from .visit import (
    assert_nothing_sticks_out,
    complaints,
    go_back,
    open_lab,
    open_panel,
    post,
    rows,
    unfold,
)

pytestmark = pytest.mark.slow

Screenshot = Callable[[Page, str], Path]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """A Lab in which nobody else begins conversations."""
    with LabServer(tmp_path_factory.mktemp("conversations")) as server:
        yield server


@pytest.fixture
def panel(page: Page, lab: LabServer) -> Locator:
    """The overview, with three conversations."""
    for title, notebook in (("Birds", "owls.ipynb"), ("Sales", "sales.ipynb"), ("Costs", None)):
        made = post(lab, "context", {"title": title, "notebook": notebook, "role": "planner"})
        post(lab, f"context/{made['id']}/messages", {"content": f"Hello from {title}, 100% new"})
    start_in_light(lab)
    open_lab(page, lab)
    opened = open_panel(page)
    expect(rows(opened).filter(has_text="Birds").first).to_be_visible()
    return opened


@pytest.fixture(autouse=True)
def afterwards_all_are_gone(panel: Locator) -> Iterator[None]:
    """So that each test finds only its own."""
    yield
    panel.page.evaluate(
        """async () => {
          const cookie = Object.fromEntries(document.cookie.split('; ').map(one => one.split('=')));
          const headers = { 'X-XSRFToken': cookie._xsrf };
          const { items } = await (await fetch('/cowork/context?limit=1000')).json();
          for (const { id } of items) {
            await fetch(`/cowork/context/${id}`, { method: 'DELETE', headers });
          }
        }"""
    )


def more(panel: Locator, title: str) -> None:
    panel.get_by_label(f"More about {title}").click()


def search(panel: Locator, words: str) -> None:
    panel.get_by_label("Search conversations").fill(words)


def test_it_is_renamed_in_place_with_the_keyboard(page: Page, panel: Locator) -> None:
    more(panel, "Sales")
    panel.get_by_role("button", name="Rename").click()
    name = panel.get_by_label("Name of the conversation")
    expect(name).to_be_focused()
    name.fill("Not this")
    name.press("Escape")
    expect(rows(panel)).to_have_text(["Costs", "Sales", "Birds"])

    row = panel.locator(".cw-conversation", has_text="Sales").locator("button").first
    expect(row).to_be_focused()
    row.press("F2")
    name.fill("Sales of March")
    name.press("Enter")
    expect(rows(panel)).to_have_text(["Costs", "Sales of March", "Birds"])
    page.reload()
    expect(rows(open_panel(page))).to_have_text(["Costs", "Sales of March", "Birds"])


def test_it_stays_on_top_when_pinned(page: Page, panel: Locator, screenshot: Screenshot) -> None:
    more(panel, "Birds")
    panel.get_by_role("button", name="Pin", exact=True).click()
    expect(rows(panel)).to_have_text(["Birds", "Costs", "Sales"])
    page.reload()
    panel = open_panel(page)
    expect(rows(panel)).to_have_text(["Birds", "Costs", "Sales"])
    more(panel, "Birds")
    assert_nothing_sticks_out(panel)
    assert complaints(page, ".cw-panel") == []
    screenshot(page, "conversations")
    use_dark_theme(page)
    assert complaints(page, ".cw-panel") == []
    screenshot(page, "conversations-dark")
    panel.get_by_role("button", name="Unpin").click()
    expect(rows(panel)).to_have_text(["Costs", "Sales", "Birds"])


def test_it_is_found_by_what_was_said_and_by_its_notebook(page: Page, panel: Locator) -> None:
    search(panel, "100% birds")
    expect(rows(panel)).to_have_text(["Birds"])
    search(panel, "HELLO new")
    expect(rows(panel)).to_have_text(["Costs", "Sales", "Birds"])
    search(panel, "100_")
    expect(panel).to_contain_text("No conversation has these words")
    search(panel, "")
    panel.get_by_label("Conversations of which notebook").select_option("owls.ipynb")
    expect(rows(panel)).to_have_text(["Birds"])
    assert complaints(page, ".cw-panel") == []
    search(panel, "costs")
    expect(rows(panel)).to_have_count(0)


def test_deleting_is_undone_also_after_a_reload(
    page: Page, panel: Locator, screenshot: Screenshot
) -> None:
    more(panel, "Sales")
    panel.get_by_role("button", name="Delete", exact=True).click()
    expect(rows(panel)).to_have_text(["Costs", "Birds"])
    undo = panel.get_by_role("button", name="Undo deleting Sales").first
    expect(undo).to_be_focused()
    screenshot(page, "conversation-deleted")
    assert complaints(page, ".cw-panel") == []

    page.reload()
    panel = open_panel(page)
    expect(rows(panel)).to_have_text(["Costs", "Birds"])
    panel.get_by_role("button", name="Undo deleting Sales").first.click()
    expect(rows(panel)).to_have_text(["Costs", "Sales", "Birds"])
    rows(panel).filter(has_text="Sales").click()
    expect(panel.locator(".cw-run")).to_contain_text("Hello from Sales")
    panel.get_by_label("More about this conversation").click()
    panel.get_by_role("button", name="Delete", exact=True).click()
    expect(rows(panel)).to_have_text(["Costs", "Birds"])
    expect(panel.get_by_role("button", name="Undo deleting Sales").first).to_be_visible()


def test_it_is_exported_from_the_list_and_from_inside(page: Page, panel: Locator) -> None:
    more(panel, "Costs")
    with page.expect_download() as download:
        panel.get_by_label("Export").select_option("Markdown")
    assert download.value.suggested_filename == "Costs.md"
    assert "Hello from Costs" in Path(download.value.path()).read_text()
    rows(panel).filter(has_text="Costs").click()
    panel.get_by_label("More about this conversation").click()
    with page.expect_download() as download:
        panel.get_by_label("Export").select_option("Notebook")
    assert download.value.suggested_filename == "Costs.ipynb"
    panel.get_by_role("button", name="Rename").click()
    panel.get_by_label("Name of the conversation").fill("Costs of March")
    panel.get_by_label("Name of the conversation").press("Enter")
    expect(panel.locator("h2", has_text="Costs of March")).to_be_visible()
    go_back(panel)
    expect(rows(panel)).to_have_text(["Costs of March", "Sales", "Birds"])


def test_a_workflow_s_file_is_picked_in_a_dialog(
    page: Page, panel: Locator, screenshot: Screenshot
) -> None:
    unfold(panel, "Workflows")
    panel.get_by_role("button", name="Explain this notebook").click()
    form = panel.get_by_role("form", name="Explain this notebook")
    field = form.get_by_label("Notebook (required)")
    form.get_by_role("button", name="Browse…").press("Enter")
    dialog = page.locator(".jp-Open-Dialog")
    item = dialog.locator(".jp-DirListing-item", has_text="quickstart.ipynb")
    item.click()
    screenshot(page, "workflow-file-dialog")
    page.get_by_role("button", name="Select").click()
    expect(field).to_have_value("quickstart.ipynb")
    field.fill("typed.ipynb")
    expect(field).to_have_value("typed.ipynb")
    assert_nothing_sticks_out(panel)
    screenshot(page, "workflow-file-field")
    assert complaints(page, ".cw-panel") == []
