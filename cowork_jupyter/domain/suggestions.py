"""Suggestions: code or words for one cell, asked for with a gesture and taken by the user.

A suggestion changes nothing by itself: what it proposes is shown as a diff, and the user's Accept
is an edit of their own.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, RootModel

from .contexts import Usage
from .message_data import ErrorBody

SuggestionKind = Literal["fix", "explain", "generate", "change", "complete", "next_cell"]
Decision = Literal["accepted", "rejected"]


class CellError(BaseModel):
    """How a cell failed."""

    name: str
    value: str = ""
    traceback: str = ""
    """Without the codes of terminals."""


class NearbyCell(BaseModel):
    """A cell as the page shows it, saved or not. Cells tagged `private` are not sent."""

    id: str
    cell_type: Literal["code", "markdown", "raw"] = "code"
    source: str
    has_run: bool = False


class SuggestionRequest(BaseModel):
    """What is wanted for one cell."""

    kind: SuggestionKind
    cell_id: str
    source: str = ""
    """The cell's, as the page shows it."""
    instruction: str = ""
    """What the user wrote; empty where the gesture says it all."""
    selection: tuple[int, int] | None = None
    """Of the source, in characters; a `change` is about this part."""
    cursor: int | None = None
    """Where a completion goes on."""
    error: CellError | None = None
    tried: list[str] = Field(default=[], max_length=10)
    """Sources that were proposed for the same and did not do, oldest first."""
    cells: list[NearbyCell] = Field(default=[], max_length=200)
    """The other cells of the notebook, in order, with the cell itself among them."""


class SuggestionStarted(BaseModel):
    """The first line of the answer."""

    type: Literal["started"] = "started"
    id: str
    """By which the decision is stored."""
    model: str


class SuggestionText(BaseModel):
    """More of the cell's new source, or of the words of an explanation."""

    type: Literal["text"] = "text"
    text: str


class SuggestionReset(BaseModel):
    """The model is asked again: forget the text so far."""

    type: Literal["reset"] = "reset"
    reason: str


class SuggestionDone(BaseModel):
    """The last line of an answer that came whole."""

    type: Literal["done"] = "done"
    source: str
    """The cell's whole new source; of an explanation, its Markdown; of a completion, what comes
    at the cursor."""
    explanation: str = ""
    """Why, in a sentence or two."""
    usage: Usage = Usage()


class SuggestionFailed(BaseModel):
    """The last line of an answer that did not."""

    type: Literal["error"] = "error"
    error: ErrorBody


SuggestionEvent = (
    SuggestionStarted | SuggestionText | SuggestionReset | SuggestionDone | SuggestionFailed
)


class SuggestionLine(RootModel[Annotated[SuggestionEvent, Field(discriminator="type")]]):
    """One line of the answer to a request for a suggestion."""
