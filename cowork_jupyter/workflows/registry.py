"""All workflows by name, and what kept others from being among them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..domain.errors import NotFound
from ..domain.health import Problem
from .templates import TemplateListing
from .workflow import Workflow


@dataclass(frozen=True)
class Category:
    """A group of workflows, as menus show them."""

    name: str
    label: str
    workflows: list[Workflow]


class WorkflowRegistry(Mapping[str, Workflow]):
    """Workflows in display order."""

    def __init__(self, workflows: Iterable[Workflow] = ()) -> None:
        self._workflows: dict[str, Workflow] = {}
        self.problems: list[Problem] = []
        """What is wrong with those that are missing."""
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
        return [Category(name, _label(name), group) for name, group in groups.items()]


def _label(category: str) -> str:
    words = category.replace("_", " ")
    return words[:1].upper() + words[1:]
