"""Asking a kernel about what expectations are about, and reading its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from ...domain.expectations import Expectation, Measured, partner

MEASURING = 60.0
"""Seconds that all checks together may take."""


def questions_of(expectations: Sequence[Expectation]) -> list[dict[str, JsonValue]]:
    """What our code in the kernel is asked."""
    return [_question(expectation) for expectation in expectations]


def _question(expectation: Expectation) -> dict[str, JsonValue]:
    asked = expectation.model_dump(include={"of", "check", "op", "value", "column"})
    table, column = partner(expectation) if expectation.check == "matched" else ("", "")
    return {**asked, "partner": table, "partner_column": column}


def measured(answer: Mapping[str, Any]) -> list[Measured]:
    """What it answers, in the same order."""
    return [Measured.model_validate(fact) for fact in answer["facts"]]
