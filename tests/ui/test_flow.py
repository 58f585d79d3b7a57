"""A whole visit, with a model that follows a script: plan, edit, execute, decide, roll back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.scripted import ScriptedServer

from . import story
from .lab import LabServer
from .patience import PATIENCE
from .person import open_notebook, run_cells, use_dark_theme
from .visit import (
    assert_nothing_sticks_out,
    complaints,
    go_back,
    has,
    open_lab,
    open_panel,
    say,
    until_lab_has_started,
)

Screenshot = Callable[[Page, str], Path]


def test_from_a_plan_to_its_roll_back(
    page: Page, scripted_lab: LabServer, model: ScriptedServer, screenshot: Screenshot
) -> None:
    root = scripted_lab.root
    open_notebook(page, scripted_lab, "sales.ipynb")
    panel = open_panel(page)
    run_cells(page, 2)
    expect(page.locator(".jp-NotebookPanel-toolbar [data-jp-item-name=cowork]")).to_be_visible()
    card = page.locator(".jp-OutputArea .cw-card").first
    expect(card).to_contain_text("Execute plan")
    expect(panel.locator(".cw-plan-line")).to_have_count(3)
    screenshot(page, "flow-1-planned")

    card.get_by_role("button", name="Edit steps").click()
    card.locator("textarea").first.fill("Write `report.md` for March")
    card.get_by_role("button", name="Save").click()
    expect(card.locator(".cw-steps")).to_contain_text("for March")
    card.get_by_role("button", name="Execute plan").click()

    # The first step is as planned and runs; the second goes beyond the plan. Allowed in the card:
    asked = page.locator(".jp-OutputArea .cw-card", has_text="Permission")
    expect(asked).to_contain_text("notes.md")
    expect(panel.locator(".cw-inbox")).to_contain_text("notes.md")
    assert_nothing_sticks_out(panel)
    screenshot(page, "flow-2-permission")
    assert (root / "report.md").read_text() == "# Sales\n"
    assert (root / "notes.md").read_text() == "Nothing yet.\n"
    asked.get_by_role("button", name="Allow once").click()

    # The third wants to delete a file. Denied in the panel:
    expect(panel.locator(".cw-inbox")).to_contain_text("draft.md")
    panel.locator(".cw-inbox").get_by_role("button", name="Deny", exact=True).click()
    expect(panel.locator(".cw-inbox")).to_contain_text("12 rows have no region")
    screenshot(page, "flow-3-question")
    panel.locator(".cw-inbox").get_by_role("button", name=has("Show as")).click()

    expect(card).to_contain_text("Completed")
    expect(panel.locator(".cw-inbox .cw-card")).to_have_count(0)
    assert any("for March" in json.dumps(one.body) for one in model.requests)
    assert (root / "notes.md").read_text() == "Dropped 12 rows.\n"
    assert (root / "draft.md").exists()
    expect(card).to_contain_text("also changed notes.md")
    screenshot(page, "flow-4-completed")
    assert complaints(page, ".cw-panel") == []

    card.get_by_role("button", name="Roll back…").click()
    expect(card).to_contain_text("Would be removed")
    screenshot(page, "flow-5-roll-back")
    card.get_by_role("button", name="Roll back now").click()
    expect(card).to_contain_text("Rolled back.")
    assert not (root / "report.md").exists()
    assert (root / "notes.md").read_text() == "Nothing yet.\n"


@pytest.mark.slow
def test_a_reply_is_stopped_while_it_streams(
    page: Page, scripted_lab: LabServer, screenshot: Screenshot
) -> None:
    open_lab(page, scripted_lab)
    panel = open_panel(page)
    say(panel, story.STREAM)
    expect(panel.locator(".cw-tail")).to_contain_text("word20")
    screenshot(page, "flow-streaming")
    panel.locator(".cw-composer").get_by_role("button", name="Stop").click()
    expect(panel.locator(".cw-head").first).to_contain_text("Stopped")
    expect(panel.locator(".cw-run")).to_contain_text("word20")  # what was said is not lost
    expect(panel.locator(".cw-composer").get_by_role("button", name="Stop")).to_have_count(0)


def test_a_question_survives_a_reload_and_is_answered_in_either_of_two_tabs(
    page: Page, scripted_lab: LabServer, screenshot: Screenshot
) -> None:
    open_lab(page, scripted_lab)
    panel = open_panel(page)
    say(panel, story.ASK)
    expect(panel.locator(".cw-run")).to_contain_text("Leave them out")

    page.reload()
    expect(page.locator(".jp-Launcher")).to_be_visible()
    until_lab_has_started(page)
    # A new tab shows that something waits before the panel is opened.
    expect(page.locator(".cw-status-pill .cw-colour-ask")).to_have_text("1")
    inbox = page.locator(".cw-panel .cw-inbox")
    open_panel(page)
    expect(inbox).to_contain_text("12 rows have no region")
    inbox.get_by_role("button", name=story.ASK).click()
    talk = page.locator(".cw-panel .cw-run")
    expect(talk).to_contain_text("Leave them out")

    other = page.context.new_page()
    open_lab(other, scripted_lab)
    open_panel(other)
    elsewhere = other.locator(".cw-panel .cw-inbox")
    elsewhere.get_by_role("button", name=has("Leave them out")).click()
    expect(talk).to_contain_text("that is settled")
    expect(page.locator(".cw-status-pill .cw-colour-ask")).to_have_count(0)
    expect(elsewhere.locator(".cw-card")).to_have_count(0)
    screenshot(page, "flow-answered")
    other.close()


@pytest.mark.slow
def test_what_a_model_sends_is_text_and_nothing_runs(
    page: Page, scripted_lab: LabServer, screenshot: Screenshot
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    open_lab(page, scripted_lab)
    panel = open_panel(page)
    say(panel, story.HOSTILE)
    expect(panel.locator(".cw-run")).to_contain_text("<script>window.hacked")
    expect(panel.locator(".cw-head").first).to_contain_text("Completed")
    screenshot(page, "flow-hostile")
    assert page.evaluate("window.hacked") is None
    assert panel.locator(".cw-run :is(img, script, iframe)").count() == 0
    assert panel.locator(".cw-run a[href^='javascript']").count() == 0
    assert not [url for url in asked if "evil.example" in url]


@pytest.mark.slow
def test_a_plan_of_sixty_steps_stays_readable(
    page: Page, scripted_lab: LabServer, screenshot: Screenshot
) -> None:
    open_lab(page, scripted_lab)
    panel = open_panel(page)
    say(panel, story.LONG)
    expect(panel.locator(".cw-steps > li")).to_have_count(60)
    assert_nothing_sticks_out(panel)
    screenshot(page, "flow-sixty-steps")
    panel.get_by_role("button", name="Execute plan").click()
    expect(panel.locator(".cw-head").first).to_contain_text("Completed", timeout=3 * PATIENCE)
    go_back(panel)
    expect(panel.locator(".cw-heading-count").first).to_have_text("60 / 60")
    expect(panel.locator(".cw-plan-line")).to_have_count(12)
    screenshot(page, "flow-sixty-done")


@pytest.mark.slow
def test_panel_and_conversation_look_right_in_both_themes_and_when_there_is_little_room(
    page: Page, scripted_lab: LabServer, screenshot: Screenshot
) -> None:
    open_lab(page, scripted_lab)
    panel = open_panel(page)
    page.keyboard.press("Control+B")  # a narrow window has no room for the file browser
    expect(page.locator(".jp-FileBrowser")).not_to_be_visible()
    say(panel, f"{story.CLEAN} once more")
    expect(panel).to_contain_text("Execute plan")
    for theme in ("light", "dark"):
        if theme == "dark":
            use_dark_theme(page)
            expect(page.locator("#jupyterlab-splash")).to_have_count(0)
        for width in (1280, 700):
            page.set_viewport_size({"width": width, "height": 800})
            assert_nothing_sticks_out(panel)
            screenshot(page, f"panel-{theme}-{width}")
        assert complaints(page, ".cw-panel") == []
        page.set_viewport_size({"width": 1280, "height": 800})
    go_back(panel)
    expect(panel.locator(".cw-plan-line")).to_have_count(3)
    assert_nothing_sticks_out(panel)
    assert complaints(page, ".cw-panel") == []
    screenshot(page, "overview-dark")
