"""Requests about notebooks themselves: explain one, or put its cells in order."""

from __future__ import annotations

import re
from typing import Literal

from .file_names import unquoted

NotebookIntent = Literal["order", "explain"]

_MAX_LENGTH = 2_000
_PATH = re.compile(r"[\w./\\-]{1,200}\.\w{1,8}\b")
_ORDER = re.compile(
    r"\b(?:order|sort|arrange|rearrange|reorder|tidy|ordne|sortiere)\b.*"
    r"\b(?:cells?|notebook|zellen)\b"
)
_CELLS = re.compile(
    r"\b(?:cells?|zellen)\b.*\bin (?:the right |die richtige )?(?:order|reihenfolge)\b"
)
_EXPLAIN = re.compile(
    r"\b(?:explain|describe|summari[sz]e|understand|what does|what is in|erkl\w+|beschreib\w*)\b"
)


def notebook_intent(text: str) -> NotebookIntent | None:
    short = text[:_MAX_LENGTH]
    words = _PATH.sub(" ", unquoted(short)).lower()
    about_notebook = ".ipynb" in short or re.search(r"\bnotebook\b", words) is not None
    if _ORDER.search(words) or _CELLS.search(words):
        return "order"
    return "explain" if about_notebook and _EXPLAIN.search(words) else None
