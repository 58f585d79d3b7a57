from __future__ import annotations

from ...domain.redaction import Mask
from ...policy.visible import visible

MAX_KEPT = 16_000


class Tail:
    """The end of a server's stderr, for diagnosis. Stored raw; `text` masks secrets."""

    def __init__(self) -> None:
        self.mask = Mask()
        self._text = ""

    def add(self, text: str) -> None:
        """Drops old text, line by line."""
        self._text += text[-2 * MAX_KEPT :]
        if len(self._text) > 2 * MAX_KEPT:
            self._text = self._text[-MAX_KEPT:].partition("\n")[2] or self._text[-MAX_KEPT:]

    def add_line(self, text: str) -> None:
        self.add(("" if not self._text or self._text.endswith("\n") else "\n") + text + "\n")

    def text(self) -> str:
        return visible(self.mask(self._text[-MAX_KEPT:]))

    def last_line(self) -> str:
        lines = [line for line in self.text().splitlines() if line.strip()]
        return lines[-1].strip()[:300] if lines else ""
