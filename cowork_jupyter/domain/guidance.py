"""Guidance that an agent gets beside its base prompt: instructions, skills and memory.

Memory is notes about a workspace, in a Markdown file that people may edit: a heading per section, a
line per note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from .base_models import Data

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
    line = " · ".join([*([f"guided by {guided}"] if guided else []), *templates])
    return line[:1].upper() + line[1:]


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


Section = Literal["Files", "Joins", "Formats", "Cleaning", "Commands", "Answers", "Corrections"]
SECTIONS: tuple[Section, ...] = get_args(Section)
GAPS_DROPPED = "rows with missing values dropped"
GAPS_FILLED = "missing values filled"
GAPS_KEPT = "empty rows dropped"
TITLE = "# What Cowork remembers of this workspace"
_HEAD = f"""{TITLE}

Learned from runs that you kept. Change or delete whatever you like.
"""
_DATE = re.compile(r" \(\d{4}-\d\d-\d\d\)$")
_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*")
_BULLET = "- "
_NOTE = re.compile(r"((?:“[^”]*”|`[^`]*`|:(?! )|[^“`:])+): (.+)")
"""The subject may be quoted and contain a colon."""


class MemoryNote(BaseModel):
    """One note, as Markdown on one line."""

    model_config = ConfigDict(frozen=True)

    section: Section
    about: str
    """Of two notes in a section with the same subject, the later one counts."""
    says: str

    @property
    def text(self) -> str:
        return f"{self.about}: {self.says}"


class MemoryDecision(Data):
    """Whether the user wants to keep what a run has taught."""

    status: Literal["kept", "dropped"]


@dataclass
class _Part:
    title: str
    lines: list[str]

    def put(self, note: MemoryNote, day: str) -> None:
        written = f"{_BULLET}{note.text} ({day})"
        begin = f"{_BULLET}{note.about}: "
        for place, line in enumerate(self.lines):
            if line.startswith(begin):
                if _undated(line) != f"{_BULLET}{note.text}":
                    self.lines[place] = written
                return
        above = "\n".join(self.lines).rstrip().split("\n")
        self.lines = [*above, *([""] if _HEADING.fullmatch(above[-1]) else []), written, ""]


def with_notes(text: str, notes: Iterable[MemoryNote], day: str) -> str:
    """Add notes; lines that already say the same stay unchanged."""
    parts = _parts(text if text.strip() else _HEAD)
    for note in notes:
        _section(parts, note.section).put(note, day)
    blocks = ("\n".join(part.lines).strip("\n") for part in parts)
    return "\n\n".join(block for block in blocks if block) + "\n"


def remove_note(text: str, part: str) -> str:
    wanted = part.casefold()
    kept = [
        line
        for line in text.split("\n")
        if not (line.startswith(_BULLET) and wanted in line.casefold())
    ]
    return "\n".join(kept)


def notes_in(text: str) -> list[MemoryNote]:
    return [
        MemoryNote(section=section, about=about, says=says)
        for part in _parts(text)
        for section in SECTIONS
        if section == part.title
        for about, says in _bullets(part.lines)
    ]


def lines_in(text: str) -> list[tuple[str, str]]:
    return [
        (part.title, line.strip())
        for part in _parts(text)
        for line in part.lines
        if line.strip() and not _HEADING.fullmatch(line)
    ]


def _bullets(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        note = _NOTE.fullmatch(_undated(line).removeprefix(_BULLET))
        if note and line.startswith(_BULLET):
            yield note[1], note[2]


def _undated(line: str) -> str:
    return _DATE.sub("", line.rstrip())


def _parts(text: str) -> list[_Part]:
    parts = [_Part("", [])]
    for line in text.split("\n"):
        heading = _HEADING.fullmatch(line)
        if heading:
            parts.append(_Part(heading[1], []))
        parts[-1].lines.append(line.rstrip())
    return parts


def _section(parts: list[_Part], name: Section) -> _Part:
    """Find the section, or insert it in our order."""
    section = next((part for part in parts if part.title == name), None)
    if section:
        return section
    later = SECTIONS[SECTIONS.index(name) + 1 :]
    place = next((at for at, part in enumerate(parts) if part.title in later), len(parts))
    made = _Part(name, [f"## {name}"])
    parts.insert(place, made)
    return made
