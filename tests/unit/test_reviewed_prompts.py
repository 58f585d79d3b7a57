"""The system prompts of all roles, word by word as somebody has read them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.service.parts import shipped_tools

from .llm.test_prompt import prompt_of

SNAPSHOTS = Path(__file__).parent / "llm" / "snapshots"


@pytest.mark.parametrize("role", AgentRole)
def test_the_prompt_is_the_one_that_was_reviewed(role: AgentRole) -> None:
    """After a change, run with UPDATE_SNAPSHOTS=1 and read the difference."""
    path, prompt = SNAPSHOTS / f"{role}.md", prompt_of(role, shipped_tools())
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(prompt, encoding="utf-8")
    assert prompt == path.read_text(encoding="utf-8")
