"""Text as it really is: what would hide, reorder or break it is spelled out."""

from __future__ import annotations

import unicodedata

_KEPT = {"\n", "\t", " "}
_HIDING = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"}
"""Unicode's names for controls, formatting (bidi, zero width), halves, unassigned, line ends,
spaces other than the usual one."""
_BLANK = set("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks, says Unicode, of which nothing is drawn."""


def visible(text: str) -> str:
    """The text with every invisible or reordering character written as `⟨U+202E⟩`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"⟨U+{ord(char):04X}⟩" if hides(char) else char for char in text)


def hides(char: str) -> bool:
    """Whether a reader would not see this character, or see others in another order."""
    if char in _KEPT:
        return False
    return char in _BLANK or unicodedata.category(char) in _HIDING
