"""Plans: what the planner proposes and the user approves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import count
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr, model_validator

from .base_models import NullTolerantModel, SparseModel
from .contexts import DONE, StepStatus
from .expectations import Expectation
from .figures import Assumptions
from .roles import DEFAULT_ROLE, AgentRole, Permission

MAX_ROUNDS = 2
_PERMISSIONS = {permission.partition("_")[0]: str(permission) for permission in Permission}


def _as_text(value: Any) -> Any:
    """Models often write ids as numbers."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _as_list(value: Any) -> Any:
    """Models often write one item without its list."""
    return [value] if isinstance(value, (str, int)) else value


def _as_tools(value: Any) -> Any:
    """A planner may name an action (write, create, delete, execute) instead of a tool.

    Its prompt must not name tools it lacks, and `create_files` covers `create_file`.
    """
    names = _as_list(value)
    if not isinstance(names, list):
        return names
    return [_PERMISSIONS.get(name, name) if isinstance(name, str) else name for name in names]


StepId = Annotated[str, BeforeValidator(_as_text)]
Texts = Annotated[list[StepId], BeforeValidator(_as_list)]


class PlanStep(SparseModel, NullTolerantModel):
    """One step: what, why, with which tools, on which files, after which steps."""

    only_if_any = frozenset({"role", "agent", "rounds"})

    id: Annotated[StepId, Field(min_length=1)]
    step_number: int
    action: Annotated[str, Field(min_length=1)]
    reason: str = ""
    tools_needed: Annotated[Texts, BeforeValidator(_as_tools)] = []
    files: Texts = []
    depends_on: Texts = []
    estimated_time: Annotated[str, BeforeValidator(_as_text)] = ""
    status: StepStatus = StepStatus.PENDING
    expects: list[Expectation] = []
    role: AgentRole | None = None
    """Who does it, with no more than that role's rights; None is the actor."""
    agent: str = ""
    """The external agent that does it, in that role."""
    rounds: Annotated[int, Field(ge=0, le=MAX_ROUNDS)] = 0
    """Of a review: how often it may send back the work before it."""

    @property
    def runs_as(self) -> AgentRole:
        return self.role or DEFAULT_ROLE

    @property
    def text(self) -> str:
        where = f" ({', '.join(self.files)})" if self.files else ""
        return f"{self.step_number}. {self.action}{where}"


class Plan(NullTolerantModel):
    """A plan whose graph is known to be sound: unique ids, known dependencies, no cycle."""

    type: Literal["plan"] = "plan"
    format_version: str = "1.0"
    id: Annotated[str, BeforeValidator(_as_text)] = ""
    """Assigned when the plan is stored; ignored if a model writes it."""
    goal: Annotated[str, Field(min_length=1)]
    steps: Annotated[list[PlanStep], Field(min_length=1)]
    estimated_total_time: Annotated[str, BeforeValidator(_as_text)] = ""
    risks: Texts = []
    prerequisites: Texts = []
    assumptions: Assumptions = []
    _notes: list[str] = PrivateAttr(default_factory=list)

    @property
    def notes(self) -> list[str]:
        """How the model's plan was repaired, in sentences; not stored here."""
        return self._notes

    def with_notes(self, notes: list[str]) -> Self:
        self._notes = notes
        return self

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, raw: Any) -> Any:
        """Number the steps, add missing ids and, without any dependency, run in order."""
        if not isinstance(raw, dict) or not isinstance(raw.get("steps"), list):
            return raw
        if not all(isinstance(step, dict) for step in raw["steps"]):
            return raw
        steps = [dict(step) for step in raw["steps"]]
        in_order = all(step.get("depends_on") is None for step in steps)
        for index, step in enumerate(steps):
            if step.get("step_number") is None:
                step["step_number"] = index + 1
            if step.get("id") in (None, ""):
                step["id"] = str(step["step_number"])
            if in_order and index:
                step["depends_on"] = [steps[index - 1]["id"]]
        return {**raw, "steps": steps}

    @model_validator(mode="after")
    def _check_graph(self) -> Self:
        for problem in graph_problems(self.steps):
            raise ValueError(problem)
        return self

    @property
    def text(self) -> str:
        return "\n".join([self.goal, *(step.text for step in self.steps)])

    def with_roles(self, resolve: Callable[[AgentRole], AgentRole]) -> Self:
        """Declared roles are stored by name: `resolve` gives them their present rights."""
        steps = [
            step.model_copy(update={"role": resolve(step.role)}) if step.role else step
            for step in self.steps
        ]
        return self.model_copy(update={"steps": steps})

    def step(self, step_id: str) -> PlanStep:
        return next(step for step in self.steps if step.id == step_id)

    def schedule(self) -> TopologicalSorter[str]:
        """Yields each unfinished step once its dependencies are done."""
        done = {step.id for step in self.steps if step.status in DONE}
        to_do = [step for step in self.steps if step.id not in done]
        schedule = TopologicalSorter[str]({step.id: () for step in to_do})  # in the plan's order
        for step in to_do:
            schedule.add(step.id, *set(step.depends_on) - done)
        schedule.prepare()
        return schedule


