"""Checks what the agent needs from this machine and says in plain words what is missing."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from .._version import __version__
from ..domain.health import Health, ModelState, Problem
from ..domain.settings import Settings
from ..workspace.no_follow import HOLDS_FOLDERS, NOT_HELD
from ..workspace.sandbox.sandbox import available_sandbox


def describe(settings: Settings, model: ModelState, problems: Iterable[Problem] = ()) -> Health:
    """`problems` are those that only the host can see."""
    return Health(
        version=__version__,
        model=model,
        sandbox=available_sandbox(settings.sandbox),
        workspace=str(settings.workspace),
        problems=[*folder_problems(settings), *problems],
    )


def folder_problems(settings: Settings) -> Iterator[Problem]:
    workspace, records = settings.workspace, settings.database.parent
    if not HOLDS_FOLDERS:
        yield Problem(code="unsupported_system", message=NOT_HELD)
    if not workspace.is_dir():
        yield Problem(
            code="workspace_missing",
            message=f"The workspace {workspace} is not a folder. "
            "Set c.Cowork.workspace to one that exists.",
        )
    elif not is_writable(workspace):
        yield Problem(
            code="workspace_not_writable",
            message=f"The workspace {workspace} is not writable, so the agent can only read. "
            "Change its permissions, or start Jupyter in a folder you own.",
        )
    if not is_writable(_nearest_existing(records)):
        yield Problem(
            code="data_dir_not_writable",
            message=f"Conversations cannot be stored in {records}: it is not writable. "
            "Set JUPYTER_DATA_DIR or c.Cowork.db_path to a writable place.",
        )


def is_writable(folder: Path) -> bool:
    """Whether a file can really be created there; permission bits alone mislead for root.

    The file has no name where the system supports that, so nobody sees it come and go.
    """
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _nearest_existing(folder: Path) -> Path:
    return next(path for path in (folder, *folder.parents) if path.exists())
