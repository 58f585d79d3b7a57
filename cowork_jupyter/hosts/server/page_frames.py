"""Messages from pages. Imported when a page first speaks, because pydantic comes with it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, TypeAdapter


class Subscribe(BaseModel):
    """Send every event of a context after `after`, tagged with the page's own number."""

    type: Literal["subscribe"]
    subscription: int
    context_id: str = Field(max_length=200)
    after: int = Field(default=0, ge=0)


class Unsubscribe(BaseModel):
    type: Literal["unsubscribe"]
    subscription: int


class OpenDocument(BaseModel):
    path: str
    current: bool = False


class Documents(BaseModel):
    """All notebooks that the page has open, and whether the user is in the page."""

    type: Literal["documents"]
    documents: list[OpenDocument] = Field(max_length=1000)
    focused: bool = False


class AnswerPart(BaseModel):
    type: Literal["answer"]
    question: int
    part: str
    last: bool


class CellStarted(BaseModel):
    """A person ran a cell that asks something of us."""

    type: Literal["cell-started"]
    path: str
    cell_id: str
    source: str


class CellEnded(BaseModel):
    """The cell has ended; without an id, all cells of the notebook, as its kernel has."""

    type: Literal["cell-ended"]
    path: str
    cell_id: str | None = None


Frame = Subscribe | Unsubscribe | Documents | AnswerPart | CellStarted | CellEnded
frames: TypeAdapter[Frame] = TypeAdapter(Annotated[Frame, Field(discriminator="type")])
