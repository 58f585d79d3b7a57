"""Models write null for what they do not want to say."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from cowork_jupyter.domain.null_tolerant import NullTolerantModel
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
