"""Plans: what the planner proposes and the user approves."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from .contexts import StepStatus
from .roles import Permission
from .written import Written

_PERMISSIONS = {one.partition("_")[0]: str(one) for one in Permission}


def _as_text(value: Any) -> Any:
    """Models like to write ids as numbers."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _as_list(value: Any) -> Any:
    """Models like to write one item without its list."""
    return [value] if isinstance(value, (str, int)) else value


def _as_tools(value: Any) -> Any:
    """Who does not know a tool says what it is to do: write, create, delete, execute.

    The planner's prompt must not name tools it lacks, and `create_files` holds `create_file`.
    """
    names = _as_list(value)
    if not isinstance(names, list):
        return names
    return [_PERMISSIONS.get(name, name) if isinstance(name, str) else name for name in names]


StepId = Annotated[str, BeforeValidator(_as_text)]
Texts = Annotated[list[StepId], BeforeValidator(_as_list)]


class PlanStep(Written):
    """One step: what, why, with which tools, on which files, after which steps."""

    id: Annotated[StepId, Field(min_length=1)]
    step_number: int
    action: Annotated[str, Field(min_length=1)]
    reason: str = ""
    tools_needed: Annotated[Texts, BeforeValidator(_as_tools)] = []
    files: Texts = []
    depends_on: Texts = []
    estimated_time: Annotated[str, BeforeValidator(_as_text)] = ""
    status: StepStatus = StepStatus.PENDING


class Plan(Written):
    """A plan whose graph is known to be sound: unique ids, known dependencies, no cycle."""

    type: Literal["plan"] = "plan"
    format_version: str = "1.0"
    goal: Annotated[str, Field(min_length=1)]
    steps: Annotated[list[PlanStep], Field(min_length=1)]
    estimated_total_time: Annotated[str, BeforeValidator(_as_text)] = ""
    risks: Texts = []
    prerequisites: Texts = []

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, raw: Any) -> Any:
        """Number the steps, make missing ids and, with no dependency anywhere, run in order."""
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

    def step(self, step_id: str) -> PlanStep:
        """The step with that id."""
        return next(step for step in self.steps if step.id == step_id)


def graph_problems(steps: list[PlanStep]) -> Iterator[str]:
    """What keeps these steps from being run in some order, place first."""
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
        yield f"steps: these wait for each other: {' → '.join(circle)}"


def find_cycle(dependencies: dict[str, list[str]]) -> list[str]:
    """Step ids that wait for each other, or nothing."""
    try:
        TopologicalSorter(dependencies).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        return circle
    return []
