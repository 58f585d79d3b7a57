"""The workflows that users can pick now."""

from __future__ import annotations

import difflib
import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from ..domain.errors import NotFound
from ..domain.health import Problem
from .shipped import SHIPPED
from .templates import TemplateListing, Templates
from .workflow import Workflow


@dataclass(frozen=True)
class Category:
    name: str
    label: str
    workflows: list[Workflow]


class WorkflowRegistry(Mapping[str, Workflow]):
    def __init__(self, workflows: Iterable[Workflow] = ()) -> None:
        self._workflows: dict[str, Workflow] = {}
        self.problems: list[Problem] = []
        for workflow in workflows:
            self.add(workflow)

    def __getitem__(self, name: str) -> Workflow:
        return self._workflows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._workflows)

    def __len__(self) -> int:
        return len(self._workflows)

    def add(self, workflow: Workflow) -> None:
        """Raises ValueError if the name is taken: a plug-in cannot replace what users know."""
        if workflow.name in self._workflows:
            raise ValueError(f"a workflow '{workflow.name}' already exists")
        self._workflows[workflow.name] = workflow

    def together_with(self, listing: TemplateListing) -> WorkflowRegistry:
        """Add the current templates, which cannot take a name from these."""
        whole = WorkflowRegistry(self.values())
        whole.problems = [*self.problems, *listing.problems]
        for template in listing.items:
            try:
                whole.add(template)
            except ValueError as error:
                message = f"Skipped the template '{template.name}': {error}."
                whole.problems.append(Problem(code="template_skipped", message=message))
        return whole

    def named(self, name: str) -> Workflow:
        """Raises NotFound that suggests a similar name."""
        if name in self._workflows:
            return self._workflows[name]
        close = difflib.get_close_matches(name, self._workflows, n=1)
        hint = f" Did you mean '{close[0]}'?" if close else ""
        raise NotFound(f"There is no workflow '{name}'.{hint}", code="unknown_workflow")

    def categories(self) -> list[Category]:
        """Both groups and workflows are in the order of declaration."""
        groups: dict[str, list[Workflow]] = {}
        for workflow in self._workflows.values():
            groups.setdefault(workflow.category, []).append(workflow)
        return [
            Category(name, name[:1].upper() + name[1:].replace("_", " "), group)
            for name, group in groups.items()
        ]


logger = logging.getLogger(__name__)

GROUP = "cowork_jupyter.workflows"


def load_workflows() -> WorkflowRegistry:
    registry = WorkflowRegistry(SHIPPED)
    try:
        points = sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value))
    except Exception as error:
        registry.problems.append(_problem("Cannot read the list of plug-ins", error))
        points = []
    for point in points:
        _load(point, registry)
    return registry


def _load(point: EntryPoint, registry: WorkflowRegistry) -> None:
    package = f" of {point.dist.name}" if point.dist else ""
    whose = f"The workflow plug-in '{point.name}'{package}"
    try:
        loaded = point.load()
        declared = list(loaded) if isinstance(loaded, list | tuple) else [loaded]
    except (Exception, SystemExit) as error:
        registry.problems.append(_problem(f"{whose} cannot be loaded", error))
        return
    for entry in declared:
        try:
            registry.add(_check(entry))
        except Exception as error:
            registry.problems.append(_problem(f"Skipped a workflow of {whose[4:]}", error))


def _check(candidate: Any) -> Workflow:
    """Ensures that it can be displayed: one that cannot would break the whole list."""
    if not isinstance(candidate, Workflow):
        raise TypeError(f"it is a {type(candidate).__name__}, not a Workflow")
    json.dumps(candidate.schema)
    return candidate


def _problem(what: str, error: BaseException) -> Problem:
    logger.warning("%s", what, exc_info=error)
    why = " ".join(str(error).split())[:300]
    return Problem(code="workflow_plugin", message=f"{what}: {type(error).__name__}: {why}")


class WorkflowCatalog:
    """Ours, those of plug-ins, which are loaded lazily, and the user's templates."""

    def __init__(self, templates: Templates) -> None:
        self.templates = templates

    @cached_property
    def _installed(self) -> WorkflowRegistry:
        return load_workflows()

    def current(self) -> WorkflowRegistry:
        return self._installed.together_with(self.templates.listing())

    def known_problems(self) -> list[Problem]:
        """What is wrong with those that are missing; does not load plug-ins to find out."""
        return self.current().problems if "_installed" in self.__dict__ else []
