"""What is remembered of the workspace, where the guide would have to ask the user again."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ..domain.memory import GAPS_DROPPED, GAPS_FILLED, GAPS_KEPT, notes_in
from ..llm.relevance import words
from .request import Gaps
from .script import Script

_GAPS: dict[str, Gaps] = {GAPS_DROPPED: "drop", GAPS_FILLED: "fill", GAPS_KEPT: "keep"}


def answered_before(script: Script, text: str, offered: Collection[str]) -> str | None:
    """The option that the user chose for a similar request."""
    found = []
    for note in notes_in(script.here.memory):
        named = [option for option in offered if f"`{option}`" in note.says]
        if note.section == "Answers" and len(named) == 1:
            found.append((_likeness(note.about, text), named[0]))
    best = max(found, default=(0.0, ""))
    return best[1] if best[0] >= 1 / 2 else None


def gaps_before(script: Script, path: str) -> Gaps | None:
    for note in notes_in(script.here.memory):
        if note.section == "Cleaning" and note.about == f"`{path}`":
            done = note.says.split(", ")
            return next((gaps for said, gaps in _GAPS.items() if _is_said(said, done)), None)
    return None


def _is_said(wanted: str, parts: Iterable[str]) -> bool:
    return any(part == wanted or part.startswith(f"{wanted} with ") for part in parts)


def _likeness(text: str, other: str) -> float:
    """Jaccard similarity of the words."""
    ours, theirs = words(text) - {"for"}, words(other)
    return len(ours & theirs) / max(1, len(ours | theirs))
