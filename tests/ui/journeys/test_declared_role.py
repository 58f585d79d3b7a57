"""A role that the workspace brings along: nothing before it is trusted, everywhere after."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.scripted import call, text

from ..lab import LabServer
from ..person import use_dark_theme
from ..visit import complaints, open_panel, unfold
from .desk import Desk, role_is, stands
from .script import Script

pytestmark = pytest.mark.slow

STATISTICIAN = """
name = "statistician"
label = "Statistician"
description = "Tests hypotheses."
icon = "chart"
colour = "brown"
based_on = "reviewer"
prompt = "You doubt every number."
"""
BROWN = re.compile("cw-colour-brown")


@pytest.fixture
def declared(desk_lab: LabServer) -> Iterator[Path]:
    file = desk_lab.root / ".cowork/roles/statistician.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(STATISTICIAN)
    yield file
    file.unlink()


def offered(card: Locator) -> Locator:
    """The roles in the card's menu, which this opens."""
    card.get_by_role("button", name="Choose another role").click()
    items = card.get_by_role("menuitemradio")
    expect(items.first).to_be_visible()
    return items


def test_a_trusted_role_is_everywhere_and_gone_without_trust(
    page: Page, desk_lab: LabServer, script: Script, declared: Path
) -> None:
    script.when("Say hello", text("Hello."))
    change = call("create_file", path="proof.txt", content="x")
    script.when("Is it significant?", change, text("p = 0.04, which I doubt."))
    cells = ("%%act\nSay hello", "%%ask statistician\nIs it significant?")
    desk = Desk(page, desk_lab, "significance.ipynb", *cells)
    hello = desk.run(1)
    stands(hello, "Completed")
    expect(offered(hello)).to_have_count(6)
    page.keyboard.press("Escape")
    desk.run(2)
    expect(desk.cell(2)).to_contain_text("There is no role 'statistician'")

    panel = open_panel(page)
    unfold(panel, "This workspace")
    trust = panel.locator("details.cw-part", has=page.locator("h2", has_text="This workspace"))
    expect(trust).to_contain_text("You doubt every number.")
    trust.get_by_role("button", name="Trust what is shown here").click()
    expect(trust).to_contain_text("You trust what came with this folder.")

    expect(offered(hello).filter(has_text="Statistician")).to_contain_text("Tests hypotheses.")
    expect(hello.locator(".cw-menu .cw-colour-brown")).to_have_count(1)
    page.keyboard.press("Escape")
    answer = desk.run(2)
    stands(answer, "Completed")
    role_is(answer, "Statistician")
    expect(answer.locator(".cw-head .cw-pill").first).to_have_class(BROWN)
    expect(answer.locator(".cw-card").first).to_have_class(BROWN)
    expect(answer).to_contain_text("p = 0.04")
    assert not desk.has("proof.txt")
    assert complaints(page, ".cw-run .cw-pill") == []

    pill = page.locator("#jp-main-statusbar .cw-status-pill .cw-pill-button").first
    expect(pill).to_contain_text("Actor")  # a cell's own role is for its message alone
    for role in ("Reviewer", "Statistician"):
        pill.click()
        page.locator(".lm-Menu-item", has_text=f"{role}: ").click()
        expect(pill).to_contain_text(role)
    expect(pill).to_have_class(BROWN)
    use_dark_theme(page)
    assert complaints(page, ".cw-run .cw-pill") == []

    trust.get_by_role("button", name="Stop trusting it").click()
    expect(trust).to_contain_text("They have no effect until you trust them")
    expect(offered(hello)).to_have_count(6)
    page.keyboard.press("Escape")
    desk.reload()
    role_is(answer, "Statistician")
    expect(answer.locator(".cw-card").first).to_be_visible()
