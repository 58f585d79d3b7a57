"""Foreign tools: they ask, and what was allowed was allowed for what they said of themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from cowork_jupyter.domain.plan import PlanStep
from cowork_jupyter.domain.roles import AgentRole, Permission
from cowork_jupyter.policy.calls import decompose
from cowork_jupyter.policy.decision import DecidedCall, DecisionContext, Grant, decide_call
from cowork_jupyter.policy.paths import AnchorDirs
from cowork_jupyter.policy.rules import Effect, Rule, RuleSet, Scope, read_rule
from cowork_jupyter.policy.trust import Pins

TOOL = "mcp__db__query"
THEN, NOW = "a" * 32, "b" * 32
GROUNDS = AnchorDirs("/work", "/home/ada")
READS = frozenset({Permission.READ_FILES})
RUNS = frozenset({Permission.EXECUTE_COMMANDS})


@pytest.fixture
def pins(tmp_path: Path) -> Pins:
    return Pins(tmp_path / "kept" / "pins.json")


def allow(text: str) -> Rule:
    return read_rule(Effect.ALLOW, text, Scope.GLOBAL)


def decided(
    pins: Pins,
    *rules: Rule,
    permissions: frozenset[Permission] = RUNS,
    role: AgentRole = AgentRole.ACTOR,
    grant: Grant | None = None,
) -> DecidedCall:
    pinned = pins.look_up(TOOL, NOW)
    call = decompose(TOOL, permissions, {"path": "/etc/passwd"}, GROUNDS, pinned=pinned)
    return decide_call(role, call, DecisionContext(GROUNDS, RuleSet(rules), grant, confined=True))


def test_a_tool_asks_although_a_plan_names_it(pins: Pins) -> None:
    step = PlanStep(id="1", step_number=1, action="do", tools_needed=[TOOL, "execute_commands"])
    assert decided(pins, grant=Grant.of(step)).effect is Effect.ASK


def test_what_it_calls_a_path_is_none_of_ours(pins: Pins) -> None:
    assert decided(pins).call.parts[0].target is None


def test_rules_about_our_own_tools_are_not_about_it(pins: Pins) -> None:
    made = decided(pins, allow("read_file"), permissions=READS, role=AgentRole.PLANNER)
    assert made.effect is Effect.ASK


def test_always_offers_a_rule_about_exactly_what_was_shown(pins: Pins) -> None:
    (text,) = decided(pins).narrowest_rules(GROUNDS)
    assert text == f"{TOOL}(={NOW})"
    assert read_rule(Effect.ALLOW, text, Scope.GLOBAL).problem is None
    assert decided(pins, allow(text)).effect is Effect.ALLOW
    assert decided(pins, allow(f"{TOOL}(={THEN})")).effect is Effect.ASK


@pytest.mark.parametrize("text", [TOOL, "mcp__db", "mcp__*", "*"])
def test_rule_without_fingerprint_counts_until_the_tool_changes(pins: Pins, text: str) -> None:
    assert decided(pins, allow(text)).effect is Effect.ALLOW
    pins.pin(TOOL, NOW)
    assert decided(pins, allow(text)).effect is Effect.ALLOW
    pins.pin(TOOL, THEN)
    made = decided(pins, allow(text))
    assert made.effect is Effect.ASK
    assert "has changed since you allowed it" in made.because[0]


def test_changed_mcp_tool_needs_a_rule_for_its_new_form(pins: Pins) -> None:
    pins.pin(TOOL, THEN)
    assert decided(pins, allow(f"{TOOL}(={THEN})")).effect is Effect.ASK
    assert decided(pins, allow(f"{TOOL}(={NOW})")).effect is Effect.ALLOW


def test_mcp_tool_asks_once_and_again_when_changed(pins: Pins) -> None:
    planner = AgentRole.PLANNER
    assert decided(pins, permissions=READS, role=planner).effect is Effect.ASK
    pins.pin(TOOL, NOW)
    assert decided(pins, permissions=READS, role=planner).effect is Effect.ALLOW
    pins.pin(TOOL, THEN)
    assert decided(pins, permissions=READS, role=planner).effect is Effect.ASK


def test_the_ceiling_is_above_every_rule(pins: Pins) -> None:
    made = decided(pins, allow(f"{TOOL}(={NOW})"), role=AgentRole.PLANNER)
    assert made.effect is Effect.DENY


def test_a_denial_by_fingerprint_or_name_denies(pins: Pins) -> None:
    for text in (TOOL, f"{TOOL}(={NOW})"):
        deny = read_rule(Effect.DENY, text, Scope.GLOBAL)
        assert decided(pins, allow("*"), deny).effect is Effect.DENY


def test_pins_are_kept_and_seen_by_others(pins: Pins, tmp_path: Path) -> None:
    assert pins.look_up(TOOL, NOW).state == "new"
    other = Pins(tmp_path / "kept" / "pins.json")
    other.pin(TOOL, NOW, "Runs a query.")
    assert pins.look_up(TOOL, NOW).state == "same"
    assert pins.look_up(TOOL, THEN).state == "changed"
    assert pins.description(TOOL) == "Runs a query."
    assert pins.description("mcp__db__other") == ""


def test_a_broken_file_pins_nothing(tmp_path: Path) -> None:
    file = tmp_path / "pins.json"
    for content in ("{", "[]", '{"a": 1, "b": {"fingerprint": 3}}'):
        file.write_text(content)
        assert Pins(file).look_up("a", NOW).state == "new"
        assert Pins(file).look_up("b", NOW).state == "new"
