"""Characters that hide what a command line says, or that readers take in different ways."""

from __future__ import annotations

import re
import unicodedata

from .model import names

_ORDINARY = re.compile(r"[\n\t -~]*")
_HIDING = names("Cc Cf Cs Co Cn Zl Zp Zs")
_INSIDE_A_WORD = re.compile(r"[^ \t]\\\n")


def character_doubts(text: str) -> list[str]:
    """Sentences about control, direction, invisible and unknown characters in `text`."""
    doubts = list[str]()
    if not _ORDINARY.fullmatch(text):
        strange = {sign for sign in text if sign not in "\n\t " and _hides(sign)}
        if strange:
            named = ", ".join(f"U+{ord(sign):04X}" for sign in sorted(strange)[:5])
            doubts.append(f"It contains invisible or misleading characters: {named}.")
    if _INSIDE_A_WORD.search(text):
        doubts.append("A word continues on the next line.")
    return doubts


def _hides(sign: str) -> bool:
    return unicodedata.category(sign) in _HIDING
