"""Pointing at things in a message, commands, images and comments: as a person uses them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.scripted import Scripted, ScriptedServer, plan, text
from tests.scripted.server import last_words

from .lab import LabServer
from .patience import until
from .person import card, open_notebook, run_cells, use_dark_theme
from .scripted_lab import write_notebook
from .visit import complaints, open_lab, open_panel

pytestmark = pytest.mark.slow

Screenshot = Callable[[Page, str], Path]

TABLE = """import pandas as pd
sales = pd.DataFrame({"region": ["North", "South", "West"], "revenue": [1.5, 2.5, 3.0]})"""
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FAAhKDveksOjmAA"
    "AAAElFTkSuQmCC"
)
PASTE = """async (field, data) => {
  const bytes = Uint8Array.from(atob(data), one => one.charCodeAt(0));
  const clipboardData = new DataTransfer();
  clipboardData.items.add(new File([bytes], 'figure.png', { type: 'image/png' }));
  const options = { clipboardData, bubbles: true, cancelable: true };
  field.dispatchEvent(new ClipboardEvent('paste', options));
}"""
STEPS = [{"id": "1", "action": "Read the table"}, {"id": "2", "action": "Draw the chart"}]


def answers(body: dict[str, Any]) -> Scripted:
    """What the model says; it looks only at what it was asked."""
    words = last_words(body, "user")
    return (
        plan("Chart the sales", *STEPS) if "In step" in words or "Plan" in words else text("Yes.")
    )


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedServer]:
    with ScriptedServer(answers, models="blind") as server:
        server.listed = {"supported_parameters": []}
        yield server


@pytest.fixture(scope="module")
def pointing_lab(
    tmp_path_factory: pytest.TempPathFactory, model: ScriptedServer
) -> Iterator[LabServer]:
    """A Lab with a notebook that has a table, and with files."""
    environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "blind"}
    with LabServer(tmp_path_factory.mktemp("pointing"), environment) as lab:
        (lab.root / "regions.csv").write_text("region,units\nNorth,3\n")
        write_notebook(lab.root / "sales.ipynb", TABLE, "%%plan\nPlan a chart of @sales")
        yield lab


def field_of(panel: Locator) -> Locator:
    return panel.locator(".cw-composer textarea")


def test_the_composer_completes_with_the_keyboard_and_records_what_was_given(
    page: Page, pointing_lab: LabServer, model: ScriptedServer, screenshot: Screenshot
) -> None:
    open_notebook(page, pointing_lab, "sales.ipynb")
    run_cells(page, 1)
    expect(page.locator(".jp-Notebook .jp-Cell").first).to_contain_text("[1]:")
    panel = open_panel(page)
    page.keyboard.type("Compare @reg")
    options = panel.get_by_role("option")

    expect(options.filter(has_text="@sales.region")).to_be_visible()
    expect(options.filter(has_text="@regions.csv")).to_be_visible()
    expect(field_of(panel)).to_have_attribute(
        "aria-controls", options.first.locator("..").get_attribute("id") or ""
    )
    assert complaints(page, ".cw-composer") == []
    screenshot(page, "mentions-offers")
    while "@sales.region" not in (panel.locator("[aria-selected=true]").text_content() or ""):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(field_of(panel)).to_have_value("Compare @sales.region ")
    page.keyboard.type("with @regions.c")
    expect(options).to_have_count(1)
    page.keyboard.press("Tab")
    expect(field_of(panel)).to_have_value("Compare @sales.region with @regions.csv ")
    chips = panel.locator(".cw-composer .cw-mention")
    expect(chips).to_have_count(2)
    expect(chips.first).to_contain_text("@sales.region · ")
    expect(chips.first).to_contain_text("tokens")
    use_dark_theme(page)
    assert complaints(page, ".cw-composer") == []
    screenshot(page, "mentions-chips-dark")
    field_of(panel).press("Enter")

    recorded = panel.locator(".cw-run .cw-mention")
    expect(recorded).to_have_count(2)
    expect(recorded.last).to_contain_text("@regions.csv · ")
    expect(panel.locator(".cw-run")).to_contain_text("Yes.")
    sent = "\n".join(str(one["content"]) for one in model.requests[-1].body["messages"])
    assert "values North, South, West" in sent
    screenshot(page, "mentions-recorded-dark")


def test_a_command_goes_to_its_role_and_a_wrong_one_nowhere(
    page: Page, pointing_lab: LabServer, model: ScriptedServer
) -> None:
    open_lab(page, pointing_lab)
    panel = open_panel(page)
    page.keyboard.type("/reviewe")
    expect(panel.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Tab")
    page.keyboard.type("Is it right?")
    page.keyboard.press("Enter")
    run = panel.locator(".cw-run")
    expect(run).to_contain_text("Reviewer")
    expect(run).to_contain_text("Yes.")
    before = len(model.requests)
    field_of(panel).fill("/reviewr again")
    field_of(panel).press("Enter")
    expect(panel.get_by_role("alert").filter(has_text="Did you mean /reviewer")).to_be_visible()
    expect(field_of(panel)).to_have_value("/reviewr again")
    assert len(model.requests) == before


def test_a_pasted_image_goes_along_and_one_is_told_who_cannot_see(
    page: Page, pointing_lab: LabServer, model: ScriptedServer, screenshot: Screenshot
) -> None:
    open_lab(page, pointing_lab)
    panel = open_panel(page)
    data = base64.b64encode(PNG).decode()
    page.keyboard.type("What is this?")
    field_of(panel).evaluate(PASTE, data)
    images = panel.get_by_role("list", name="Images")
    expect(images.get_by_role("img")).to_have_count(1)
    expect(panel).to_contain_text("blind cannot see images")
    field_of(panel).evaluate(PASTE, data)
    expect(images.get_by_role("img")).to_have_count(2)
    panel.get_by_role("button", name="Remove image 2").click()
    expect(images.get_by_role("img")).to_have_count(1)
    assert complaints(page, ".cw-composer") == []
    screenshot(page, "mentions-image")
    field_of(panel).press("Enter")
    expect(panel.locator(".cw-run .cw-pictures img")).to_be_visible()
    expect(panel.locator(".cw-run")).to_contain_text("Yes.")
    sent = json.dumps(model.requests[-1].body, ensure_ascii=False)
    assert "[image 10×10 PNG, not shown to this model]" in sent
    assert data not in sent


def test_comments_on_steps_go_as_one_message(
    page: Page, pointing_lab: LabServer, model: ScriptedServer, screenshot: Screenshot
) -> None:
    open_notebook(page, pointing_lab, "sales.ipynb")
    run_cells(page, 2)
    made = card(page, "Draw the chart")
    expect(made).to_be_visible()
    run = page.locator(".jp-OutputArea .cw-run").filter(has_text="Draw the chart")
    expect(run.locator(".cw-mention")).to_contain_text("@sales · ")
    steps = run.locator(".cw-step")
    steps.first.focus()
    expect(run.get_by_role("button", name="Comment", exact=True)).to_be_visible()
    page.keyboard.press("c")
    expect(run.get_by_label("Your comment on step 1")).to_be_focused()
    page.keyboard.type("Only the first rows")
    page.keyboard.press("Enter")
    expect(steps.first).to_be_focused()
    steps.nth(1).locator(".cw-step-action").dblclick(position={"x": 12, "y": 9})
    run.get_by_role("button", name="Comment", exact=True).click()
    expect(run.get_by_label("Your comment on step 2")).to_be_focused()
    page.keyboard.type("As bars")
    page.keyboard.press("Enter")
    bar = run.get_by_role("group", name="Comments")
    expect(bar).to_contain_text("2 comments")
    assert complaints(page, ".jp-OutputArea .cw-comments") == []
    screenshot(page, "comments")
    use_dark_theme(page)
    assert complaints(page, ".jp-OutputArea .cw-comments") == []
    screenshot(page, "comments-dark")
    bar.get_by_role("button", name="Send").click()
    expect(bar).to_have_count(0)
    expect(run).to_contain_text("As bars")
    until(page, lambda: "As bars" in last_words(model.requests[-1].body, "user"), "it is not sent")
    said = last_words(model.requests[-1].body, "user")
    assert "In step 1 “Read the table”: Only the first rows" in said
    assert "In step 2 “Draw the chart”:\n> " in said


def test_discussing_a_plan_and_writing_in_a_cell_complete_too(
    page: Page, pointing_lab: LabServer
) -> None:
    open_notebook(page, pointing_lab, "sales.ipynb")
    run_cells(page, 2)
    run = page.locator(".jp-OutputArea .cw-run").filter(has_text="Draw the chart")
    run.get_by_role("button", name="Discuss…").click()
    page.keyboard.type("Use @regions.c")
    expect(run.get_by_role("option")).to_have_count(1)
    assert complaints(page, ".jp-OutputArea .cw-write") == []
    page.keyboard.press("Enter")
    field = run.get_by_label("Your message")
    expect(field).to_have_value("Use @regions.csv ")
    expect(run.locator(".cw-write .cw-mention")).to_contain_text("@regions.csv · ")

    cell = page.locator(".jp-Notebook .jp-Cell").last.locator(".cm-content")
    cell.click()
    page.keyboard.type("%%ask\nplot @sales.re")
    page.keyboard.press("Tab")
    offered = page.locator(".jp-Completer")
    expect(offered).to_contain_text("sales.region")
    expect(offered).to_contain_text("sales.revenue")
