"""Gestures answered by the server itself: with a model, and by the guide without one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.scripted import ScriptedServer, text

from .lab import LabServer
from .person import open_notebook
from .test_cells import cell, editor, expect_source, model, name, write
from .test_cells import lab as with_model
from .test_gestures import FIXED, fail, fix_row, press, run, suggestion, wake

pytestmark = pytest.mark.slow

__all__ = ["model", "name", "with_model"]


@pytest.fixture(scope="module")
def without_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    with LabServer(tmp_path_factory.mktemp("guide")) as server:
        wake(server)
        yield server


@pytest.fixture(scope="module", autouse=True)
def awake(with_model: LabServer) -> None:
    wake(with_model)


def test_a_model_fixes_a_cell(
    page: Page, with_model: LabServer, model: ScriptedServer, name: str
) -> None:
    fail(page, with_model, name)
    model.add(text(f"The key is `region`.\n\n```python\n{FIXED}\n```\n"))
    press(fix_row(page), "Fix")
    expect(suggestion(page)).to_contain_text("Suggested by Cowork · 1 line")
    expect(suggestion(page)).to_contain_text("The key is region.")
    press(suggestion(page), "Accept and run")
    expect_source(page, 0, FIXED)
    expect(cell(page, 0).locator(".jp-OutputArea-output")).to_have_text("1")


def test_a_model_explains_writes_and_goes_on(
    page: Page, with_model: LabServer, model: ScriptedServer, name: str
) -> None:
    fail(page, with_model, name, "")
    model.add(text("`Region` is **not** a key."))
    press(fix_row(page), "Explain")
    there = cell(page, 0).get_by_role("group", name="Explanation", exact=True)
    expect(there.locator("strong")).to_have_text("not")
    press(there, "Close")
    model.add(text("```python\nimport math\nmath.pi\n```"))
    editor(page, 1).click()
    page.keyboard.press("Control+k")
    page.keyboard.type("pi")
    page.keyboard.press("Enter")
    expect(suggestion(page, 1)).to_contain_text("2 lines")
    press(suggestion(page, 1), "Accept")
    expect_source(page, 1, "import math\nmath.pi")
    model.add(text("```python\nmath.tau\n```"))
    page.keyboard.press("Control+Shift+Enter")
    ghost = page.locator(".cw-next-cell")
    expect(ghost.get_by_role("button", name="Accept (Tab)")).to_be_visible()
    page.keyboard.press("Tab")
    expect_source(page, 2, "math.tau")


def test_the_guide_fixes_by_rules(page: Page, without_model: LabServer, name: str) -> None:
    write(without_model, name, "total = pd.Series([1]).sum()")
    open_notebook(page, without_model, name)
    run(page, 0)
    press(fix_row(page), "Fix")
    expect(suggestion(page)).to_contain_text("Suggested by Cowork · 1 line")
    press(suggestion(page), "Accept")
    expect_source(page, 0, "import pandas as pd\ntotal = pd.Series([1]).sum()")


def test_the_guide_explains_a_missing_key(page: Page, without_model: LabServer, name: str) -> None:
    fail(page, without_model, name)
    press(fix_row(page), "Fix")
    expect(suggestion(page)).to_contain_text("has no key Region")
