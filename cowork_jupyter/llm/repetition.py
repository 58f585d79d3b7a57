"""Models that say the same over and over."""

from __future__ import annotations

MAX_UNIT, MAX_LONG_UNIT = 150, 2_000
"""Characters that are repeated: a sentence, or several paragraphs."""
WINDOW, WINDOW_IN_DATA, LONG_WINDOW = 600, 4_000, 8_000
"""Characters that must be repetitions; files and code may legitimately repeat for longer."""
_EVERY = 50


class RunOnDetector:
    def __init__(self) -> None:
        self.found = False
        self._tail = ""
        self._unchecked = 0

    def add(self, text: str, *, in_data: bool = False) -> None:
        self._tail = (self._tail + text)[-LONG_WINDOW:]
        self._unchecked += len(text)
        if self._unchecked < _EVERY:
            return
        self._unchecked = 0
        window = WINDOW_IN_DATA if in_data else WINDOW
        self.found = (
            self.found
            or self._repeats(window, MAX_UNIT)
            or (not in_data and self._repeats(LONG_WINDOW, MAX_LONG_UNIT))
        )

    def _repeats(self, window: int, most: int) -> bool:
        tail = self._tail[-window:]
        return len(tail) == window and repeated_unit(tail, most) is not None


def repeated_unit(text: str, most: int = MAX_UNIT) -> int | None:
    """Length of the unit that a text repeats, the last copy possibly cut; None if it does not."""
    # A repetitive text contains its own beginning again, one unit later.
    beginning = text[:-most]
    size = text.find(beginning, 1)
    while 0 < size <= most:
        if text[size:] == text[:-size]:
            return size
        size = text.find(beginning, size + 1)
    return None


def without_repetition(text: str) -> str:
    size = repeated_unit(text[-WINDOW // 2 :])
    if size is None:
        size = repeated_unit(text[-LONG_WINDOW // 2 :], MAX_LONG_UNIT)
    if size is None:
        return text
    start = len(text) - size
    while start > 0 and text[start - 1] == text[start - 1 + size]:
        start -= 1
    end = text.find("\n", start + size - 1)  # what is kept ends with its line
    return text[: start + size if end < 0 else min(end, start + 2 * size)].rstrip()
