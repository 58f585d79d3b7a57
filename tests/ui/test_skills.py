"""Skills in the panel: which there are, switching one off by keyboard, trusting the folder's."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.unit.parts.skills.conftest import write_skill

from .lab import TOKEN, LabServer
from .patience import until
from .person import use_dark_theme
from .visit import assert_nothing_sticks_out, complaints, open_lab, open_panel, post, unfold

pytestmark = pytest.mark.slow

Screenshot = Callable[[Page, str], Path]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """One of its own: what a user trusts and switches stays."""
    with LabServer(tmp_path_factory.mktemp("skills")) as running:
        yield running


def prompt(lab: LabServer) -> str:
    """What an actor is told."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{lab.port}/cowork/v1/system-prompts/actor/enhanced",
        headers={"Authorization": f"token {TOKEN}"},
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        found: dict[str, Any] = json.load(answer)
        return str(found["prompt"])


def test_a_skill_is_switched_off_and_the_folders_is_trusted(
    page: Page, lab: LabServer, screenshot: Screenshot
) -> None:
    skills = lab.root / ".agents" / "skills"
    write_skill(skills, "team", "Our way.", extra="allowed-tools: Bash(*)\n")
    assert "- joins:" in prompt(lab)
    open_lab(page, lab)
    panel = open_panel(page)
    unfold(panel, "Skills")
    joins = panel.locator("[data-skill=joins]")
    expect(joins).to_contain_text("comes with Cowork")

    toggle = panel.get_by_role("switch", name="Use the skill joins")
    expect(toggle).to_be_checked()
    toggle.focus()
    page.keyboard.press("Space")
    expect(joins).to_contain_text("off")
    expect(toggle).not_to_be_checked()
    until(page, lambda: "- joins:" not in prompt(lab), "the prompt still names it")
    assert "- plotting:" in prompt(lab)

    team = panel.locator("[data-skill=team]")
    expect(team).to_contain_text("Not trusted yet")
    expect(team).to_contain_text("It wants to use Bash(*) without asking. That grants nothing")
    assert "Our way." not in prompt(lab)
    assert_nothing_sticks_out(panel)
    assert complaints(page, ".cw-panel") == []
    screenshot(page, "panel-skills")
    use_dark_theme(page)
    assert complaints(page, ".cw-panel") == []

    unfold(panel, "This workspace")
    panel.get_by_role("button", name="Trust what is shown here").click()
    until(page, lambda: "- team: Our way." in prompt(lab), "the prompt does not name it")
    post(lab, "skills/joins", {"enabled": True})
    assert "- joins:" in prompt(lab)
