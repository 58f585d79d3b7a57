"""What the guide does not do, whatever the tables hold: change, convert, send or export them."""

from __future__ import annotations

import re

_POLITE = (
    r"\s*(?:(?:please|pls|kindly|now|and|then|also|bitte|can|could|would|will|you|i|we|want|need|to"
    r"|like|let|us|me|just|kannst|du|dann|und)\b[\s,]*){0,8}"
)
_VERBS = (
    r"rename|convert|translate|e-?mail|mail|send|export|upload|download|publish|deploy|install"
    r"|encrypt|anonymi[sz]e|transpose|append|insert|overwrite|write|save|schedule|remind"
    r"|update|edit|tweet|multiply|divide|subtract"
    r"|replace(?!.{0,80}\b(?:missing|nan|nulls?|gaps|empty))"
    r"|benenne\w*|umbenenn\w*|konvertier\w*|wandle\w*|wandel|ubersetz\w*|übersetz\w*|schicken?"
    r"|sende[nt]?|exportier\w*|speicher\w*|installier\w*"
)
_PART = r"(?:column|field|row|spalte|zeile)s?\b"
_CANNOT = re.compile(
    rf"{_POLITE}(?:(?:{_VERBS})\b(?!\s+(?:by|per|over|count|rate|volume|time|date)\b)"
    r"|(?:change|set|ändere)\b(?=.{1,80}\b(?:to|into|zu)\b)(?!.{0,80}\bfrom\b)"
    r"|share\b(?=.{1,80}\bwith\b)"
    rf"|(?:add|create|insert|füge|erstelle)\b[^,;]{{0,30}}{_PART}"
    r"|(?:drop|delete|remove|lösche|entferne)\b(?!.{0,80}\b(?:missing|duplicate|empty|without|no"
    r"|fehlend|doppelt|leer))[^,;]{0,60}\b(?:columns?|fields?|spalten?|file|files|datei)\b)",
    re.IGNORECASE,
)


def is_refused(clause: str) -> bool:
    """Whether a clause requests an action that is not supported."""
    return bool(_CANNOT.match(clause[:300]))
