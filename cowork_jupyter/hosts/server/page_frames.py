"""What a page may say on its socket. Read only once a page speaks, as pydantic comes with it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, TypeAdapter


class Subscribe(BaseModel):
    """Send every event of a context after a place, under a number of the page's choice."""

    type: Literal["subscribe"]
    subscription: int
    context_id: str = Field(max_length=200)
    after: int = Field(default=0, ge=0)


class Unsubscribe(BaseModel):
    """Send no more of these."""

    type: Literal["unsubscribe"]
    subscription: int


class OpenDocument(BaseModel):
    """A notebook that the page has open."""

    path: str
    current: bool = False


class Documents(BaseModel):
    """All notebooks that the page has open now, and whether the user is in the page."""

    type: Literal["documents"]
    documents: list[OpenDocument] = Field(max_length=1000)
    focused: bool = False


class AnswerPart(BaseModel):
    """A part of the answer to a question about a notebook."""

    type: Literal["answer"]
    question: int
    part: str
    last: bool


class CellStarted(BaseModel):
    """A person has run a cell that asks something of us."""

    type: Literal["cell-started"]
    path: str
    cell_id: str
    source: str


class CellEnded(BaseModel):
    """That cell has ended; without an id, all cells of the notebook have, as its kernel has."""

    type: Literal["cell-ended"]
    path: str
    cell_id: str | None = None


Frame = Subscribe | Unsubscribe | Documents | AnswerPart | CellStarted | CellEnded
frames: TypeAdapter[Frame] = TypeAdapter(Annotated[Frame, Field(discriminator="type")])
