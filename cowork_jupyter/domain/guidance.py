"""Guidance: what an agent is told beside its base prompt, of how this user and workspace work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .data import Data

GuidanceKind = Literal["instructions", "skill", "memory", "template"]
GuidanceSource = Literal["package", "user", "workspace"]


class Guidance(Data):
    """One text that guides agents."""

    kind: GuidanceKind
    name: str
    """As people call it: a file's path, or the name of a skill or template."""
    source: GuidanceSource
    tokens: int = 0
    """What it took of the prompt."""


class GuidanceUsed(Data):
    """What a run was told, or has opened."""

    items: list[Guidance]


@dataclass(frozen=True)
class GuidanceText:
    """A guiding text as it stands in a prompt."""

    about: Guidance
    text: str
