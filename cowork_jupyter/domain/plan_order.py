"""Improves the order of a plan's steps by their dependencies, before the user approves it.

Steps without dependencies come first, ordered by how many others wait for them, and identical reads
are done once. Steps keep their ids and numbers, so "step 3" still means the same one. A plan that
is one chain, as every plan without dependencies is, stays as it is.

The graph may lack dependencies that the model had in mind, so steps that touch the same file,
unless both only read, never pass each other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from pathlib import PurePosixPath
from typing import NamedTuple

from .contexts import StepStatus
from .plan import Plan, PlanStep

MAX_NUMBERS = 30
"""Up to this many steps a note lists the whole order."""


_Look = tuple[frozenset[str], tuple[str, ...], frozenset[str], frozenset[str]]


class ImprovedPlan(NamedTuple):
    plan: Plan
    notes: list[str]


def improve_order(plan: Plan, read_only: Collection[str]) -> ImprovedPlan:
    """`read_only` names the tools that change nothing."""
    if any(step.status is not StepStatus.PENDING for step in plan.steps):
        return ImprovedPlan(plan, [])  # it was approved already
    items = [_Item(step, frozenset(read_only)) for step in _in_some_order(plan.steps)]
    merged, notes = _looking_once(items)
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
    def looks(self) -> bool:
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

    def disturbs(self, other: _Item) -> bool:
        """Whether one changes a file that the other reads or changes, as far as they are named."""
        if self.looks and other.looks:
            return False
        return bool(self.paths & other.folders or other.paths & self.folders)

    def may_disturb(self, look: _Item) -> bool:
        """The same, but true in case of doubt."""
        in_doubt = not self.looks and not (self.paths and look.paths)
        return in_doubt or self.disturbs(look)

    @property
    def look(self) -> _Look:
        """Equal for two steps with the same words, tools, files and dependencies."""
        step = self.step
        words = tuple(step.action.split())
        return self.paths, words, frozenset(step.tools_needed), frozenset(step.depends_on)


def _in_some_order(steps: Sequence[PlanStep]) -> list[PlanStep]:
    """A topological order: the given one if it is valid."""
    place = {step.id: index for index, step in enumerate(steps)}
    if all(place[dependency] < place[step.id] for step in steps for dependency in step.depends_on):
        return list(steps)
    depth = _chains({step.id: step.depends_on for step in steps})
    return sorted(steps, key=lambda step: depth[step.id])


def _looking_once(items: Sequence[_Item]) -> tuple[list[_Item], list[str]]:
    """Drop reads that another step does already, and redirect their dependants to it."""
    settled = _Settled(items)
    stands_for: dict[str, str] = {}
    kept: dict[str, _Item] = {}
    looks: dict[_Look, list[str]] = {}
    notes = []
    for item in (_redirected(original, stands_for) for original in items):
        alike = looks.setdefault(item.look, []) if item.looks else []
        twin = next((candidate for candidate in alike if settled.are_one(candidate, item)), None)
        if twin is None:
            kept[item.step.id] = item
            alike.append(item.step.id)
        else:
            stands_for[item.step.id] = twin
            kept[twin] = _both(kept[twin], item)
            notes.append(_about_look(kept[twin].step, item.step))
    return list(kept.values()), notes


def _redirected(item: _Item, stands_for: Mapping[str, str]) -> _Item:
    needed = dict.fromkeys(
        stands_for.get(dependency, dependency) for dependency in item.step.depends_on
    )
    return _Item(item.step.model_copy(update={"depends_on": list(needed)}), item.read_only)


class _Settled:
    """Decides whether it matters when a read happens."""

    def __init__(self, items: Sequence[_Item]) -> None:
        graph = {item.step.id: item.step.depends_on for item in items}
        self._items = items
        self._before, self._after = _reachable(graph), _reachable(_turned(graph))

    def are_one(self, kept: str, look: _Item) -> bool:
        """Whether everything that may disturb either read comes before both, or after both."""
        before, after = (sides[kept] & sides[look.step.id] for sides in (self._before, self._after))
        return not any(
            item.may_disturb(look)
            for item in self._items
            if item.step.id not in before and item.step.id not in after
        )


def _both(kept: _Item, other: _Item) -> _Item:
    reasons = dict.fromkeys(filter(None, (kept.step.reason, other.step.reason)))
    return _Item(kept.step.model_copy(update={"reason": "; ".join(reasons)}), kept.read_only)


def _ordered(items: Sequence[_Item]) -> list[PlanStep]:
    """Order by depth in the graph.

    Among equals, the beginning of the longest chain comes first, then what most others wait for.
    """
    graph = {item.step.id: [*item.step.depends_on] for item in items}
    for index, item in enumerate(items):
        graph[item.step.id] += [
            earlier_item.step.id for earlier_item in items[:index] if earlier_item.disturbs(item)
        ]
    followers = _turned(graph)
    depth, height = _chains(graph), _chains(followers)
    waiting = {key: len(each) for key, each in _reachable(followers).items()}

    def place(step: PlanStep) -> tuple[int, int, int]:
        return depth[step.id], -height[step.id], -waiting[step.id]

    return sorted((item.step for item in items), key=place)


def _chains(graph: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Length of the longest chain of dependencies for each step."""
    lengths: dict[str, int] = {}
    for key in TopologicalSorter(graph).static_order():
        lengths[key] = max((lengths[dependency] + 1 for dependency in graph[key]), default=0)
    return lengths


def _reachable(graph: Mapping[str, Sequence[str]]) -> dict[str, set[str]]:
    """Transitive dependencies of each step."""
    found: dict[str, set[str]] = {}
    for key in TopologicalSorter(graph).static_order():
        found[key] = set(graph[key]).union(*(found[dependency] for dependency in graph[key]))
    return found


def _turned(graph: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    followers: dict[str, list[str]] = {key: [] for key in graph}
    for key, needed in graph.items():
        for dependency in needed:
            followers[dependency].append(key)
    return followers


def _about_look(kept: PlanStep, dropped: PlanStep) -> str:
    return (
        f"Steps {kept.step_number} and {dropped.step_number} read the same things: "
        f"step {kept.step_number} reads them once, and both share the result."
    )
