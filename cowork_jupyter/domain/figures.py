"""Figures with a source, and assumptions: what a text rests on."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    ValidationInfo,
    model_serializer,
    model_validator,
)

from .base_models import EXACT, Data, NullTolerantModel, SparseModel

MAX_ASSUMPTIONS = 20
AssumptionStatus = Literal["open", "confirmed", "corrected"]


class FigureSource(Data):
    """Where a figure can be seen: in the output of a cell or a call."""

    cell_id: str | None = None
    call_id: str | None = None
    stale: bool = False

    @model_serializer(mode="wrap")
    def _as_written(self, handler):  # type: ignore[no-untyped-def] # a type would be its schema
        return {name: value for name, value in handler(self).items() if value}


class Figure(BaseModel):
    """A number in a text."""

    text: str
    value: float
    source: FigureSource | None = None


class Assumption(SparseModel, NullTolerantModel):
    """Something that a plan or a result takes for granted."""

    only_if_any = frozenset({"alternatives"})

    text: Annotated[str, Field(min_length=1, max_length=2000)]
    status: AssumptionStatus = "open"
    correction: Annotated[str, Field(max_length=2000)] = ""
    alternatives: list[str] = []
    """Possible corrections, offered as buttons."""

    @model_validator(mode="before")
    @classmethod
    def _from_words(cls, raw: Any, info: ValidationInfo) -> Any:
        """Models often write only the text, or invent a status."""
        if isinstance(raw, str):
            return {"text": raw}
        if not isinstance(raw, dict) or info.context == EXACT:
            return raw
        return raw if raw.get("status") in get_args(AssumptionStatus) else {**raw, "status": "open"}

    def settled(self, status: AssumptionStatus, correction: str = "") -> Assumption:
        return self.model_copy(update={"status": status, "correction": correction})


def _as_stated(value: Any) -> Any:
    """Accept a single assumption without a list; drop empty ones, and more than anybody reads."""
    listed = [value] if isinstance(value, (str, dict)) else value
    if not isinstance(listed, list):
        return listed
    return [assumption for assumption in listed if assumption][:MAX_ASSUMPTIONS]


Assumptions = Annotated[list[Assumption], BeforeValidator(_as_stated)]


def keep_decisions(stated: list[Assumption], before: list[Assumption]) -> list[Assumption]:
    """Carry over what the user said about the same assumptions before.

    Only the user can confirm an assumption, whatever the model writes.
    """
    decided = {assumption.text: assumption for assumption in before}
    return [decided.get(assumption.text) or assumption.settled("open") for assumption in stated]
