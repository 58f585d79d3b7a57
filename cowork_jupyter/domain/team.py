"""Plans for several roles: who does which step, what reviews may send back, and each role's
rights.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any

from .plan import MAX_ROUNDS, Plan, PlanStep
from .roles import AgentRole, Permission

MARK = "agent:"
"""The older way to name a step's external agent in `tools_needed`."""

ON_ITS_OWN = (
    "It can read and write files by itself without asking, within the sandbox and this role's "
    "rights. The checkpoint around its run and the audit cover what it changes in the workspace."
)

_RIGHTS = {
    Permission.WRITE_FILES: "write",
    Permission.CREATE_FILES: "create",
    Permission.DELETE_FILES: "delete",
    Permission.EXECUTE_COMMANDS: "run",
}
_READ_ONLY_COMMANDS = "run commands with the workspace read-only"
_TIMES = {1: "once", 2: "twice"}
_REVIEW = "review"


def agent_of(step: PlanStep) -> str:
    """Empty if the step is for an agent of ours."""
    named = [tool.removeprefix(MARK) for tool in step.tools_needed if tool.startswith(MARK)]
    return step.agent or (named[0] if named else "")


def is_review(step: PlanStep) -> bool:
    return _REVIEW in step.runs_as.spec.formats


def sent_back_by(review: PlanStep, steps: Sequence[PlanStep]) -> list[PlanStep]:
    """What a review sends back: the nearest steps before it that may write, and what lies between.

    In topological order; empty if nothing before it may write.
    """
    by_id = {step.id: step for step in steps}
    reached: dict[str, PlanStep] = {}
    behind = [*review.depends_on]
    while behind:
        step = by_id[behind.pop()]
        if step.id not in reached:
            reached[step.id] = step
            behind += [] if _may_write(step) else step.depends_on
    graph = {key: reached.keys() & {*step.depends_on} for key, step in reached.items()}
    again: dict[str, PlanStep] = {}
    for key in TopologicalSorter(graph).static_order():
        if _may_write(reached[key]) or again.keys() & graph[key]:
            again[key] = reached[key]
    return list(again.values())


def _may_write(step: PlanStep) -> bool:
    return step.runs_as.permits([Permission.WRITE_FILES])


def team_problems(plan: Plan, agents: Collection[str]) -> Iterator[str]:
    """Steps that their role or agent cannot do, field first. `agents` are the external ones."""
    for index, step in enumerate(plan.steps):
        if step.role and step.role.spec.delegates_to:
            yield f"steps[{index}].role: the {step.role} leads, and carries out no step itself"
        if step.agent and step.agent not in agents:
            yield f"steps[{index}].agent: there is no external agent '{step.agent}'"
        if problem := _rounds_problem(step, plan):
            yield f"steps[{index}].rounds: {problem}"


def _rounds_problem(step: PlanStep, plan: Plan) -> str:
    if step.rounds and not is_review(step):
        return "only a step of the reviewer can send work back"
    if step.rounds and not sent_back_by(step, plan.steps):
        return "no step before it can change files, so there is nothing to send back"
    return ""


def with_plain_roles(plan: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """A model's plan with its roles as they are written, and a note on excessive rounds."""
    steps = plan.get("steps")
    if not isinstance(steps, list):
        return plan, []
    notes: list[str] = []
    return {**plan, "steps": [_plain_step(step, notes) for step in steps]}, notes


def _plain_step(step: Any, notes: list[str]) -> Any:
    if not isinstance(step, dict):
        return step
    plain = dict(step)
    role, rounds, agent = (plain.pop(name, None) for name in ("role", "rounds", "agent"))
    name = role.strip().lower() if isinstance(role, str) else role
    if name:
        plain["role"] = name
    if isinstance(agent, str) and agent.strip():
        plain["agent"] = agent.strip()
    if isinstance(rounds, int) and rounds > 0:
        plain["rounds"] = min(int(rounds), MAX_ROUNDS)
        if rounds > MAX_ROUNDS:
            notes.append(f"A review can send work back {_TIMES[MAX_ROUNDS]} at most.")
    return plain


def unknown_roles(plan: Plan, roles: Collection[AgentRole]) -> Iterator[str]:
    """Steps for roles that are not there, or not trusted: nobody else may do them."""
    names = ", ".join(role.value for role in roles if not role.spec.delegates_to)
    for index, step in enumerate(plan.steps):
        if step.role and not step.role.is_known:
            yield f"steps[{index}].role: there is no role '{step.role}'; choose one of: {names}"


def with_sound_team(
    plan: Plan, held: Mapping[AgentRole, Collection[str]], agents: Collection[str]
) -> tuple[Plan, list[str]]:
    """Drop from a model's plan what the roles of its steps cannot do, with a note on each.

    `held`: the tools and permissions that each role can be granted.
    """
    notes: list[str] = []
    steps = [_sound_step(step, plan, held, agents, notes) for step in plan.steps]
    return (plan.model_copy(update={"steps": steps}), notes) if notes else (plan, [])


def _sound_step(
    step: PlanStep,
    plan: Plan,
    held: Mapping[AgentRole, Collection[str]],
    agents: Collection[str],
    notes: list[str],
) -> PlanStep:
    changes: dict[str, Any] = {}
    number = f"Step {step.step_number}"
    if step.role and step.role.spec.delegates_to:
        notes.append(f"{number}: the {step.role} carries out no step itself; the actor gets it.")
        changes["role"] = None
    elif step.role:
        lacking = [name for name in step.tools_needed if name not in held[step.role]]
        notes += [f"{number}: the {step.role} has no tool '{name}'; left out." for name in lacking]
        kept = [name for name in step.tools_needed if name not in lacking]
        changes |= {"tools_needed": kept} if lacking else {}
    if step.agent and step.agent not in agents:
        notes.append(f"{number}: there is no external agent '{step.agent}'; one of ours gets it.")
        changes["agent"] = ""
    if problem := _rounds_problem(step, plan):
        notes.append(f"{number}: {problem}.")
        changes["rounds"] = 0
    return step.model_copy(update=changes) if changes else step


def rights_of(plan: Plan) -> str:
    """What approving the plan lets each role do, in a sentence or two.

    Empty for a plan that does not name roles: the actor does what its steps say.
    """
    if not any(step.role or agent_of(step) for step in plan.steps):
        return ""
    roles = dict.fromkeys(step.runs_as for step in plan.steps)
    sentences = [f"Roles: {'; '.join(f'{role} {_may(role)}' for role in roles)}."]
    agents = {agent_of(step): step.runs_as for step in plan.steps if agent_of(step)}
    sentences += [
        f"The external agent {agent} works as {role}. {ON_ITS_OWN}"
        for agent, role in agents.items()
    ]
    return " ".join([*sentences, *_returns(plan)])


def _returns(plan: Plan) -> Iterator[str]:
    for step in plan.steps:
        again = sent_back_by(step, plan.steps) if step.rounds else []
        if again:
            numbers = " and ".join(str(plan_step.step_number) for plan_step in again)
            which = f"steps {numbers} run" if len(again) > 1 else f"step {numbers} runs"
            yield (
                f"If step {step.step_number} asks for changes, {which} again with the same "
                f"rights, {_TIMES[step.rounds]} at most."
            )


def _may(role: AgentRole) -> str:
    held = [permission for permission in _RIGHTS if role.permits([permission])]
    if not held:
        return "only reads"
    words = [
        _READ_ONLY_COMMANDS
        if permission is Permission.EXECUTE_COMMANDS and not role.spec.commands_may_write
        else _RIGHTS[permission]
        for permission in held
    ]
    listed = " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
    return f"may {listed}"
