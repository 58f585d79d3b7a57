"""Workflows of other packages, found by their entry points.

A broken plug-in is reported and skipped, so that the others work.
"""

from __future__ import annotations

import json
import logging
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from ..domain.health import Problem
from .registry import WorkflowRegistry
from .shipped import SHIPPED
from .workflow import Workflow

logger = logging.getLogger(__name__)

GROUP = "cowork_jupyter.workflows"


def load_workflows() -> WorkflowRegistry:
    """Ours, then those of each plug-in, by the plug-ins' names."""
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
    whose = f"The workflow plug-in '{point.name}'{_of_package(point)}"
    try:
        declared = _several(point.load())
    except (Exception, SystemExit) as error:
        registry.problems.append(_problem(f"{whose} cannot be loaded", error))
        return
    for entry in declared:
        try:
            registry.add(_checked(entry))
        except Exception as error:
            registry.problems.append(_problem(f"Skipped a workflow of {whose[4:]}", error))


def _several(loaded: Any) -> list[Any]:
    return list(loaded) if isinstance(loaded, list | tuple) else [loaded]


def _checked(candidate: Any) -> Workflow:
    """Ensures that it can be displayed: one that cannot would break the whole list."""
    if not isinstance(candidate, Workflow):
        raise TypeError(f"it is a {type(candidate).__name__}, not a Workflow")
    json.dumps(candidate.schema)
    return candidate


def _of_package(point: EntryPoint) -> str:
    return f" of {point.dist.name}" if point.dist else ""


def _problem(what: str, error: BaseException) -> Problem:
    logger.warning("%s", what, exc_info=error)
    why = " ".join(str(error).split())[:300]
    return Problem(code="workflow_plugin", message=f"{what}: {type(error).__name__}: {why}")
