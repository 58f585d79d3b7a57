"""The second time: what a run has shown is offered, kept at a word, followed, and forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from ..lab import LabServer
from ..person import use_dark_theme
from ..visit import complaints, open_panel, unfold
from .desk import Desk, execute, press, roll_back, stands

pytestmark = pytest.mark.slow

Screenshot = Callable[[Page, str], Path]
WISH = "Remove rows with missing item"
TABLE = "day,item\n" + "".join(
    f"{n % 28 + 1:02d}.03.2026,{'' if n % 9 == 4 else 'Zwiebel'}\n" for n in range(40)
)


@pytest.fixture
def fresh_lab(tmp_path: Path) -> Iterator[LabServer]:
    """A folder with two tables of one name, and nothing else."""
    with LabServer(tmp_path) as lab:
        for folder in ("shop", "old"):
            (lab.root / folder).mkdir()
            (lab.root / folder / "parcels.csv").write_text(TABLE)
        yield lab


def test_what_was_answered_once_is_not_asked_again_until_it_is_forgotten(
    page: Page, fresh_lab: LabServer, screenshot: Screenshot
) -> None:
    file = fresh_lab.root / ".cowork" / "memory.md"
    first = Desk(page, fresh_lab, "memory.ipynb", f"%%plan\n{WISH}").run(1)
    expect(first).to_contain_text("Which table do you mean?")
    press_option(first, "shop/parcels.csv")
    execute(first)
    offer = first.locator(".cw-remember")
    expect(offer).to_contain_text("Remember this?")
    expect(offer.locator(".cw-diff-add", has_text="rows without `item`")).to_be_visible()
    assert not file.exists(), "nothing is written unasked"
    use_dark_theme(page)
    assert complaints(page, ".cw-remember") == []
    screenshot(page, "memory-offer")
    offer.get_by_role("button", name="Keep").focus()
    page.keyboard.press("Enter")
    expect(first).to_contain_text("Remembered.")
    assert "Zwiebel" not in file.read_text()

    # Another notebook: it reads neither table, unlike the first by now.
    cells = (f"%%plan -c {name}\n{WISH}" for name in ("two", "three"))
    elsewhere = Desk(page, fresh_lab, "elsewhere.ipynb", *cells)
    second = elsewhere.run("-c two")
    stands(second, "Plan ready")
    expect(second).to_contain_text("as you said before")
    step = second.locator(".cw-step").first
    expect(step).to_contain_text("shop/parcels.csv: remove rows with missing item")

    panel = open_panel(page)
    unfold(panel, "Memory")
    part = panel.locator("[data-part=memory]")
    expect(part.locator("pre")).to_contain_text("shop/parcels.csv")
    assert complaints(page, ".cw-panel") == []
    screenshot(page, "memory-panel")
    press(part, "Forget…", "Forget all of it")
    expect(part).to_contain_text("Nothing yet.")
    assert not file.exists()

    third = elsewhere.run("-c three")
    expect(third).to_contain_text("Which table do you mean?")
    press_option(third, "shop/parcels.csv")
    stands(third, "Plan ready")


def press_option(card: Locator, words: str) -> None:
    card.locator(".cw-option", has_text=words).click()


def test_a_rollback_takes_the_offer_back(page: Page, fresh_lab: LabServer) -> None:
    goal = "Remove duplicate rows from shop/parcels.csv"
    desk = Desk(page, fresh_lab, "back.ipynb", f"%%plan\n{goal}")
    card = desk.run(goal)
    execute(card)
    expect(card.locator(".cw-remember")).to_be_visible()
    roll_back(card)
    expect(card.locator(".cw-remember")).to_have_count(0)
    panel = open_panel(page)
    unfold(panel, "Memory")
    expect(panel.locator("[data-part=memory]")).to_contain_text("Nothing yet.")
    expect(panel.locator(".cw-memory-offer")).to_have_count(0)
