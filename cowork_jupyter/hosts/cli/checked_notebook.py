"""Runs a notebook in a kernel of its own, then checks its expectations."""

from __future__ import annotations

import asyncio
import json
from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ...agents.reproductions import Trial
from ...domain.contexts import Job
from ...domain.errors import InvalidInput
from ...domain.expectations import FILE, is_about_files
from ...domain.plurals import count_of
from ...domain.settings import Settings
from ...effects.checking import CheckedExpectation, expectation_text
from ...effects.evaluation import ExpectationChecks, measure_text_file
from ...effects.pinned import PinnedExpectations
from ...service.parts import measure_file
from ...tools.kernel.state import CodeResult
from ...tools.notebook.stored import NotebookFiles
from ...workspace import Workspace
from ...workspace.sandbox.sandbox import Sandbox
from .command import FAILED, SUCCESS
from .screen import Screen

if TYPE_CHECKING:
    from ..config import Cowork

_MARKS = {True: "✓", False: "✕", None: "?"}


@dataclass(frozen=True)
class CheckedNotebook:
    trial: Trial
    expectations: list[CheckedExpectation]

    @property
    def is_right(self) -> bool:
        return self.trial.state.failed is None and not any(
            result.broken for result in self.expectations
        )


def check_notebook(config: Cowork, arguments: Namespace) -> int:
    """Return the exit code."""
    file = Path(arguments.notebook).expanduser().resolve()
    if not file.is_file():
        raise InvalidInput(f"There is no notebook {arguments.notebook}.")
    folder = Path.cwd() if file.is_relative_to(Path.cwd().resolve()) else file.parent
    config.workspace = arguments.workspace or str(folder)
    settings = config.settings(workspace=Path.cwd())
    if not file.is_relative_to(settings.workspace.resolve()):
        raise InvalidInput(f"{arguments.notebook} is not in {settings.workspace}.")
    screen = Screen()
    checked = asyncio.run(_check(settings, file, screen))
    if arguments.json:
        screen.record(json.dumps(_as_json(checked), ensure_ascii=False))
    else:
        _print(checked, screen)
    return SUCCESS if checked.is_right else FAILED


async def _check(settings: Settings, file: Path, screen: Screen) -> CheckedNotebook:
    root = settings.workspace.resolve()
    workspace, path = Workspace(root), file.relative_to(root).as_posix()
    notebooks = NotebookFiles()
    trial = Trial.of(await notebooks.read(workspace, path), Job(context_id=""))
    expected = await PinnedExpectations(notebooks, workspace).all(path)
    variables = [expectation for expectation in expected if not is_about_files(expectation)]
    kernels = _kernels(root)

    def on_result(ran: CodeResult) -> None:
        trial.take(ran)
        screen.status(f"cell {trial.state.ran} of {trial.state.cells}")
        screen.tick()

    sandbox = Sandbox(settings)
    try:
        measured = await kernels.run_anew(workspace, path, trial.codes, on_result, variables)
        checks = ExpectationChecks(kernels, workspace, sandbox, measure_file() or measure_text_file)
        ran = trial.state.failed is None
        checked = await checks.check_measured(expected, measured, _ids(expected)) if ran else []
    finally:
        sandbox.close()
        screen.hide_status()
    trial.finish(checked)
    return CheckedNotebook(trial, checked)


def _ids(expected: list[Any]) -> set[str]:
    """At the notebook's end every table must exist."""
    return {expectation.id for expectation in expected}


def _kernels(root: Path) -> Any:
    """Kernels as a server has them, without a server."""
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager

    from ..server.kernels import ServerKernels

    manager = AsyncMappingKernelManager(root_dir=str(root), kernel_spec_manager=KernelSpecManager())
    nobody: Any = None  # there are no tabs and no sessions
    return ServerKernels(SimpleNamespace(kernel_manager=manager), nobody, nobody, str(root))


def _print(checked: CheckedNotebook, screen: Screen) -> None:
    state = checked.trial.state
    if state.failed:
        line = f", line {state.failed.line}" if state.failed.line else ""
        screen.result(f"✕ cell {state.failed.cell}{line}: {state.failed.error}")
    else:
        screen.result(f"✓ {count_of(state.cells, 'code cell')} ran in {state.seconds:.1f} s")
    if state.left_out:
        screen.result(f"- skipped {count_of(state.left_out, 'cell')} for the agent")
    for result in checked.expectations:
        screen.result(_line(result))
    if not state.failed and not checked.expectations:
        screen.result("- nothing is pinned in this notebook")


def _line(result: CheckedExpectation) -> str:
    suffix = f" — {result.found}" if result.found else ""
    name = result.expectation.of.removeprefix(FILE)
    return f"{_MARKS[result.met]} {name}: {expectation_text(result.expectation)}{suffix}"


def _as_json(checked: CheckedNotebook) -> dict[str, Any]:
    state = checked.trial.state
    return {
        "ok": checked.is_right,
        "notebook": state.notebook,
        "cells": state.cells,
        "ran": state.ran,
        "skipped": state.left_out,
        "seconds": state.seconds,
        "failed": state.failed.model_dump() if state.failed else None,
        "expectations": [
            {
                "expectation": result.expectation.model_dump(mode="json", exclude_none=True),
                "words": expectation_text(result.expectation),
                "met": result.met,
                "found": result.found,
            }
            for result in checked.expectations
        ],
    }
