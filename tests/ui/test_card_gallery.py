"""All cards in all states, in a real browser: readable by all, and hostile text stays text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page, expect

from .gallery import open_gallery

Screenshot = Callable[[Page, str], Path]


def _complaints(page: Page) -> list[str]:
    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return [f"{one['id']}: {node['html']}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize(
    ("theme", "width"),
    [
        pytest.param("light", 1280, marks=pytest.mark.slow),
        pytest.param("light", 700, marks=pytest.mark.slow),
        pytest.param("dark", 1280, marks=pytest.mark.slow),
        ("dark", 700),
    ],
)
def test_axe_has_nothing_to_say_about_any_card(
    page: Page, screenshot: Screenshot, theme: str, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    open_gallery(page, theme)
    assert page.locator(".cw-card").count() > 20
    assert _complaints(page) == []
    height = page.evaluate("document.documentElement.scrollHeight")
    page.set_viewport_size({"width": width, "height": height})
    screenshot(page, f"cards-{theme}-{width}")


@pytest.mark.slow
def test_no_card_is_wider_than_its_place(page: Page) -> None:
    page.set_viewport_size({"width": 420, "height": 900})
    open_gallery(page, "light")
    assert page.evaluate("document.documentElement.scrollWidth") <= 420


def test_what_models_write_is_text_and_nothing_runs(page: Page) -> None:
    open_gallery(page, "light", "hostile")
    expect(page.locator(".cw-goal").first).to_contain_text("<script>window.hacked=1</script>")
    assert page.evaluate("window.hacked") is None
    assert page.locator(".cowork-root :is(img, script, iframe)").count() == 0
    assert "\u202e" not in page.locator("main").inner_text()


def test_a_plan_is_edited_by_keyboard_alone(page: Page) -> None:
    open_gallery(page, "light", "plan being edited")
    page.get_by_label("Step 1 of 3").press("Alt+ArrowDown")
    expect(page.get_by_label("Step 2 of 3")).to_be_focused()
    expect(page.locator("textarea").nth(1)).to_have_value("Drop 214 duplicate rows, parse `date`")
    expect(page.locator(".cw-editor [role=status]")).to_have_text("Step 1 is now number 2.")


@pytest.mark.slow
def test_a_long_reply_streams_without_growing_the_page(page: Page) -> None:
    """5,000 pieces: the text is all there, in a handful of elements."""
    open_gallery(page, "light", "thinking")
    page.evaluate("stream(5000, 100)")
    tail = page.locator(".cw-tail")
    expect(tail).to_contain_text("word 5000")
    assert page.locator(".cw-streaming *").count() < 20
