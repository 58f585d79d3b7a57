"""What pydantic found wrong, in the same few words wherever it is said."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

MAX_PROBLEMS = 10
_MAX_PLACE_LENGTH = 100


class FieldProblem(NamedTuple):
    """One field and why it will not do: `steps[0].id`, `is missing`."""

    field: str
    why: str

    def __str__(self) -> str:
        return f"{self.field}: {self.why}" if self.field else self.why


def field_problems(error: ValidationError, known: Iterable[str] = ()) -> list[FieldProblem]:
    """Each problem, place first. `known` are the fields to name where there is one too many."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return [
        FieldProblem(_place(detail)[:_MAX_PLACE_LENGTH], _why(detail, known)) for detail in found
    ]


def describe_problems(problems: list[FieldProblem], separator: str = "; ") -> str:
    """The first problems in one text, and how many more there are."""
    more = len(problems) - MAX_PROBLEMS
    lines = [*map(str, problems[:MAX_PROBLEMS]), *([f"and {more} more"] if more > 0 else [])]
    return separator.join(lines)


def _place(detail: ErrorDetails) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in detail["loc"])
    return "".join(parts).removeprefix(".")


def _why(detail: ErrorDetails, known: Iterable[str]) -> str:
    if detail["type"] == "missing":
        return "is missing"
    if detail["type"] == "extra_forbidden":
        names = ", ".join(known)
        return f"is unknown; choose from: {names}" if names else "is unknown"
    why = detail["msg"].removeprefix("Value error, ")
    # pydantic's own sentences begin with a capital; ours may begin with a name.
    follows_place = bool(detail["loc"]) and why == detail["msg"]
    return why[:1].lower() + why[1:] if follows_place else why
