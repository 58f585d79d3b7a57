"""One wording for what does not validate."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from cowork_jupyter.domain.validation import MAX_PROBLEMS, describe_problems, field_problems


class Inner(BaseModel):
    count: int


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    items: list[Inner] = []
    name: str = ""

    @field_validator("name")
    @classmethod
    def _is_short(cls, name: str) -> str:
        if len(name) > 3:
            raise ValueError("'name' is too long")
        return name


def problems(raw: object, *known: str) -> list[str]:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(raw)
    return [str(one) for one in field_problems(caught.value, known)]


def test_each_problem_names_its_place_and_why() -> None:
    assert problems({"items": [{"count": 1}, {}]}) == ["items[1].count: is missing"]
    assert problems({"name": 3}) == ["name: input should be a valid string"]
    assert problems({"name": "Alice"}) == ["name: 'name' is too long"]
    assert problems([])[0].startswith("Input should be")


def test_a_field_too_many_is_answered_with_those_there_are() -> None:
    assert problems({"nmae": ""}, "items", "name") == ["nmae: is unknown; choose from: items, name"]
    assert problems({"nmae": ""}) == ["nmae: is unknown"]


def test_long_lists_and_long_names_are_cut() -> None:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate({f"{n:0200}": 1 for n in range(MAX_PROBLEMS + 2)})
    lines = describe_problems(field_problems(caught.value), "\n").split("\n")
    assert len(lines) == MAX_PROBLEMS + 1
    assert lines[-1] == "and 2 more"
    assert len(lines[0]) < 120
