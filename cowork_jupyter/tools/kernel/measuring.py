"""Measures expectations in a kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from ...domain.expectation_rules import partner
from ...domain.expectations import Expectation
from ...domain.measured import Measured

MEASURING = 60.0
"""Seconds that all checks together may take."""


def questions_of(expectations: Sequence[Expectation]) -> list[dict[str, JsonValue]]:
    return [_question(expectation) for expectation in expectations]


def _question(expectation: Expectation) -> dict[str, JsonValue]:
    asked = expectation.model_dump(include={"of", "check", "op", "value", "column"})
    table, column = partner(expectation) if expectation.check == "matched" else ("", "")
    return {**asked, "partner": table, "partner_column": column}


def measured(answer: Mapping[str, Any]) -> list[Measured]:
    return [Measured.model_validate(fact) for fact in answer["facts"]]
