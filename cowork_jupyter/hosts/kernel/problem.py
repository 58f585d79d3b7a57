"""What a cell shows when something is wrong: one line, no traceback."""

from __future__ import annotations

from ...domain.errors import CoworkError


class CellProblem(Exception):
    """Something the user can put right; IPython shows its words and nothing else."""

    def _render_traceback_(self) -> list[str]:
        """IPython asks for this before it makes a traceback of its own."""
        return [f"Cowork: {self}"]


class Cancelled(CellProblem):
    """The user has interrupted the cell, and what it had started is stopped."""


class ServerGone(CoworkError):
    """The Jupyter server that this kernel belongs to does not answer."""

    code = "server_gone"
    retryable = True
