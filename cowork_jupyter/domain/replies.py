"""Structured replies of a model other than a plan."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from .base_models import NullTolerantModel
from .figures import Assumptions
from .plan import Plan


class ToolCall(NullTolerantModel):
    """The model wants one tool to run."""

    tool: Annotated[str, Field(min_length=1)]
    parameters: dict[str, Any] = {}
    terminate: bool = False


class ToolCalls(NullTolerantModel):
    """The model wants several tools to run; they answer together."""

    tools: Annotated[list[ToolCall], Field(min_length=1, max_length=16)]
    terminate: bool = False


class Option(NullTolerantModel):
    """One answer that a question offers."""

    label: str
    value: str
    description: str = ""


class Question(NullTolerantModel):
    """The model wants the user to decide."""

    type: Literal["question"] = "question"
    format_version: str = "1.0"
    question: Annotated[str, Field(min_length=1)]
    context: str = ""
    severity: Literal["critical", "major", "minor"] = "major"
    options: list[Option] = []
    default: str | None = None
    allow_custom: bool = False
    unused: SkipJsonSchema[list[str]] = []
    """Words of the request that the guide did not use. No model is told of it."""

    def accepts(self, value: str) -> bool:
        """Without options, any text is an answer."""
        offered = [option.value for option in self.options]
        return value in offered or self.allow_custom or not offered

    def label_of(self, value: str) -> str:
        """The label the user saw; their own text is its own label."""
        return next((option.label for option in self.options if option.value == value), value)


class Finding(NullTolerantModel):
    """One remark of a review."""

    file: str = ""
    line: int | None = None
    severity: str = "minor"
    comment: str
    suggestion: str = ""

    @property
    def text(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part)
        text = " ".join(part for part in (place, f"({self.severity}): {self.comment}") if part)
        return f"{text} Suggestion: {self.suggestion}" if self.suggestion else text


_MATTERS = frozenset({"critical", "blocker", "major", "high", "medium"})
"""Severities that require action, as models call them."""


class Review(NullTolerantModel):
    """What the reviewer delivers."""

    type: Literal["review"] = "review"
    format_version: str = "1.0"
    summary: str
    verdict: Literal["approve", "request_changes"]
    findings: list[Finding] = []

    @property
    def asks_for_changes(self) -> bool:
        """Whether it does not approve, or has a severe finding nevertheless."""
        severe = any(finding.severity.strip().lower() in _MATTERS for finding in self.findings)
        return self.verdict != "approve" or severe

    @property
    def text(self) -> str:
        head = f"Review: {self.verdict.replace('_', ' ')}. {self.summary}"
        return "\n".join([head, *(f"- {finding.text}" for finding in self.findings)])


class StepResult(NullTolerantModel):
    """How the work on a step, or on a task that was handed over, has ended."""

    type: Literal["result"] = "result"
    format_version: str = "1.0"
    status: Literal["done", "partly", "failed"]
    summary: Annotated[str, Field(min_length=1)]
    """What was done and found, or why it could not be done."""
    left_undone: str = ""
    assumptions: Assumptions = []

    @property
    def text(self) -> str:
        if not self.left_undone:
            return self.summary
        stop = "." if self.summary[-1].isalnum() else ""  # for where it is all on one line
        return f"{self.summary}{stop}\n\nLeft undone: {self.left_undone}"


Structured = ToolCalls | Plan | Question | Review | StepResult
"""A single tool call is a `ToolCalls` of one."""
