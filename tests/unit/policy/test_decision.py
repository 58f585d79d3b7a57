"""Decisions about calls, without making them."""

from __future__ import annotations

import pytest

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.policy.decision import decide
from cowork_jupyter.tools.registry import default_tools

TOOLS = default_tools()


@pytest.mark.parametrize(
    ("role", "tool", "decision"),
    [
        (AgentRole.PLANNER, "read_file", "allow"),
        (AgentRole.PLANNER, "update_file", "deny"),
        (AgentRole.ACTOR, "update_file", "allow"),
        (AgentRole.DESIGNER, "create_file", "allow"),
        (AgentRole.DESIGNER, "delete_file", "deny"),
        (AgentRole.TESTER, "execute_command", "deny"),  # until a sandbox keeps it from writing
    ],
)
def test_a_decision_says_why(role: AgentRole, tool: str, decision: str) -> None:
    made = decide(role, tool, TOOLS[tool].permissions)
    assert made.decision == decision
    assert role.value in made.because[0]
