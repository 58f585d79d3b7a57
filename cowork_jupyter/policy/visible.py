"""Text as it really is: what would hide, reorder or break it is spelled out."""

from __future__ import annotations

import unicodedata

_KEPT = {"\n", "\t"}
_HIDING = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode's names for controls, formatting (bidi, zero width), halves, unassigned, line ends."""


def visible(text: str) -> str:
    """The text with every invisible or reordering character written as `⟨U+202E⟩`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"⟨U+{ord(char):04X}⟩" if hides(char) else char for char in text)


def hides(char: str) -> bool:
    """Whether a reader would not see this character, or see others in another order."""
    return char not in _KEPT and unicodedata.category(char) in _HIDING
