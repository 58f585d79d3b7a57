"""A commander's card: each task that it hands to others is a row with its role and its result."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.scripted import Scripted, ScriptedServer, call, plan, text

from .lab import LabServer
from .person import save
from .test_run_cards import press, run_cell

pytestmark = pytest.mark.slow

Screenshot = Callable[[Page, str], Path]

FINDING = {"file": "nests.md", "line": 1, "severity": "minor", "comment": "No title."}
REVIEW = {"type": "review", "summary": "It reads well.", "verdict": "approve"}
TASKS = {"planner": "Plan the nests", "actor": "Write the nests", "reviewer": "Review the nests"}


def answers(body: dict[str, Any]) -> Scripted:
    """What each role says; it looks only at what it was asked."""
    system, *said = (str(one["content"]) for one in body["messages"])
    past = "\n".join(said)
    if "operating in PLANNER role" in system:
        steps = [{"id": "1", "action": "Count them"}, {"id": "2", "action": "Write it down"}]
        return plan("Know the nests", *steps)
    if "operating in REVIEWER role" in system:
        return text(json.dumps({**REVIEW, "findings": [FINDING]}))
    if "operating in ACTOR role" in system:
        write = call("create_file", path="nests.md", content="Nests\n")
        return text("Wrote nests.md.") if "Result of" in past else write
    for role, task in TASKS.items():
        if task not in past:
            return call("delegate", role=role, task=task)
    return text("All of it is done.")


@pytest.fixture(scope="module")
def led_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """A JupyterLab whose model follows the script above."""
    with ScriptedServer(answers) as model:
        environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted"}
        with LabServer(tmp_path_factory.mktemp("commander"), environment) as lab:
            yield lab


def test_each_delegation_is_a_row_whose_result_is_in_words(
    page: Page, led_lab: LabServer, screenshot: Screenshot
) -> None:
    lead = run_cell(page, led_lab, "lead.ipynb", "%%ask commander\nLead the work")
    press(lead, "Allow")  # that the actor is sent
    press(lead, "Allow once")  # that it writes
    expect(lead).to_contain_text("All of it is done.")
    rows = lead.locator(".cw-step")
    expect(rows).to_have_count(3)
    for reloaded in (False, True):
        for row, task in zip(rows.all(), TASKS.values(), strict=True):
            expect(row).to_contain_text(task)
        expect(rows.nth(0)).to_contain_text("Know the nests")
        expect(rows.nth(0)).to_contain_text("Write it down")
        expect(rows.nth(2)).to_contain_text("Review: approve. It reads well.")
        expect(rows.nth(2)).to_contain_text("nests.md:1 (minor): No title.")
        for written in ("'type'", '"type"', "format_version", "{"):
            expect(lead).not_to_contain_text(written)
        expect(lead.get_by_role("button", name="Execute plan")).to_have_count(0)
        screenshot(page, f"commander{'-reloaded' if reloaded else ''}")
        if not reloaded:
            save(page)
            page.reload()
            expect(rows).to_have_count(3)
