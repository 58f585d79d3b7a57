"""Several wishes in one text: `clean it, then plot revenue by month`."""

from __future__ import annotations

import re

from .spelling import code, pieces

_VERBS = (
    r"plot|draw|chart|graph|visuali[sz]e|clean|profile|describe|show|list|join|merge|combine|predict"
    r"|fit|train|compare|find|remove|drop|give me|tell me|make|create|calculate|compute|count|check"
    r"|analy[sz]e|zeig\w*|zeichne\w*|bereinig\w*|vergleich\w*|berechne|mach\w*|plotte|finde|erstelle"
)
_SPLIT = re.compile(
    r"\s*;\s*|\s*\n+\s*|(?<=[^\d\s])\.\s+(?=\S)"
    r"|[,\s]\s*(?:and\s+)?(?:then|afterwards|after that|danach|dann|anschlie\w{1,3}end)\b,?\s*"
    rf"|,?\s+(?:and|und)\s+(?:also\s+|auch\s+)?(?=(?:{_VERBS})\b)|,\s*(?=(?:{_VERBS})\b)",
    re.IGNORECASE,
)
_AND_BY = re.compile(r"\s+and\s+(?=(?:by|per|for each)\b)", re.IGNORECASE)
_BY = re.compile(r"\b(?:by|per|over time|for each)\b", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"\n]*"|“[^”\n]*”')
_GAPS = re.compile(
    r"\b(?:drop|remove|fill|keep)\b.{0,40}\b(?:missing|nan|null|gaps|duplicates)", re.I
)
_MAX_CLAUSES = 12


def clauses_in(text: str) -> list[str]:
    """Split a text into parts that request one thing each."""
    names: list[str] = []

    def hide(name: str) -> str:
        names.append(name)
        return f"\0{len(names) - 1}\0"

    hidden = "".join(
        hide(code(piece)) if is_code else _QUOTED.sub(lambda match: hide(match[0]), piece)
        for is_code, piece in pieces(text.replace("\0", " "))
    )
    parts = [part for part in _SPLIT.split(hidden) if part and part.strip()]
    parts = [clause for part in _kept_together(parts) for clause in _two_charts(part)]
    clauses = [re.sub(r"\0(\d+)\0", lambda at: names[int(at[1])], part) for part in parts]
    return [part.strip() for part in clauses][:_MAX_CLAUSES] or [text]


def _kept_together(parts: list[str]) -> list[str]:
    """`clean it and drop missing values` is one request."""
    kept: list[str] = []
    for part in parts:
        if (
            kept
            and _GAPS.match(part.strip())
            and re.search(r"\bclean|\btidy|bereinig", kept[-1], re.I)
        ):
            kept[-1] += f", {part}"
        else:
            kept.append(part)
    return kept


def _two_charts(part: str) -> list[str]:
    """`plot price over time and by region` is two charts."""
    pieces = _AND_BY.split(part, maxsplit=1)
    if len(pieces) == 1 or not (found := _BY.search(pieces[0])):
        return [part]
    return [pieces[0], f"{pieces[0][: found.start()]} {pieces[1]}"]
