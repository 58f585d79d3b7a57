"""Plans: what the planner proposes and the user approves, and the best order of their steps.

Steps without dependencies come first, ordered by how many others wait for them, and identical reads
are done once. Steps keep their ids and numbers, so "step 3" still means the same one. A plan that
is one chain, as every plan without dependencies is, stays as it is. The graph may lack dependencies
that the model had in mind, so steps that touch the same file, unless both only read, never pass
each other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import count
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, NamedTuple, Self

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
    all_ids = taken | {step.id for step in rest.steps}
    free = (str(n) for n in count(len(finished) + 1) if str(n) not in all_ids)
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


MAX_NUMBERS = 30
"""Up to this many steps a note lists the whole order."""


_ReadKey = tuple[frozenset[str], tuple[str, ...], frozenset[str], frozenset[str]]


class ImprovedPlan(NamedTuple):
    plan: Plan
    notes: list[str]


def improve_order(plan: Plan, read_only: Collection[str]) -> ImprovedPlan:
    """`read_only` names the tools that change nothing."""
    if any(step.status is not StepStatus.PENDING for step in plan.steps):
        return ImprovedPlan(plan, [])  # it was approved already
    items = [_Item(step, frozenset(read_only)) for step in _topological(plan.steps)]
    merged, notes = _merge_reads(items)
    steps = _ordered(merged)
    kept = {step.id for step in steps}
    if [step.id for step in plan.steps if step.id in kept] != [step.id for step in steps]:
        numbers = [str(step.step_number) for step in steps]
        listed = ", ".join(numbers[:MAX_NUMBERS] + ["…"] * (len(numbers) > MAX_NUMBERS))
        notes.append(f"Steps that do not depend on others come first; the order is now: {listed}.")
    return ImprovedPlan(plan.model_copy(update={"steps": steps}) if notes else plan, notes)


@dataclass(frozen=True)
class _Item:
    step: PlanStep
    read_only: frozenset[str]

    @cached_property
    def only_reads(self) -> bool:
        """Whether it only reads. A step without tools may do anything, and one with expectations
        must not be merged away.
        """
        named = self.step.tools_needed
        return bool(named) and self.read_only.issuperset(named) and not self.step.expects

    @cached_property
    def paths(self) -> frozenset[str]:
        return frozenset(str(PurePosixPath(path)) for path in self.step.files)

    @cached_property
    def folders(self) -> frozenset[str]:
        above = (str(parent) for path in self.paths for parent in PurePosixPath(path).parents)
        return self.paths.union(above)

    def conflicts_with(self, other: _Item) -> bool:
        """Whether one changes a file that the other reads or changes, as far as they are named."""
        if self.only_reads and other.only_reads:
            return False
        return bool(self.paths & other.folders or other.paths & self.folders)

    def may_conflict(self, read: _Item) -> bool:
        """The same, but true in case of doubt."""
        in_doubt = not self.only_reads and not (self.paths and read.paths)
        return in_doubt or self.conflicts_with(read)

    @property
    def read_key(self) -> _ReadKey:
        """Equal for two steps with the same words, tools, files and dependencies."""
        step = self.step
        words = tuple(step.action.split())
        return self.paths, words, frozenset(step.tools_needed), frozenset(step.depends_on)


def _topological(steps: Sequence[PlanStep]) -> list[PlanStep]:
    """A topological order: the given one if it is valid."""
    place = {step.id: index for index, step in enumerate(steps)}
    if all(place[dependency] < place[step.id] for step in steps for dependency in step.depends_on):
        return list(steps)
    depth = _depths({step.id: step.depends_on for step in steps})
    return sorted(steps, key=lambda step: depth[step.id])


def _merge_reads(items: Sequence[_Item]) -> tuple[list[_Item], list[str]]:
    """Drop reads that another step does already, and redirect their dependants to it."""
    timing = _ReadTiming(items)
    stands_for: dict[str, str] = {}
    kept: dict[str, _Item] = {}
    reads: dict[_ReadKey, list[str]] = {}
    notes = []
    for item in (_redirected(original, stands_for) for original in items):
        alike = reads.setdefault(item.read_key, []) if item.only_reads else []
        twin = next(
            (candidate for candidate in alike if timing.are_interchangeable(candidate, item)), None
        )
        if twin is None:
            kept[item.step.id] = item
            alike.append(item.step.id)
        else:
            stands_for[item.step.id] = twin
            kept[twin] = _merged_step(kept[twin], item)
            notes.append(_merge_note(kept[twin].step, item.step))
    return list(kept.values()), notes


def _redirected(item: _Item, stands_for: Mapping[str, str]) -> _Item:
    needed = dict.fromkeys(
        stands_for.get(dependency, dependency) for dependency in item.step.depends_on
    )
    return _Item(item.step.model_copy(update={"depends_on": list(needed)}), item.read_only)


class _ReadTiming:
    """Decides whether it matters when a read happens."""

    def __init__(self, items: Sequence[_Item]) -> None:
        graph = {item.step.id: item.step.depends_on for item in items}
        self._items = items
        self._before, self._after = _reachable(graph), _reachable(_reversed(graph))

    def are_interchangeable(self, kept: str, read: _Item) -> bool:
        """Whether everything that may disturb either read comes before both, or after both."""
        before, after = (sides[kept] & sides[read.step.id] for sides in (self._before, self._after))
        return not any(
            item.may_conflict(read)
            for item in self._items
            if item.step.id not in before and item.step.id not in after
        )


def _merged_step(kept: _Item, other: _Item) -> _Item:
    reasons = dict.fromkeys(filter(None, (kept.step.reason, other.step.reason)))
    return _Item(kept.step.model_copy(update={"reason": "; ".join(reasons)}), kept.read_only)


def _ordered(items: Sequence[_Item]) -> list[PlanStep]:
    """Order by depth in the graph.

    Among equals, the beginning of the longest chain comes first, then what most others wait for.
    """
    graph = {item.step.id: [*item.step.depends_on] for item in items}
    for index, item in enumerate(items):
        graph[item.step.id] += [
            earlier_item.step.id
            for earlier_item in items[:index]
            if earlier_item.conflicts_with(item)
        ]
    followers = _reversed(graph)
    depth, height = _depths(graph), _depths(followers)
    waiting = {key: len(each) for key, each in _reachable(followers).items()}

    def place(step: PlanStep) -> tuple[int, int, int]:
        return depth[step.id], -height[step.id], -waiting[step.id]

    return sorted((item.step for item in items), key=place)


def _depths(graph: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Length of the longest chain of dependencies for each step."""
    lengths: dict[str, int] = {}
    for key in TopologicalSorter(graph).static_order():
        lengths[key] = max((lengths[dependency] + 1 for dependency in graph[key]), default=0)
    return lengths


def _reachable(graph: Mapping[str, Sequence[str]]) -> dict[str, set[str]]:
    """Transitive dependencies of each step."""
    reachable: dict[str, set[str]] = {}
    for key in TopologicalSorter(graph).static_order():
        reachable[key] = set(graph[key]).union(
            *(reachable[dependency] for dependency in graph[key])
        )
    return reachable


def _reversed(graph: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    followers: dict[str, list[str]] = {key: [] for key in graph}
    for key, needed in graph.items():
        for dependency in needed:
            followers[dependency].append(key)
    return followers


def _merge_note(kept: PlanStep, dropped: PlanStep) -> str:
    return (
        f"Steps {kept.step_number} and {dropped.step_number} read the same things: "
        f"step {kept.step_number} reads them once, and both share the result."
    )
