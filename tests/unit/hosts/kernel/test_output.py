"""The status card's Markdown form."""

from __future__ import annotations

from typing import Any

from cowork_jupyter.hosts.kernel.output import status_markdown


def health(**changes: Any) -> dict[str, Any]:
    model = {
        "provider": "ollama",
        "name": "small",
        "base_url": "http://x/v1",
        "ready": True,
        "why_not": None,
    }
    facts = {"model": model, "sandbox": "none", "workspace": "/home/ada/sales", "problems": []}
    return {**facts, **changes}


def test_a_shared_notebook_says_the_model_but_not_where_its_author_lives() -> None:
    problem = {"code": "x", "message": "The workspace /home/ada/sales is not a folder."}
    text = status_markdown("Tidy up", "Planner", health(problems=[problem]))
    assert text.startswith("**Planner** · Tidy up")
    assert "`small` at http://x/v1" in text
    assert "- ⚠ The workspace sales is not a folder." in text
    assert "/home/ada" not in text


def test_a_note_stands_at_the_end() -> None:
    assert status_markdown("x", None, health(), "Nothing was sent.").endswith("*Nothing was sent.*")


def test_a_workspace_that_is_the_root_does_no_harm() -> None:
    assert "http://x/v1" in status_markdown("x", None, health(workspace="/"))
