"""Cells that an agent has changed and the user has not decided about yet.

There is one pending change per cell: from its text before the first edit to the text after the last
one.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from .identity import new_id, now

CellDecision = Literal["accept", "revert"]


class CellText(BaseModel):
    """The content of a cell."""

    model_config = ConfigDict(frozen=True)

    cell_type: str
    source: str


class CellEdit(BaseModel):
    """What one tool call did to a cell."""

    notebook: str
    """Relative to the workspace."""
    cell_id: str
    before: CellText | None
    """None if the cell did not exist."""
    after: CellText | None
    """None if it was deleted."""
    moved: bool = False
    above: str | None = None
    """The cell it stood behind, if moved or deleted; None if it was the first."""


class CellChange(CellEdit):
    """What happened to a cell, and whether the user accepted it."""

    id: str = Field(default_factory=lambda: new_id("cc"))
    context_id: str
    job_id: str | None = None
    decision: CellDecision | None = None
    created_at: str = Field(default_factory=now)
    decided_at: str | None = None

    @property
    def is_nothing(self) -> bool:
        return self.before == self.after and not self.moved

    def decided(self, decision: CellDecision) -> CellChange:
        return self.model_copy(update={"decision": decision, "decided_at": now()})

    def followed_by(self, new: CellChange) -> list[CellChange]:
        """The changes to store when the cell is changed again.

        A user who edited it in between has decided: by going on from it they accepted the change,
        by putting the old text back they reverted it. Reverting the new change must then restore
        what they wrote.
        """
        if self.after != new.before:
            return [self.decided("revert" if self.before == new.before else "accept"), new]
        update = {"id": self.id, "before": self.before, "moved": self.moved or new.moved}
        if self.moved:
            update["above"] = self.above
        whole = new.model_copy(update=update)
        return [whole.decided("revert") if whole.is_nothing else whole]