def graph_problems(steps: list[PlanStep]) -> Iterator[str]:
    """What keeps these steps from being run, field first."""
    seen: set[str] = set()
    for index, step in enumerate(steps):
        if step.id in seen:
            yield f"steps[{index}].id: the id '{step.id}' is used twice"
        seen.add(step.id)
    for index, step in enumerate(steps):
        for needed in step.depends_on:
            if needed not in seen:
                yield f"steps[{index}].depends_on: there is no step '{needed}'"
    circle = find_cycle({step.id: step.depends_on for step in steps})
    if circle:
        yield f"steps: these depend on each other in a cycle: {' → '.join(circle)}"


def find_cycle(dependencies: dict[str, list[str]]) -> list[str]:
    """Step ids in a cycle, or []."""
    try:
        TopologicalSorter(dependencies).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        return circle
    return []


def continue_plan(before: Plan, rest: Plan) -> Plan:
    """The finished steps of a plan, followed by a new plan for the rest.

    Models number from 1 again, so steps of the rest whose ids are taken get free ones.
    """
    finished = [step for step in before.steps if step.status in DONE]
    taken = {step.id for step in finished}
    known = taken | {step.id for step in rest.steps}
    free = (str(n) for n in count(len(finished) + 1) if str(n) not in known)
    renamed = {step.id: next(free) if step.id in taken else step.id for step in rest.steps}
    steps = [
        step.model_copy(
            update={
                "id": renamed[step.id],
                "step_number": len(finished) + place,
                "depends_on": [renamed.get(needed, needed) for needed in step.depends_on],
            }
        )
        for place, step in enumerate(rest.steps, start=1)
    ]
    return rest.model_copy(update={"steps": [*finished, *steps]})


def describe_change(before: Plan, after: Plan) -> str:
    old = {step.id: _content(step) for step in before.steps}
    new = {step.id: _content(step) for step in after.steps}
    counts = {
        "added": len(new.keys() - old.keys()),
        "removed": len(old.keys() - new.keys()),
        "changed": sum(old[key] != new[key] for key in old.keys() & new.keys()),
    }
    parts = [f"{n} {what}" for what, n in counts.items() if n]
    moved = [key for key in old if key in new] != [key for key in new if key in old]
    if parts:
        number, _, rest = ", ".join(parts).partition(" ")
        return f"{number} step{'' if number == '1' else 's'} {rest}"
    if moved:
        return "steps reordered"
    return "goal changed" if before.goal != after.goal else "details changed"


def _content(step: PlanStep) -> dict[str, Any]:
    return step.model_dump(exclude={"status", "step_number"})
