"""How a run ended, and what it hands over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...domain.contexts import JobStatus
from ...domain.figures import Figure
from ...domain.plan import Plan
from ...domain.replies import Review, StepResult


@dataclass(frozen=True)
class Outcome:
    status: JobStatus = JobStatus.COMPLETED
    error: str | None = None
    text: str = ""
    result: StepResult | None = None
    figures: Sequence[Figure] = ()
    delivered: Plan | Review | None = None

    @property
    def words(self) -> str:
        """What it said, and what it delivered."""
        parts = [self.text.strip(), self.delivered.text if self.delivered else ""]
        return "\n\n".join(filter(None, parts))

    @property
    def handed_over(self) -> str:
        """What the next step, or whoever delegated, reads."""
        return self.words or "Done."

    @classmethod
    def at_limit(cls, limit: str, *, stopped: bool) -> Outcome:
        """Stopped there by the user, or failed because nobody could say to go on."""
        return cls(JobStatus.CANCELLED if stopped else JobStatus.FAILED, limit)

    @classmethod
    def of(cls, result: StepResult, figures: Sequence[Figure] = ()) -> Outcome:
        if result.status == "failed":
            return cls(JobStatus.FAILED, result.text, result=result, figures=figures)
        return cls(text=result.text, result=result, figures=figures)
