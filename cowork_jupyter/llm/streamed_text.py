"""Text on its way to the screen: trimmed, and made only of whole characters."""

from __future__ import annotations

from ..domain.surrogates import without_surrogates


class StreamedText:
    """Collects text that is shown as it comes, without the white space around it."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._space: list[str] = []

    @property
    def value(self) -> str:
        """All that was shown."""
        return "".join(self._parts)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was shown yet."""
        return not self._parts

    def write(self, piece: str) -> str:
        """Add a piece; returns what can be shown now. Space waits for what follows it."""
        body = piece.rstrip()
        if not body:
            if self._parts:
                self._space.append(piece)
            return ""
        start = "".join(self._space) + body if self._parts else body.lstrip()
        self._parts.append(start)
        self._space = [piece[len(body) :]]
        return start

    def drop_space(self) -> None:
        """Forget space that still waits."""
        self._space.clear()

    def ends_with(self, char: str) -> bool:
        """Whether the last thing written was this character, with no space after it."""
        return bool(self._parts) and not any(self._space) and self._parts[-1].endswith(char)


class SurrogateJoiner:
    """Joins character pairs that a server cut in two, and replaces halves that stay alone.

    Half a pair can be neither stored nor sent, so none may get past the parser.
    """

    def __init__(self) -> None:
        self._half = ""

    def join(self, text: str) -> str:
        """The whole characters so far; a first half waits for the next piece."""
        if not self._half and text.isascii():
            return text
        text, self._half = self._half + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return without_surrogates(text)

    def flush(self) -> str:
        """What still waits, at the end."""
        half, self._half = self._half, ""
        return without_surrogates(half)
