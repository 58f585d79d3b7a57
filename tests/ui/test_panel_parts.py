"""The parts of the side panel, with a server and a model behind them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from . import story
from .lab import LabServer
from .patience import until
from .visit import (
    assert_nothing_sticks_out,
    complaints,
    go_back,
    has,
    open_lab,
    open_panel,
    post,
    rows,
    say,
    unfold,
)

pytestmark = pytest.mark.slow

Screenshot = Callable[[Page, str], Path]


def test_what_waits_is_announced_when_one_looks_elsewhere(
    page: Page, scripted_lab: LabServer, screenshot: Screenshot
) -> None:
    open_lab(page, scripted_lab)
    open_panel(page)
    tab = page.locator(".jp-SideBar .lm-TabBar-tab[data-id=cowork-panel]")
    tab.click()  # closes it
    expect(page.locator(".cw-panel")).not_to_be_visible()

    context = post(scripted_lab, "context", {"role": "planner"})
    post(scripted_lab, f"context/{context['id']}/messages", {"content": story.ASK})
    toast = page.locator(".Toastify__toast", has_text="12 rows have no region")
    expect(toast).to_be_visible()
    expect(tab).to_have_attribute("data-cowork-waiting", "1")
    screenshot(page, "panel-notified")
    toast.get_by_role("button", name="Show").click()
    inbox = page.locator(".cw-panel .cw-inbox")
    inbox.get_by_role("button", name=has("Leave them out")).click()
    expect(toast).to_have_count(0)
    expect(page.locator(".lm-TabBar-tab[data-cowork-waiting]")).to_have_count(0)


def test_lab_leads_to_the_panel_from_the_launcher_and_the_file_browser(
    page: Page, scripted_lab: LabServer, screenshot: Screenshot
) -> None:
    open_lab(page, scripted_lab)
    field = page.locator(".cw-panel .cw-composer textarea")
    page.locator(".jp-LauncherCard", has_text="Ask Cowork").click()
    expect(field).to_be_focused()
    page.locator(".jp-DirListing-item", has_text="notes.md").click(button="right")
    screenshot(page, "panel-context-menu")
    page.locator(".lm-Menu-item", has_text="Plan a change to this file").click()
    expect(field).to_have_value("Plan a change to `notes.md`: ")
    expect(field).to_be_focused()
    page.locator(".jp-DirListing-item", has_text="bikes").click(button="right")
    expect(page.locator(".lm-Menu-item", has_text="Open").first).to_be_visible()
    expect(page.locator(".lm-Menu-item", has_text="Plan a change")).to_have_count(0)


def test_workflows_rules_and_trust(
    page: Page, scripted_lab: LabServer, screenshot: Screenshot
) -> None:
    open_lab(page, scripted_lab)
    panel = open_panel(page)
    unfold(panel, "Workflows", "Rules", "This workspace")

    trust = panel.locator("details.cw-part", has=page.locator("h2", has_text="This workspace"))
    expect(trust).to_contain_text("They have no effect until you trust them")
    panel.get_by_text("Add a rule").click()
    panel.get_by_placeholder("execute_command(git push)").fill("execute_command(git push)")
    panel.get_by_label("What the rule says").select_option("Deny")
    panel.get_by_role("button", name="Add", exact=True).click()
    rule = panel.locator(".cw-rule", has_text="execute_command(git push)")
    expect(rule).to_contain_text("In this workspace.")

    panel.get_by_role("button", name="Explain this notebook").click()
    form = panel.get_by_role("form", name="Explain this notebook")
    form.get_by_label(has("Notebook")).fill("quickstart.ipynb")
    assert_nothing_sticks_out(panel)
    assert complaints(page, ".cw-panel") == []
    screenshot(page, "panel-parts")

    rule.get_by_role("button", name="Revoke").click()
    expect(rule).to_have_count(0)
    trust.get_by_role("button", name="Trust what is shown here").click()
    expect(trust).to_contain_text("You trust what came with this folder.")
    trust.get_by_role("button", name="Stop trusting it").click()
    expect(trust).to_contain_text("They have no effect until you trust them")

    form.get_by_role("button", name="Run").click()
    expect(panel.locator(".cw-run")).to_contain_text("that is settled")
    go_back(panel)
    expect(rows(panel).first).to_have_text("Explain this notebook")


def test_the_model_is_picked_and_asked(page: Page, scripted_lab: LabServer, model: Any) -> None:
    open_lab(page, scripted_lab)
    panel = open_panel(page)
    panel.get_by_label("Model").select_option("qwen3-coder")
    say(panel, "Who are you?")
    expect(panel.locator(".cw-run")).to_contain_text("that is settled")
    asked = [one.body for one in model.requests if "Who are you?" in json.dumps(one.body)]
    assert {body["model"] for body in asked} == {"qwen3-coder"}
    go_back(panel)

    def is_kept() -> bool:
        return "qwen3-coder" in scripted_lab.setting("cowork-jupyter", "plugin")

    until(page, is_kept, "the choice is not kept")
    panel.get_by_label("Model").select_option("gpt-5-mini")
    until(page, lambda: not is_kept(), "other tests would get this one's model")
