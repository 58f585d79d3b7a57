"""Which tools and external agents the steps of a plan can be assigned."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ..domain.plan import Plan
from ..domain.roles import AgentRole
from ..domain.team import MARK, team_problems, with_sound_team
from ..tools.registry import ToolRegistry


def unfit_steps(plan: Plan, tools: ToolRegistry, agents: Collection[str]) -> Iterator[str]:
    """What the plan assigns to somebody who cannot do it, place first."""
    held = {role: _held_by(role, tools, agents) for role in _roles(plan)}
    for index, step in enumerate(plan.steps):
        for name in step.tools_needed:
            if name not in held[step.runs_as]:
                yield f"steps[{index}].tools_needed: the {step.runs_as} has no tool '{name}'"
    yield from team_problems(plan, agents)


def made_fit(plan: Plan, tools: ToolRegistry, agents: Collection[str]) -> tuple[Plan, list[str]]:
    """A model's plan without such assignments, and a sentence on each that was removed."""
    held = {role: _held_by(role, tools, agents) for role in _roles(plan)}
    return with_sound_team(plan, held, agents)


def _roles(plan: Plan) -> set[AgentRole]:
    return {step.runs_as for step in plan.steps}


def _held_by(role: AgentRole, tools: ToolRegistry, agents: Collection[str]) -> set[str]:
    """What a step of this role can name as needed."""
    permitted = {tool.name for tool in tools.permitted(role)}
    return (
        permitted
        | {str(permission) for permission in role.spec.permissions}
        | {f"{MARK}{name}" for name in agents}
    )
