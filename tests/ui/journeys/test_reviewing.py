"""The built-in guide reviews a notebook with planted problems, and one without."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from ..lab import LabServer
from ..visit import complaints
from .desk import Desk, role_is, stands

pytestmark = pytest.mark.slow

KEY = "sk-" + "proj4Hq9ZtLw7Bx2Vc8Nm1"
PLANTED = (
    "import random",
    f"api_key = '{KEY}'",
    "where = '/home/ada/sales.csv'",
    "try:\n    draw = random.random()\nexcept Exception:\n    pass",
    "total = 1",
    "print(totals)",
)
REVIEW = "%%ask reviewer\nReview this notebook"


def severities(card: Locator) -> list[str]:
    return card.locator(".cw-findings .cw-severity").all_text_contents()


def test_planted_problems_are_listed_by_severity(page: Page, lab: LabServer) -> None:
    desk = Desk(page, lab, "planted.ipynb", *PLANTED, REVIEW)
    card = desk.run("Review this notebook")
    stands(card, "Completed")
    role_is(card, "Reviewer")
    expect(card).to_contain_text("Asks for changes")
    found = severities(card)
    assert found == sorted(found, key=["critical", "major", "minor"].index)
    assert set(found) == {"critical", "major", "minor"}
    findings = card.locator(".cw-findings li")
    expect(findings.first).to_contain_text("A key is in plain text here")
    for words in (
        "draws at random without a seed",
        "ignores it silently",
        "which no cell defines",
        "is an absolute path",
    ):
        expect(findings.filter(has_text=words)).to_have_count(1)
    expect(card).not_to_contain_text(KEY)
    expect(card).to_contain_text("have no judgement beyond them. I did not look at")
    desk.is_as_it_happened()
    assert complaints(page, ".cw-review") == []
    desk.reload()
    expect(card.locator(".cw-findings li")).to_have_count(len(found))
    desk.is_as_it_happened()


def test_a_clean_notebook_is_said_to_be_clean(page: Page, lab: LabServer) -> None:
    desk = Desk(page, lab, "clean.ipynb", "total = 1", "print(total)", REVIEW)
    desk.run("total = 1")
    desk.run("print(total)")
    card = desk.run("Review this notebook")
    stands(card, "Completed")
    expect(card).to_contain_text("Approves")
    expect(card).to_contain_text("I checked clean.ipynb (5 cells) by rules. None of them")
    expect(card.locator(".cw-findings")).to_have_count(0)
    desk.is_as_it_happened()
