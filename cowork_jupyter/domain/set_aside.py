"""What became of what a command left behind that would run later, outside the sandbox."""

from __future__ import annotations

from pydantic import BaseModel

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


class StillAside(BaseModel):
    path: str
    why: str


class BroughtBack(BaseModel):
    """What of the things that were set aside is in its place again."""

    restored: list[str] = []
    skipped: list[StillAside] = []
