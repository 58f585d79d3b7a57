"""Somebody connects a model: with a wrong address, a wrong key, no model, and then a right one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.scripted import ScriptedServer, text

from .lab import LabServer
from .person import card, choose_in_palette, open_notebook, run_cells

pytestmark = pytest.mark.slow

KEY = "sk-right"
Screenshot = Callable[[Page, str], Path]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A model server that wants a key and has two models."""
    with ScriptedServer([text("Hello from large.")], models="small large") as model:
        model.key = KEY
        yield model


@pytest.fixture
def unconnected(tmp_path: Path) -> Iterator[LabServer]:
    """A Lab of its own, since what is chosen here is remembered."""
    no_keyring = {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
    with LabServer(tmp_path, no_keyring) as lab:
        yield lab


def values(form: Locator) -> list[str]:
    """What stands in the fields."""
    return [
        form.get_by_label(name, exact=True).input_value() for name in ("Address", "Model", "Key")
    ]


def connect(form: Locator, **typed: str) -> None:
    """Type and press the button."""
    for name, value in typed.items():
        form.get_by_label(name, exact=True).fill(value)
    form.get_by_role("button", name="Connect").click()


@pytest.mark.parametrize("place", ["card", "panel"])
def test_what_fails_is_not_adopted_and_says_which_field_is_wrong(
    page: Page,
    unconnected: LabServer,
    server: ScriptedServer,
    screenshot: Screenshot,
    place: str,
) -> None:
    open_notebook(page, unconnected)
    if place == "card":
        run_cells(page, 4)
        where = card(page, "Check connection")
    else:
        choose_in_palette(page, "Show Cowork Panel")
        where = page.locator(".cw-panel")
    where.get_by_text("Connect a model server").click()
    form = where.locator("form.cw-connect")
    said = form.get_by_role("alert")

    wrong = "http://127.0.0.1:9/v1"
    connect(form, Address=wrong, Model="large", Key="sk-wrong")
    expect(said).to_contain_text(f"Nothing answers at {wrong}")
    expect(said).to_contain_text("correct Address")
    expect(form.get_by_label("Address", exact=True)).to_be_focused()
    assert values(form) == [wrong, "large", "sk-wrong"]
    screenshot(page, f"connecting-{place}-address")

    connect(form, Address=server.base_url)
    expect(said).to_contain_text("refuses the key (401). Set Key to a valid one.")
    assert values(form) == [server.base_url, "large", "sk-wrong"]
    screenshot(page, f"connecting-{place}-key")

    connect(form, Model="", Key=KEY)
    expect(said).to_contain_text("Set Model to one of: small, large")
    assert values(form) == [server.base_url, "", KEY]
    expect(where).to_contain_text("No language model is connected")
    expect(where).not_to_contain_text("COWORK_")
    screenshot(page, f"connecting-{place}-model")

    form.get_by_role("button", name="large").click()
    expect(where).to_contain_text(f"large answers at {server.base_url}")
    expect(where.get_by_text("Use another model")).to_be_visible()
    screenshot(page, f"connecting-{place}-connected")

    where.get_by_text("Use another model").click()
    connect(form, Address=wrong)
    expect(said).to_contain_text("Nothing answers")
    where.get_by_role("button", name="Check connection").click()
    expect(where.locator("[aria-live]")).to_contain_text(f"large answers at {server.base_url}")
    screenshot(page, f"connecting-{place}-stays")


def test_a_provider_is_picked_and_a_model_found_among_many_with_the_keyboard(
    page: Page, unconnected: LabServer, server: ScriptedServer, screenshot: Screenshot
) -> None:
    server.models = [*(f"vendor/model-{number}" for number in range(60)), "small", "large"]
    open_notebook(page, unconnected)
    choose_in_palette(page, "Show Cowork Panel")
    panel = page.locator(".cw-panel")
    panel.get_by_text("Connect a model server").click()
    form = panel.locator("form.cw-connect")
    form.get_by_label("Provider").select_option("Anthropic")
    expect(form.get_by_label("Address", exact=True)).to_have_value("https://api.anthropic.com/v1")
    form.get_by_role("button", name="claude-sonnet-5-5").click()
    expect(form).to_contain_text("Per million tokens: $2.00 in, $10.00 out (2026-10-16)")
    screenshot(page, "connecting-provider")

    form.get_by_label("Provider").select_option("another server")
    typed = {"Address": server.base_url, "Small model": "small", "Key": KEY}
    connect(form, **typed)
    expect(form.get_by_role("status")).to_have_text("Showing 50 of 62 models")
    form.get_by_label("Filter models").press_sequentially("larg")
    expect(form.get_by_role("status")).to_have_text("Showing 1 of 62 models")
    screenshot(page, "connecting-filter")
    form.get_by_label("Filter models").press("Enter")
    expect(panel).to_contain_text("large")
    panel.get_by_text("Use another model").click()
    expect(form.get_by_label("Small model")).to_have_value("small")
