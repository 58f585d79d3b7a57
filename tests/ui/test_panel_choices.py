"""The panel: which base prompt a conversation has, and what waits for the user first."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.scripted import Scripted, ScriptedServer, call, text
from tests.scripted.server import last_words

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
    say,
    unfold,
)

pytestmark = pytest.mark.slow

Screenshot = Callable[[Page, str], Path]


def tell(body: dict[str, Any]) -> Scripted:
    """A question of the severity that was asked for, a call, or a greeting."""
    words = last_words(body, "user")
    for severity in ("minor", "critical"):
        if severity in words:
            return text(json.dumps({**QUESTION, "severity": severity, "question": f"{severity}?"}))
    if "install" in words:
        return call("execute_command", command="pip install pyarrow")
    return call("create_file", path="a.txt", content="") if "write" in words else text("Hello.")


QUESTION = {"type": "question", "options": [{"label": "Yes", "value": "yes"}]}


@pytest.fixture(scope="module")
def script() -> Iterator[ScriptedServer]:
    with ScriptedServer(tell) as server:
        server.listed = {"supported_parameters": []}
        yield server


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, script: ScriptedServer) -> Iterator[LabServer]:
    """A Lab whose folder brings a base prompt along."""
    environment = {"COWORK_BASE_URL": script.base_url, "COWORK_MODEL": "gpt-5-mini"}
    with LabServer(tmp_path_factory.mktemp("choices"), environment) as server:
        folder = server.root / ".cowork" / "prompts"
        folder.mkdir(parents=True)
        (folder / "team.md").write_text("# Our team\n\nAlways answer in rhymes.\n")
        yield server


def test_a_base_prompt_is_chosen_once_it_is_trusted(
    page: Page, lab: LabServer, script: ScriptedServer, screenshot: Screenshot
) -> None:
    post(lab, "context", {"title": "Sales"})
    start_in_light(lab)
    open_lab(page, lab)
    panel = open_panel(page)
    rows(panel).filter(has_text="Sales").click()
    panel.get_by_label("More about this conversation").click()
    prompts = panel.get_by_label("Base prompt")
    expect(prompts).to_have_value("default")
    expect(prompts.locator("option")).to_have_text(
        ["Default (built in)", "Our team (this folder, not trusted yet)"]
    )
    expect(prompts.locator("option").nth(1)).to_be_disabled()

    go_back(panel)
    unfold(panel, "This workspace")
    panel.get_by_role("button", name="Trust what is shown here").click()
    expect(panel).to_contain_text("You trust what came with this folder.")
    rows(panel).filter(has_text="Sales").click()
    panel.get_by_label("More about this conversation").click()
    prompts.focus()
    page.keyboard.press("ArrowDown")
    expect(prompts).to_have_value("team")
    assert_nothing_sticks_out(panel)
    assert complaints(page, ".cw-panel") == []
    screenshot(page, "base-prompt")
    use_dark_theme(page)
    assert complaints(page, ".cw-panel") == []
    say(panel, "Hello")
    expect(panel.locator(".cw-run")).to_contain_text("Hello.")
    assert "Always answer in rhymes." in script.requests[-1].body["messages"][0]["content"]
    page.reload()
    panel = open_panel(page)
    rows(panel).filter(has_text="Sales").click()
    panel.get_by_label("More about this conversation").click()
    expect(panel.get_by_label("Base prompt")).to_have_value("team")


def test_the_most_urgent_waits_on_top(page: Page, lab: LabServer) -> None:
    for words in ("minor", "critical", "write", "install"):
        made = post(lab, "context", {"title": words})
        post(lab, f"context/{made['id']}/messages", {"content": words})
    open_lab(page, lab)
    items = open_panel(page).locator(".cw-inbox-item summary")
    expect(items).to_have_count(4)
    order = [words.split()[-1] for words in items.all_text_contents()]
    assert order == ["install", "write", "critical", "minor"]
