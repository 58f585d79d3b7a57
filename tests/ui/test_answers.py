"""What stands in an answer can be used, and a card speaks as people do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.scripted import Scripted, ScriptedServer, call, plan, text

from .lab import LabServer
from .person import choose_in_palette
from .test_run_cards import press, run_cell

pytestmark = pytest.mark.slow

Screenshot = Callable[[Page, str], Path]

ANSWER = """Two ways:

```python
total = 6 * 7
print(total)
```

or in a terminal:

```bash
pip list
```
"""
SUM = """import csv

with open("orders.csv") as file:
    total = sum(float(row["amount"]) for row in csv.DictReader(file))
print(total)"""
WHY = "I cannot do it, because:\n\n- the file is gone\n- the disk is full"


def answers(body: dict[str, Any]) -> Scripted:
    """What the model says; it looks only at what it was asked."""
    past = "\n".join(str(one["content"]) for one in body["messages"])
    if "of an approved plan" in past:
        return Scripted(status=400, error={"error": {"message": WHY}})
    if "Run the first" in past and "[ran cell" not in past:
        return call("run_cell", cell_id="load")
    if "Compute it" in past and "[ran code" not in past:
        return call("run_code", code=SUM)
    if "Compute it" in past:
        return text("The orders add up to 42.5.")
    if "Plan it" in past:
        return plan("Clean", {"id": "1", "action": "Write a", "files": ["a.txt"]})
    return text(ANSWER)


@pytest.fixture(scope="module")
def answering_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """A JupyterLab whose model follows the script above."""
    with ScriptedServer(answers) as model:
        environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted"}
        with LabServer(tmp_path_factory.mktemp("answers"), environment) as lab:
            yield lab


def test_code_in_an_answer_becomes_a_cell_below_the_card(
    page: Page, answering_lab: LabServer, screenshot: Screenshot
) -> None:
    run = run_cell(page, answering_lab, "code.ipynb", "%%act\nTell me")
    expect(run.get_by_role("button", name="Copy this code")).to_have_count(2)
    insert = run.get_by_role("button", name="Insert as cell")
    expect(insert).to_have_count(1)
    screenshot(page, "answer-code")
    insert.click()
    cells = page.locator(".jp-Notebook .jp-Cell")
    expect(cells.nth(2).locator(".cm-content")).to_have_text("total = 6 * 7print(total)")
    expect(cells.nth(2)).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(cells.nth(2).locator(".jp-OutputArea-output")).to_have_text("42\n")
    screenshot(page, "answer-code-inserted")

    choose_in_palette(page, "Show Cowork Panel")
    panel = page.locator(".cw-panel")
    panel.get_by_role("button", name=re.compile("Tell me")).first.click()
    cells.nth(0).click()
    panel.get_by_role("button", name="Insert as cell").click()
    expect(cells.nth(1).locator(".cm-content")).to_have_text("total = 6 * 7print(total)")


def test_what_was_computed_in_scratch_is_kept_as_a_cell(
    page: Page, answering_lab: LabServer, screenshot: Screenshot
) -> None:
    (answering_lab.root / "orders.csv").write_text("amount\n40\n2.5\n")
    run = run_cell(page, answering_lab, "scratch.ipynb", "%%ask planner\nCompute it")
    expect(run).to_contain_text("The orders add up to 42.5.")
    expect(run).to_contain_text("ran code in scratch")
    expect(run.locator(".cw-card", has_text="Permission")).to_have_count(0)
    screenshot(page, "scratch-run")
    run.get_by_role("button", name="Keep as cell").click()
    cells = page.locator(".jp-Notebook .jp-Cell")
    expect(cells.nth(2).locator(".cm-content")).to_contain_text("csv.DictReader(file)")
    page.keyboard.press("Control+Enter")
    expect(cells.nth(2).locator(".jp-OutputArea-output")).to_have_text("42.5\n")
    screenshot(page, "scratch-kept")


def test_a_permission_says_which_cell_and_in_words_what(
    page: Page, answering_lab: LabServer, screenshot: Screenshot
) -> None:
    run = run_cell(page, answering_lab, "permission.ipynb", "%%act\nRun the first")
    asked = run.locator(".cw-card", has_text="Permission").last
    expect(asked).to_contain_text("Run a cell")
    expect(asked).to_contain_text("cell 1 of permission.ipynb")
    expect(asked).to_contain_text("It runs code in your kernel; nothing allows that yet.")
    expect(asked.get_by_text("run_cell")).to_have_count(0)
    asked.get_by_text("Details").click()
    expect(asked.get_by_text("run_cell", exact=True)).to_be_visible()
    screenshot(page, "answer-permission")
    press(run, "Allow once")
    expect(run).to_contain_text("ran cell 1 of permission.ipynb")
    expect(run).to_contain_text("Completed")


def test_a_failed_step_gives_its_reason_once(
    page: Page, answering_lab: LabServer, screenshot: Screenshot
) -> None:
    run = run_cell(page, answering_lab, "failed.ipynb", "%%plan\nPlan it")
    press(run, "Execute plan")
    expect(run).to_contain_text("What now?")
    screenshot(page, "answer-failed-asks")
    shown = run.locator(".cw-card")
    assert "".join(shown.all_inner_texts()).count("the file is gone") == 1
    press(run.get_by_role("group", name="Answers"), "Stop")
    expect(run).to_contain_text("Failed")
    screenshot(page, "answer-failed")
    assert "".join(shown.all_inner_texts()).count("the file is gone") == 1
