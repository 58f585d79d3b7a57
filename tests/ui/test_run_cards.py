"""Cards of real runs in a real Lab: plan, review, execute, decide, take back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.scripted import Scripted, ScriptedServer, call, plan, stall, text

from .lab import LabServer
from .person import open_notebook, save

pytestmark = pytest.mark.slow

Screenshot = Callable[[Page, str], Path]

STEPS = [
    {"id": "1", "action": "Write a", "files": ["a.txt"], "tools_needed": ["create_file"]},
    {"id": "2", "action": "Write b", "files": ["b.txt"], "tools_needed": ["create_file"]},
]
REPLY = """Here is **what I found**:

```mermaid
graph LR
  A[sales.csv] --> B[chart]
```

```python
def f(x): return x + 1
```

<script>window.hacked=1</script> <img src="https://evil.example/a.png"> ![b](https://evil.example/b)
"""


def answers(body: dict[str, Any]) -> Scripted:
    """What the model says: it looks only at what it was asked, so that it can be asked twice."""
    said = [str(one["content"]) for one in body["messages"]]
    past = "\n".join(said)
    step = re.search(r"step (\d) of an approved plan", past)
    if step:
        return _step(step[1], past)
    if "Explain it" in past:
        return text(REPLY)
    if "Set it up" in past:
        is_run = "exit code 0" in past
        return text("It is set up.") if is_run else call("execute_command", command="sh setup.sh")
    if "Think long" in past:
        return stall("Let me think about", after=4)
    if "region,revenue" in past:
        return plan("Clean sales", *STEPS)
    looking = {"tools": [{"tool": "read_file", "parameters": {"path": "sales.csv"}}]}
    return Scripted(reasoning="First a look.", text=json.dumps(looking))


def _step(number: str, past: str) -> Scripted:
    name = {"1": "a.txt", "2": "b.txt"}[number]
    if not re.search(rf'"path": ?"{name}"', past):
        return call("create_file", path=name, content="x\n")
    if number == "2" and "pip download" not in past:
        return call("execute_command", command="pip download pyarrow")
    return text(f"Step {number} is done.")


@pytest.fixture(scope="module")
def lab_with_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """A JupyterLab whose model follows the script above."""
    with ScriptedServer(answers) as model:
        environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted"}
        with LabServer(tmp_path_factory.mktemp("runs"), environment) as lab:
            (lab.root / "sales.csv").write_text("region,revenue\nnorth,1\n")
            yield lab


def _cell(name: str, source: str) -> dict[str, Any]:
    empty: dict[str, Any] = {"metadata": {}, "outputs": [], "execution_count": None}
    return {"cell_type": "code", "id": name, "source": source, **empty}


def run_cell(page: Page, lab: LabServer, name: str, source: str) -> Locator:
    """A notebook with this cell, run; gives the card that it shows."""
    cells = [_cell("load", "%load_ext cowork_jupyter"), _cell("ask", source)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "cells": cells}
    (lab.root / name).write_text(json.dumps({**notebook, "metadata": {"kernelspec": kernel}}))
    open_notebook(page, lab, name)
    for number in (0, 1):
        cell = page.locator(".jp-Notebook .jp-CodeCell").nth(number)
        cell.locator(".cm-content").click()
        page.keyboard.press("Shift+Enter")
        expect(cell.locator(".jp-InputPrompt")).to_contain_text(str(number + 1))
    run = page.locator(".jp-OutputArea .cw-run")
    expect(run).to_be_visible()
    return run


def written(lab: LabServer) -> set[str]:
    """What the plan has made so far."""
    return {path.name for path in lab.root.glob("?.txt")}


def press(place: Locator, name: str) -> None:
    place.get_by_role("button", name=name, exact=True).click()


def test_what_a_command_left_behind_comes_back(
    page: Page, lab_with_model: LabServer, screenshot: Screenshot
) -> None:
    lab = lab_with_model
    (lab.root / "setup.sh").write_text("mkdir .vscode; echo '{}' > .vscode/tasks.json\n")
    run = run_cell(page, lab, "setup.ipynb", "%%act\nSet it up with sh setup.sh")
    press(run, "Allow once")
    expect(run).to_contain_text("Completed")
    expect(run).to_contain_text("Set aside, because programs would run it later: .vscode")
    assert not (lab.root / ".vscode").exists()
    screenshot(page, "run-set-aside")
    save(page)
    page.reload()
    press(run, "Bring back")
    expect(run).to_contain_text("Back in its place: .vscode")
    assert (lab.root / ".vscode/tasks.json").read_text() == "{}\n"
    screenshot(page, "run-brought-back")


def test_from_plan_to_roll_back(
    page: Page, lab_with_model: LabServer, screenshot: Screenshot
) -> None:
    lab = lab_with_model
    run = run_cell(page, lab, "plan.ipynb", "%%plan\nClean sales.csv")
    expect(run).to_contain_text("Plan ready")
    press(run, "Edit steps")
    run.locator("textarea").first.fill("Write a carefully")
    press(run, "Save")
    expect(run).to_contain_text("Write a carefully")
    expect(run).to_contain_text("revision 2")
    press(run, "Execute plan")
    expect(run).to_contain_text("pip download pyarrow")
    screenshot(page, "run-permission")

    save(page)
    page.reload()
    expect(run).to_contain_text("Waiting for you")
    press(run, "Deny")
    expect(run).to_contain_text("Completed")
    assert written(lab) == {"a.txt", "b.txt"}

    (lab.root / "a.txt").write_text("by the user")
    press(run, "Roll back…")
    expect(run).to_contain_text("Would be removed · 1 file")
    anyway = run.get_by_role("checkbox", name="Roll back anyway: a.txt")
    anyway.press("Space")
    expect(run).to_contain_text("Would be removed · 2 files")
    expect(anyway).to_be_focused()
    assert written(lab) == {"a.txt", "b.txt"}, "looking must not change anything"
    press(run, "Roll back now")
    expect(run).to_contain_text("Rolled back.")
    assert written(lab) == set()
    press(run, "Undo the rollback")
    expect(run).to_contain_text("Restored · 2 files")
    assert written(lab) == {"a.txt", "b.txt"}
    assert (lab.root / "a.txt").read_text() == "by the user"
    screenshot(page, "run-rolled-back")


def test_a_reply_can_be_stopped_while_it_streams(page: Page, lab_with_model: LabServer) -> None:
    run = run_cell(page, lab_with_model, "stop.ipynb", "%%act\nThink long")
    expect(run).to_contain_text("Let me think")
    press(run, "Stop")
    expect(run).to_contain_text("Stopped")
    expect(run).to_contain_text("Stopped here.")
    expect(run).to_contain_text("Let me think")


def test_lab_draws_the_reply_and_none_of_it_runs(
    page: Page, lab_with_model: LabServer, screenshot: Screenshot
) -> None:
    outside: list[str] = []
    page.on("request", lambda one: outside.append(one.url) if "evil" in one.url else None)
    run = run_cell(page, lab_with_model, "reply.ipynb", "%%act\nExplain it")
    expect(run).to_contain_text("Completed")
    expect(run.locator(".jp-RenderedMermaid img")).to_be_visible()
    expect(run.locator("pre span").first).to_be_visible()
    expect(run).to_contain_text("<script>window.hacked=1</script>")
    screenshot(page, "run-reply")
    assert page.evaluate("window.hacked") is None
    assert outside == []


def test_keys_pressed_on_a_card_are_the_cards_and_escape_leaves_it(
    page: Page, lab_with_model: LabServer
) -> None:
    run = run_cell(page, lab_with_model, "keys.ipynb", "%%plan\nClean sales.csv")
    expect(run).to_contain_text("Plan ready")
    cells = page.locator(".jp-Notebook .jp-Cell")
    expect(cells).to_have_count(3)  # with the one that Lab adds below the last
    run.get_by_role("button", name="Execute plan", exact=True).press("Tab")
    edit = run.get_by_role("button", name="Edit steps", exact=True)
    expect(edit).to_be_focused()
    for key in "aadd":  # above, above, delete
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(run.locator("textarea").first).to_be_visible()
    expect(cells).to_have_count(3)
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.keyboard.press("b")
    expect(cells).to_have_count(4)
