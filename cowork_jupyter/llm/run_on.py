"""Noticing a model that has begun to repeat itself without end."""

from __future__ import annotations

WINDOW, WINDOW_IN_DATA = 600, 4_000
"""Characters that must repeat themselves; files and code may do so for longer, and mean it."""
MAX_UNIT = 150
_EVERY = 50


class RunOnDetector:
    """Fed with what a model writes, says once it is only copies of the same."""

    def __init__(self) -> None:
        self.found = False
        self._tail = ""
        self._unchecked = 0

    def add(self, text: str, *, in_data: bool = False) -> None:
        """Take in the next piece; every so many characters it is compared with itself."""
        self._tail = (self._tail + text)[-WINDOW_IN_DATA:]
        self._unchecked += len(text)
        if self._unchecked < _EVERY:
            return
        self._unchecked = 0
        window = WINDOW_IN_DATA if in_data else WINDOW
        tail = self._tail[-window:]
        self.found = self.found or (len(tail) == window and unit_of(tail) is not None)


def unit_of(text: str) -> int | None:
    """The length of what a text consists of copies of, the last one maybe cut; None if of none."""
    # Whatever repeats itself holds its own beginning again, one unit later.
    beginning = text[:-MAX_UNIT]
    size = text.find(beginning, 1)
    while 0 < size <= MAX_UNIT:
        if text[size:] == text[:-size]:
            return size
        size = text.find(beginning, size + 1)
    return None


def said_once(text: str) -> str:
    """A text that ends in copies of the same, with the first of them only."""
    size = unit_of(text[-WINDOW // 2 :])
    if size is None:
        return text
    start = len(text) - size
    while start > 0 and text[start - 1] == text[start - 1 + size]:
        start -= 1
    end = text.find("\n", start + size - 1)  # what is kept ends with its line
    return text[: start + size if end < 0 else min(end, start + 2 * size)].rstrip()
