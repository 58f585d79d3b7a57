"""`%cowork expectations`: what is pinned, and whether it is so now."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from ...domain.expectations import FILE, Expectation, is_about_files
from ...effects.checking import check, in_words
from ...tools.kernel.inside.checks import measure
from ...tools.kernel.state import measure_questions, parse_measured

NOTHING = "Nothing is pinned here yet. Pin a line of the data effects on a card."
_MARKS = {True: "✓", False: "✕", None: "?"}


def standing(get: Callable[[str], Any]) -> str:
    """Each of them with a mark, as text. `get` asks for something of the conversation.

    Variables are looked at here: this very cell keeps the kernel busy for everybody else.
    """
    expected = [Expectation.model_validate(raw) for raw in get("expectations")["items"]]
    return "\n".join(_lines(expected, get)) or NOTHING


def _lines(expected: list[Expectation], get: Callable[[str], Any]) -> Iterator[str]:
    variables = [expectation for expectation in expected if not is_about_files(expectation)]
    facts = parse_measured(json.loads(measure(measure_questions(variables)))) if variables else []
    here = {
        expectation.id: check(expectation, fact)
        for expectation, fact in zip(variables, facts, strict=True)
    }
    there: dict[str, Any] = {}
    if len(variables) < len(expected):
        items = get("expectations/check")["items"]
        there = {item["expectation"]["id"]: item for item in items}
    for expectation in expected:
        known = here.get(expectation.id)
        if known:
            yield _line(expectation, known.met, known.found)
        elif expectation.id in there:
            yield _line(expectation, there[expectation.id]["met"], there[expectation.id]["found"])


def _line(expectation: Expectation, met: bool | None, found: str) -> str:
    said = f" — {found}" if found else ""
    return f"{_MARKS[met]} {expectation.of.removeprefix(FILE)}: {in_words(expectation)}{said}"
