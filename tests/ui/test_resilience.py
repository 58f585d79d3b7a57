"""A run outlives what is around it: busy and restarted kernels, other tabs, a restarted server."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.scripted import Scripted, ScriptedServer, call, stall, text

from .lab import LabServer
from .person import choose_in_menu, open_notebook, save
from .scripted_lab import write_notebook

pytestmark = pytest.mark.slow

Screenshot = Callable[[Page, str], Path]


def question(words: str, *options: str) -> Scripted:
    """The model asks the user."""
    listed = [{"label": one, "value": one.lower()} for one in options]
    return text(json.dumps({"type": "question", "question": words, "options": listed}))


DECIDE, SHARE, WRITE, THINK = "Decide with me", "Share it", "Write a", "Think long"
ASKS = question("Keep the blank rows?", "Keep them", "Drop them")
REPLIES: dict[str, list[Scripted]] = {
    DECIDE: [
        ASKS,
        call("delete_file", path="decided.md"),
        question("One more thing?", "Yes", "No"),
        text("All is decided."),
    ],
    SHARE: [call("delete_file", path="shared.md"), ASKS, text("All is shared.")],
    WRITE: [call("create_file", path="a.txt", content="x\n"), text("Wrote it.")],
}


class Script:
    """Goes by how often the model has spoken since it was given a goal."""

    def __init__(self) -> None:
        self.asked = Counter[str]()
        self.thinks = True

    def __call__(self, body: dict[str, Any]) -> Scripted:
        said = [(str(one["role"]), str(one["content"])) for one in body["messages"]]
        goal = next(one for one in (*REPLIES, THINK) if any(one in words for _, words in said))
        if goal == THINK and self.thinks:  # also when it is asked again, because nothing comes
            return stall("Let me think about", 4)
        self.asked[goal] += 1
        if goal == THINK:
            delete = call("delete_file", path="kept.md")
            return [delete, delete, text("Thought.")][self.asked[goal] - 1]
        begun = max(at for at, (_, words) in enumerate(said) if goal in words)
        return REPLIES[goal][sum(role == "assistant" for role, _ in said[begun:])]


@pytest.fixture(scope="module")
def script() -> Script:
    return Script()


@pytest.fixture(scope="module")
def steady_lab(tmp_path_factory: pytest.TempPathFactory, script: Script) -> Iterator[LabServer]:
    """A JupyterLab whose model follows the script."""
    with ScriptedServer(script) as model:
        environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted"}
        with LabServer(tmp_path_factory.mktemp("steady"), environment) as lab:
            for name in ("decided.md", "shared.md", "kept.md"):
                (lab.root / name).write_text("Old.\n")
            yield lab


def run(page: Page, lab: LabServer, name: str, *sources: str) -> Locator:
    """A notebook with these cells, each of them started; gives the card that it shows."""
    write_notebook(lab.root / name, "%load_ext cowork_jupyter", *sources)
    open_notebook(page, lab, name)
    for number in range(len(sources) + 1):
        cell = page.locator(".jp-Notebook .jp-CodeCell").nth(number)
        cell.locator(".cm-content").click()
        page.keyboard.press("Shift+Enter")
        expect(cell.locator(".jp-InputPrompt")).not_to_have_text("[ ]:")
    expect(card(page)).to_be_visible()
    return card(page)


def card(page: Page) -> Locator:
    return page.locator(".jp-OutputArea .cw-run")


def press(place: Locator, name: str) -> None:
    place.get_by_role("button", name=name).first.click()


def confirm_restart(page: Page) -> None:
    page.locator(".jp-Dialog").get_by_role("button", name="Confirm Kernel Restart").click()


def test_buttons_work_while_the_kernel_is_busy_and_after_it_was_restarted(
    page: Page, steady_lab: LabServer
) -> None:
    work = "import time; print('at work'); time.sleep(3600)"
    shown = run(page, steady_lab, "busy.ipynb", f"%%act\n{DECIDE}", work)
    expect(page.locator(".jp-OutputArea-output", has_text="at work")).to_be_visible()
    # Not the status bar: Lab calls a kernel idle as soon as one of its subshells is.
    prompt = page.locator(".jp-Notebook .jp-CodeCell").nth(2).locator(".jp-InputPrompt")
    press(shown, "Drop them")
    expect(shown).to_contain_text("decided.md")
    press(shown, "Allow once")
    expect(shown).to_contain_text("One more thing?")
    assert not (steady_lab.root / "decided.md").exists()
    expect(prompt).to_have_text("[*]:")

    choose_in_menu(page, "Kernel", "Restart Kernel…")
    confirm_restart(page)
    expect(prompt).to_have_text("[ ]:")
    expect(shown).to_contain_text("Waiting for you")
    press(shown, "Yes")
    expect(shown).to_contain_text("All is decided.")
    expect(shown).to_contain_text("Completed")


def test_two_tabs_show_the_same_and_opening_it_again_asks_no_model(
    page: Page, steady_lab: LabServer, script: Script
) -> None:
    shown = run(page, steady_lab, "tabs.ipynb", f"%%act\n{SHARE}")
    expect(shown).to_contain_text("shared.md")
    save(page)
    other = page.context.new_page()
    open_notebook(other, steady_lab, "tabs.ipynb")
    expect(card(other)).to_contain_text("Waiting for you")
    press(card(other), "Deny")
    expect(shown).to_contain_text("Keep the blank rows?")
    assert (steady_lab.root / "shared.md").exists()
    press(shown, "Keep them")
    for tab in (shown, card(other)):
        expect(tab).to_contain_text("All is shared.")
        expect(tab).to_contain_text("Completed")
        expect(tab.get_by_role("button", name="Keep them")).to_have_count(0)
    other.close()

    asked = script.asked.total()
    page.reload()
    press(shown, "Discuss…")
    expect(shown).to_contain_text("All is shared.")
    assert script.asked.total() == asked


def test_after_a_roll_back_the_kernel_can_be_brought_back_too(
    page: Page, steady_lab: LabServer, screenshot: Screenshot
) -> None:
    tell = "import os; print('process', os.getpid())"
    shown = run(page, steady_lab, "back.ipynb", tell, f"%%act\n{WRITE}")
    press(shown, "Allow once")
    expect(shown).to_contain_text("Completed")
    process = page.locator(".jp-OutputArea-output", has_text="process")
    before = process.inner_text()
    press(shown, "Roll back…")
    press(shown, "Roll back now")
    expect(shown).to_contain_text("Rolled back.")  # all else is said before it happens, too
    expect(shown).to_contain_text("Variables in running kernels are not restored")
    assert not (steady_lab.root / "a.txt").exists()
    screenshot(page, "run-restart-offered")
    press(shown, "Restart the kernel and run up to here")
    confirm_restart(page)
    expect(process).not_to_have_text(before)
    expect(process).to_contain_text("process")
    expect(shown).to_contain_text("Rolled back.")


def test_a_run_goes_on_after_the_server_was_restarted(
    page: Page, steady_lab: LabServer, script: Script, screenshot: Screenshot
) -> None:
    shown = run(page, steady_lab, "restart.ipynb", f"%%act\n{THINK}")
    expect(shown).to_contain_text("Let me think")
    # Lab may say so too, in a dialog over everything.
    lost = page.locator(".jp-Dialog", has_text="Server Connection Error")
    page.add_locator_handler(lost, lambda dialog: dialog.locator("button").last.click())
    steady_lab.stop()
    expect(shown).to_contain_text("Reconnecting…")
    screenshot(page, "run-reconnecting")
    script.thinks = False
    steady_lab.restart()
    expect(shown).to_contain_text("Interrupted")
    screenshot(page, "run-interrupted")
    press(shown, "Continue")
    expect(shown).to_contain_text("kept.md")

    # What waits for the user waits on; with the decision the run goes on by itself.
    steady_lab.restart()
    expect(shown).to_contain_text("Interrupted")
    press(shown, "Allow once")
    expect(shown).to_contain_text("You allowed")
    screenshot(page, "run-decided")
    expect(shown).to_contain_text("Thought.")
    assert not (steady_lab.root / "kept.md").exists()
    expect(shown).to_contain_text("Completed")
