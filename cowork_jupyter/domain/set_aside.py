"""What became of what a command left behind that would run later, outside the sandbox."""

from __future__ import annotations

from .data import Data


class SetAside(Data):
    id: str = ""
    """To have back what was set aside; empty if nothing was."""
    paths: list[str] = []
    restored: list[str] = []
    """Have their former name or content again."""
    stuck: list[str] = []
    """Would run later, and could not be moved."""
    new: list[str] = []
    """Made where programs may run it later; not touched."""
