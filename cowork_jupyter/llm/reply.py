"""A model's reply: the deltas that are shown while it streams, and the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..domain.figures import Assumption, Figure
from ..domain.messages import Cut, TextData
from ..domain.redaction import without_surrogates
from ..domain.replies import Structured
from .repetition import without_repetition


@dataclass(frozen=True)
class TextDelta:
    text: str


@dataclass(frozen=True)
class ReasoningDelta:
    text: str


Delta = TextDelta | ReasoningDelta


@dataclass(frozen=True)
class Reply:
    text: str = ""
    reasoning: str = ""
    structured: Structured | None = None
    problem: str | None = None
    """What was wrong with JSON that looked meant for us, in words for the model."""
    raw: str = ""
    """Everything the model wrote except its reasoning; kept if the reply has a problem."""
    cut: Cut = ""
    thought_seconds: float = 0.0

    @property
    def gist(self) -> str:
        """What was said over and over, once."""
        return without_repetition(self.text) if self.cut == "repetition" else self.text

    @property
    def is_empty(self) -> bool:
        """Reasoning alone counts as empty."""
        return not self.text and self.structured is None and self.problem is None

    def beside_text(
        self,
        problem: str = "",
        figures: Sequence[Figure] = (),
        assumptions: Sequence[Assumption] = (),
    ) -> TextData:
        data = TextData()
        if figures:
            data.figures = list(figures)
        if assumptions:
            data.assumptions = list(assumptions)
        if problem:
            data.problem = problem
        if self.cut:
            data.cut = self.cut
        if self.reasoning:
            data.reasoning = self.reasoning
        if self.thought_seconds:
            data.thought_seconds = self.thought_seconds
        return data


class StreamedText:
    def __init__(self) -> None:
        self._parts: list[str] = []
        self._space: list[str] = []

    @property
    def value(self) -> str:
        return "".join(self._parts)

    @property
    def is_empty(self) -> bool:
        return not self._parts

    def write(self, piece: str) -> str:
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
        self._space.clear()

    def ends_with(self, char: str) -> bool:
        return bool(self._parts) and not any(self._space) and self._parts[-1].endswith(char)


class SurrogateJoiner:
    """Joins surrogate pairs that a server split, and replaces lone halves.

    Lone surrogates can be neither stored nor sent, so none may get past the parser.
    """

    def __init__(self) -> None:
        self._half = ""

    def join(self, text: str) -> str:
        if not self._half and text.isascii():
            return text
        text, self._half = self._half + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return without_surrogates(text)

    def flush(self) -> str:
        half, self._half = self._half, ""
        return without_surrogates(half)
