"""Guidance: instructions, skills and memory that an agent gets beside its base prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from .data import Data

GuidanceKind = Literal["instructions", "skill", "memory", "template"]
GuidanceSource = Literal["package", "user", "workspace"]


class Guidance(Data):
    """One text that guides agents."""

    kind: GuidanceKind
    name: str
    """A file's path, or the name of a skill or template."""
    source: GuidanceSource
    tokens: int = 0


class GuidanceUsed(Data):
    """Guidance that a run was given, or has opened."""

    items: list[Guidance]


@dataclass(frozen=True)
class GuidanceText:
    about: Guidance
    text: str


def guidance_line(items: Iterable[Guidance], named: Callable[[str], str] = str) -> str:
    """What guided a run, in one line; `named` formats a name."""
    used = list(items)
    guided = " · ".join(_guides(used, named))
    templates = [
        f"follows {'your' if guidance.source == 'user' else 'the'} template {named(guidance.name)}"
        for guidance in used
        if guidance.kind == "template"
    ]
    said = " · ".join([*([f"guided by {guided}"] if guided else []), *templates])
    return said[:1].upper() + said[1:]


def _guides(used: list[Guidance], named: Callable[[str], str]) -> Iterator[str]:
    files = [
        "your own AGENTS.md" if guidance.source == "user" else named(guidance.name)
        for guidance in used
        if guidance.kind == "instructions"
    ]
    if files:
        yield ", ".join(files)
    if any(guidance.kind == "memory" for guidance in used):
        yield "what is known about this workspace"
    for guidance in used:
        if guidance.kind == "skill":
            yield f"skill {named(guidance.name)}"
