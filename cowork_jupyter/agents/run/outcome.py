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
    """The last words, if any."""
    result: StepResult | None = None
    """The agent's own report of how its work ended, if it gave one."""
    figures: Sequence[Figure] = ()
    """The numbers in its last words."""
    delivered: Plan | Review | None = None
    """What it made for others to build on."""

    @property
    def handed_over(self) -> str:
        """What the next step, or whoever delegated, reads: its words, and what it delivered."""
        parts = [self.text.strip(), self.delivered.text if self.delivered else ""]
        return "\n\n".join(filter(None, parts)) or "Done."

    @classmethod
    def of(cls, result: StepResult, figures: Sequence[Figure] = ()) -> Outcome:
        if result.status == "failed":
            return cls(JobStatus.FAILED, result.text, result=result, figures=figures)
        return cls(text=result.text, result=result, figures=figures)
