"""The workflows that users can pick now."""

from __future__ import annotations

from functools import cached_property

from ..domain.health import Problem
from .plugins import load_workflows
from .registry import WorkflowRegistry
from .templates import Templates


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
