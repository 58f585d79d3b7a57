"""Decisions as the gate makes them, for a command or for code, without running anything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.policy.calls import Preview, decompose
from cowork_jupyter.policy.decision import DecidedCall, DecisionContext, decide_call
from cowork_jupyter.policy.paths import AnchorDirs
from cowork_jupyter.policy.rules import Effect, RuleSet, Scope, read_rule
from cowork_jupyter.tools.registry import tools_with_kernels

TOOLS = tools_with_kernels()


def grounds_in(base: Path) -> AnchorDirs:
    """A workspace with a link out of it, and a home, below a folder."""
    root, home = base / "ws", base / "home"
    for folder in (root, home, base / "outside"):
        folder.mkdir(parents=True, exist_ok=True)
    (root / "way-out").symlink_to(base / "outside")
    return AnchorDirs.of(root, home)


def decided(
    tool: str,
    parameters: dict[str, str],
    anchors: AnchorDirs,
    *,
    role: AgentRole = AgentRole.ACTOR,
    allow: Sequence[str] = (),
    deny: Sequence[str] = (),
    code: str = "",
) -> DecidedCall:
    """What the gate says where commands are confined."""
    rules = [read_rule(Effect.ALLOW, text, Scope.SESSION) for text in allow]
    rules += [read_rule(Effect.DENY, text, Scope.SESSION) for text in deny]
    assert not [rule.problem for rule in rules if rule.problem]
    preview = Preview("code", code) if code else None
    call = decompose(tool, TOOLS[tool].permissions, parameters, anchors, preview=preview)
    return decide_call(role, call, DecisionContext(anchors, RuleSet(rules), confined=True))
