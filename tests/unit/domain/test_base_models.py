"""Models write null for what they do not want to say."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from cowork_jupyter.domain.base_models import (
    MAX_PROBLEMS,
    NullTolerantModel,
    describe_problems,
    field_problems,
)
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.domain.replies import Question, Review, ToolCalls

NULLS: list[tuple[type[NullTolerantModel], dict[str, Any], dict[str, Any]]] = [
    (
        Plan,
        {"goal": "g", "steps": [{"action": "a"}]},
        {
            "goal": "g",
            "risks": None,
            "estimated_total_time": None,
            "steps": [{"action": "a", "reason": None, "estimated_time": None, "status": None}],
        },
    ),
    (
        Question,
        {"question": "q", "options": [{"label": "a", "value": "b"}]},
        {
            "question": "q",
            "context": None,
            "severity": None,
            "allow_custom": None,
            "options": [{"label": "a", "value": "b", "description": None}],
        },
    ),
    (
        Review,
        {"summary": "s", "verdict": "approve", "findings": [{"comment": "c"}]},
        {
            "summary": "s",
            "verdict": "approve",
            "findings": [{"comment": "c", "suggestion": None, "file": None, "severity": None}],
        },
    ),
    (
        ToolCalls,
        {"tools": [{"tool": "t"}]},
        {"tools": [{"tool": "t", "parameters": None}], "terminate": None},
    ),
]


@pytest.mark.parametrize(("kind", "short", "with_nulls"), NULLS, ids=lambda one: str(one)[:20])
def test_null_is_as_good_as_left_out(
    kind: type[NullTolerantModel], short: dict[str, Any], with_nulls: dict[str, Any]
) -> None:
    assert kind.model_validate(with_nulls) == kind.model_validate(short)


def test_what_must_be_there_cannot_be_null() -> None:
    with pytest.raises(ValidationError, match="required"):
        Question.model_validate({"question": None})
    with pytest.raises(ValidationError):
        Question.model_validate(None)


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
