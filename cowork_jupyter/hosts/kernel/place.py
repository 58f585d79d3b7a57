"""Where a cell runs: its notebook, its id, and whether a person is present."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SESSION_VARIABLE = "JPY_SESSION_NAME"
_VSCODE_NAME = "__vsc_ipynb_file__"


@dataclass(frozen=True)
class KernelPlace:
    notebook: Path | None = None
    cell_id: str | None = None
    attended: bool = False
    """Whether the front end can ask a person; programs that run notebooks say they cannot."""
    is_named_by_editor: bool = False
    """Whether an editor named the notebook; else the server did, at the start."""

    def notebook_in(self, workspace: str) -> str | None:
        """Relative to the workspace; outside of it, only the name."""
        if self.notebook is None:
            return None
        try:
            return self.notebook.relative_to(workspace).as_posix()
        except ValueError:
            return self.notebook.name


def place_of(shell: Any) -> KernelPlace:
    """A shell without a kernel (a terminal) has neither notebook nor cell."""
    request = _request(shell)
    by_editor = getattr(shell, "user_ns", {}).get(_VSCODE_NAME)
    return KernelPlace(
        notebook=_notebook(by_editor or os.environ.get(SESSION_VARIABLE, "")),
        cell_id=request.get("metadata", {}).get("cellId"),
        attended=bool(request.get("content", {}).get("allow_stdin")),
        is_named_by_editor=bool(by_editor),
    )


def _request(shell: Any) -> dict[str, Any]:
    """The front end's message that the kernel is answering."""
    kernel = getattr(shell, "kernel", None)
    return (kernel.get_parent("shell") or {}) if kernel else {}


def _notebook(named: Any) -> Path | None:
    path = Path(str(named))
    return path if path.suffix == ".ipynb" else None
