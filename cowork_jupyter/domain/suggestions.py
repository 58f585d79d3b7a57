"""Suggestions: code or text for one cell, requested by a gesture.

A suggestion changes nothing by itself: it is shown as a diff, and accepting it is the user's own
edit.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, RootModel

from .contexts import Usage
from .messages import ErrorBody

SuggestionKind = Literal["fix", "explain", "generate", "change", "complete", "next_cell"]
Decision = Literal["accepted", "rejected"]


class CellError(BaseModel):
    """How a cell failed."""

    name: str
    value: str = ""
    traceback: str = ""
    """Without terminal escape codes."""


class NearbyCell(BaseModel):
    """A cell as the page shows it, saved or not. Cells tagged `private` are not sent."""

    id: str
    cell_type: Literal["code", "markdown", "raw"] = "code"
    source: str
    has_run: bool = False


class SuggestionRequest(BaseModel):
    """A request for a suggestion about one cell."""

    kind: SuggestionKind
    cell_id: str
    source: str = ""
    instruction: str = ""
    """Empty if the gesture says it all."""
    selection: tuple[int, int] | None = None
    """Character range of the source that a `change` is about."""
    cursor: int | None = None
    error: CellError | None = None
    tried: list[str] = Field(default=[], max_length=10)
    """Rejected proposals for the same, oldest first."""
    cells: list[NearbyCell] = Field(default=[], max_length=200)
    """All cells of the notebook in order, including the cell itself."""


class SuggestionStarted(BaseModel):
    """The first line of the answer."""

    type: Literal["started"] = "started"
    id: str
    model: str


class SuggestionText(BaseModel):
    """More of the cell's new source, or of an explanation."""

    type: Literal["text"] = "text"
    text: str


class SuggestionReset(BaseModel):
    """The model is asked again: discard the text so far."""

    type: Literal["reset"] = "reset"
    reason: str


class SuggestionDone(BaseModel):
    """The last line of a complete answer."""

    type: Literal["done"] = "done"
    source: str
    """The cell's whole new source; the Markdown of an explanation; or the text of a completion."""
    explanation: str = ""
    usage: Usage = Usage()


class SuggestionFailed(BaseModel):
    """The last line of a failed answer."""

    type: Literal["error"] = "error"
    error: ErrorBody


SuggestionEvent = (
    SuggestionStarted | SuggestionText | SuggestionReset | SuggestionDone | SuggestionFailed
)


class SuggestionLine(RootModel[Annotated[SuggestionEvent, Field(discriminator="type")]]):
    """One line of the answer to a request for a suggestion."""
