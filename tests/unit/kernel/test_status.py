"""The status card's Markdown form and its answers without a server."""

from __future__ import annotations

from typing import Any

import pytest

from cowork_jupyter.domain.errors import NotFound
from cowork_jupyter.domain.health import Health, ModelState, Problem
from cowork_jupyter.kernel.status import as_markdown, status_card


def health(**changes: Any) -> Health:
    model = ModelState(
        provider="ollama", name="small", base_url="http://x/v1", ready=True, why_not=None
    )
    facts: dict[str, Any] = {
        "version": "1",
        "model": model,
        "sandbox": "none",
        "workspace": "/home/ada/sales",
    }
    return Health(**{**facts, **changes})


def test_a_shared_notebook_says_the_model_but_not_where_its_author_lives() -> None:
    text = as_markdown("Tidy up", "planner", health())
    assert text.startswith("**Planner** · Tidy up")
    assert "`small` at http://x/v1" in text
    assert "`sales`" in text
    assert "/home/ada" not in text


def test_problems_are_listed() -> None:
    text = as_markdown("Cowork", None, health(problems=[Problem(code="x", message="Do this.")]))
    assert "- ⚠ Do this." in text


@pytest.mark.asyncio
async def test_without_a_server_the_kernel_answers_for_it() -> None:
    card = status_card(None, role=None, goal="", model=None)
    answer = await card._respond("GET", "health?fresh=true", None)
    assert answer["model"]["provider"] == "none"
    with pytest.raises(NotFound):
        await card._respond("DELETE", "health", None)
