"""What the model may write."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from cowork_jupyter.domain.replies import Question, Review, StepResult, ToolCall


def test_a_call_needs_a_tool_and_goes_on_unless_told() -> None:
    call = ToolCall.model_validate({"tool": "read_file", "terminate": None})
    assert call.parameters == {}
    assert call.terminate is False
    with pytest.raises(ValidationError):
        ToolCall.model_validate({"tool": "", "parameters": {}})


def test_answer_must_be_an_option_unless_custom_is_allowed() -> None:
    raw = {"question": "Which?", "options": [{"label": "A", "value": "a"}]}
    assert Question.model_validate(raw).accepts("a")
    assert not Question.model_validate(raw).accepts("b")
    assert Question.model_validate({**raw, "allow_custom": True}).accepts("b")


def test_a_question_without_options_takes_any_text() -> None:
    assert Question(question="What name?").accepts("anything")


def test_a_review_has_a_verdict() -> None:
    with pytest.raises(ValidationError):
        Review.model_validate({"summary": "fine", "verdict": "maybe"})


def test_what_is_left_undone_is_told_apart_also_on_one_line() -> None:
    partly = StepResult(status="partly", summary="Read it", left_undone="the plot")
    assert partly.text == "Read it.\n\nLeft undone: the plot"
    assert StepResult(status="done", summary="Read it").text == "Read it"
