"""Plain requests, as people type them: done as they are meant, or asked about, never done wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from cowork_jupyter.parts.guide.reading import RequestReading, read, sentence
from cowork_jupyter.parts.guide.request import Request

from ..desk import known
from .workspaces import SALES, WORKSPACES

DONE = 0.7
"""The share of plain requests that have to be done."""


def cases(name: str) -> Iterator[tuple[str, str, str]]:
    workspace = ""
    for line in (Path(__file__).parent / name).read_text("utf-8").splitlines():
        if line.startswith("["):
            workspace = line.strip("[]")
        elif line and not line.startswith("#"):
            text, _, meant = line.partition(" => ")
            yield workspace, text, meant


def _joined(requests: Iterable[Request]) -> str:
    return " ;; ".join(map(sentence, requests))


def understood(found: RequestReading) -> str:
    requests = [found.join.request] if found.join else []
    if done := _joined([*requests, *found.requests]):
        return done
    if found.choices:
        return " || ".join([f"? {found.question}", *map(_joined, found.choices)])
    return f"? unused: {', '.join(found.unused)}"


@pytest.mark.parametrize(
    ("workspace", "text", "meant"), [*cases("requests.txt"), *cases("confidence.txt")]
)
def test_request_is_done_right_or_asked_about(workspace: str, text: str, meant: str) -> None:
    assert understood(read(text, WORKSPACES[workspace])) == meant


def test_most_plain_requests_are_done() -> None:
    counts = Counter(meant.startswith("?") for _workspace, _text, meant in cases("requests.txt"))
    assert counts.total() >= 121
    assert counts[False] >= DONE * counts.total()


def test_alternatives_are_offered_not_done() -> None:
    found = read("revenue by flavour", [SALES])
    assert list(found.unused) == ["flavour"]
    assert "sum of `revenue` by `region` in `data/sales.csv`" in [
        sentence(one) for each in found.nearest for one in each
    ]


def test_names_of_other_tables_are_no_values() -> None:
    found = read("rows in sales", WORKSPACES["shop"])
    assert {one.table.path for one in found.requests} <= {"data/sales.csv"}
    # `grades` names a table, so it is not the column `Grade Level` of another.
    grades = known("grades.csv", "id,score,hours\n" + "1,50,2\n2,70,3\n" * 4)
    students = known("students.csv", "id,Grade Level\n" + "1,9\n2,10\n" * 4)
    assert not read("grades below 50", [students, grades]).requests


def test_tables_of_a_lower_rank_come_first() -> None:
    again = known("old.csv", "region,revenue\nnorth,3\nsouth,4\n")
    text = "total revenue by region"
    assert len(read(text, [SALES, again]).choices) == 2, "which of them is asked"
    (request,) = read(text, [SALES, again], [3, 1]).requests
    assert request.table == again
    (request,) = read(f"{text} in sales.csv", [SALES, again], [3, 1]).requests
    assert request.table == SALES
