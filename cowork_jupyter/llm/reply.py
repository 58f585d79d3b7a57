"""A reply of the model, piece by piece and whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..domain.figures import Assumption, Figure
from ..domain.message_data import TextData
from ..domain.replies import Structured


@dataclass(frozen=True)
class TextDelta:
    """More of the text, to show now."""

    text: str


@dataclass(frozen=True)
class ReasoningDelta:
    """More of the reasoning, to show now."""

    text: str


Delta = TextDelta | ReasoningDelta
Cut = Literal["", "length", "repetition"]


@dataclass(frozen=True)
class Reply:
    """A whole reply: what to show, and what to do."""

    text: str = ""
    reasoning: str = ""
    structured: Structured | None = None
    problem: str | None = None
    """What was wrong with JSON that looked meant for us, in words for the model."""
    raw: str = ""
    """All the model wrote, its reasoning excepted: what is kept of a reply that has a problem."""
    cut: Cut = ""
    """Why it ends before the model was done."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show and nothing to do (reasoning alone is nothing)."""
        return not self.text and self.structured is None and self.problem is None

    def beside_text(
        self,
        problem: str = "",
        figures: Sequence[Figure] = (),
        assumptions: Sequence[Assumption] = (),
    ) -> TextData:
        """What a message keeps that is never content: the reasoning, why it is of no use, and
        what its words rest on.
        """
        data = TextData()
        if figures:
            data.figures = list(figures)
        if assumptions:
            data.assumptions = list(assumptions)
        if problem:
            data.problem = problem
        if self.reasoning:
            data.reasoning = self.reasoning
        return data
