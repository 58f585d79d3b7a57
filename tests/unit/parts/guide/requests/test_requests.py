"""Plain requests, as people type them: done as they are meant, or asked about, never done wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from cowork_jupyter.parts.guide.reading import RequestReading, read, sentence

from ..desk import known
from .workspaces import SALES, WORKSPACES

DONE = 0.7
"""The share of plain requests that have to be done."""


def cases() -> Iterator[tuple[str, str, str]]:
    workspace = ""
    for line in (Path(__file__).parent / "requests.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            workspace = line.strip("[]")
        elif line and not line.startswith("#"):
            text, _, meant = line.partition(" => ")
            yield workspace, text, meant


def said(found: RequestReading) -> str:
    requests = [found.join.request] if found.join else []
    if done := " ;; ".join(map(sentence, [*requests, *found.requests])):
        return done
    return f"? {found.question}" if found.choices else f"? unused: {', '.join(found.unused)}"


@pytest.mark.parametrize(("workspace", "text", "meant"), list(cases()))
def test_a_plain_request_is_done_right_or_asked_about(
    workspace: str, text: str, meant: str
) -> None:
    assert said(read(text, WORKSPACES[workspace])) == meant


def test_most_of_them_are_done() -> None:
    counts = Counter(meant.startswith("?") for _workspace, _text, meant in cases())
    assert counts.total() >= 121
    assert counts[False] >= DONE * counts.total()


@pytest.mark.parametrize(
    ("text", "unused"),
    [
        ("revenue growth by quarter", "growth"),
        ("10 % most expensive products", "%"),
        ("revenue per unit", "unit"),
        ("at most 5 regions by revenue", "at most"),
        ("salary of the oldest customer", "salary"),
        ("revenue minus units * price", "minus"),
        ("visitors in the last quarter", "last"),
    ],
)
def test_a_word_that_nothing_uses_is_named_and_nothing_is_done(text: str, unused: str) -> None:
    found = read(text, [SALES])
    assert (found.requests, found.choices, found.join) == ((), (), None)
    assert any(unused in word for word in found.unused)


def test_what_could_be_done_instead_is_offered_but_not_done() -> None:
    found = read("revenue by flavour", [SALES])
    assert list(found.unused) == ["flavour"]
    assert "sum of `revenue` by `region` in `data/sales.csv`" in [
        sentence(one) for each in found.nearest for one in each
    ]


def test_a_column_of_one_letter_is_one() -> None:
    points = known("points.csv", "a,b\n1,2\n3,4\n")
    assert [each.columns for each in read("histogram of b", [points]).requests] == [("b",)]
    assert not read("histogram of a", [points]).requests, "an article"


def test_a_column_comes_before_the_rows_of_a_table_of_that_name() -> None:
    rents = known("rents.csv", "town,rent\nOslo,3\nRome,\n")
    assert read("fill missing rent", [rents]).question == "Fill them with what?"


def test_whether_to_add_up_numbers_that_nobody_knows_is_asked() -> None:
    found = read("zeta by town", [known("t.csv", "town,zeta\nOslo,3\nRome,4.5\nOslo,5\nRome,1\n")])
    assert [one.aggregate for each in found.choices for one in each] == ["sum", "mean"]


def test_a_question_never_changes_anything() -> None:
    for text in ("is the data clean?", "how clean is it", "are duplicates removed?"):
        assert "clean" not in {one.verb for one in read(text, [SALES]).requests}


def test_the_name_of_another_table_is_no_value_of_this_one() -> None:
    found = read("rows in sales", WORKSPACES["shop"])
    assert {one.table.path for one in found.requests} <= {"data/sales.csv"}
    # `grades` names a table, so it is not the column `Grade Level` of another.
    grades = known("grades.csv", "id,score,hours\n" + "1,50,2\n2,70,3\n" * 4)
    students = known("students.csv", "id,Grade Level\n" + "1,9\n2,10\n" * 4)
    assert not read("grades below 50", [students, grades]).requests


def test_a_month_of_several_years_is_asked_about() -> None:
    rows = "".join(f"{year}-03-0{day},{day}\n" for year in (2023, 2024) for day in range(1, 9))
    found = read(
        "total visitors in march", [known("visits.csv", f"day,visitors\n{rows}", lines=17)]
    )
    spans = {one.filters[0].values for each in found.choices for one in each}
    assert spans == {("2024-03",), ("2023-03",)}


def test_tables_of_a_lower_rank_come_first() -> None:
    again = known("old.csv", "region,revenue\nnorth,3\nsouth,4\n")
    text = "total revenue by region"
    assert len(read(text, [SALES, again]).choices) == 2, "which of them is asked"
    (request,) = read(text, [SALES, again], [3, 1]).requests
    assert request.table == again
    (request,) = read(f"{text} in sales.csv", [SALES, again], [3, 1]).requests
    assert request.table == SALES


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("fill missing price with the median", "fill missing `price` with the median value"),
        ("trim spaces in region", "trim spaces in `region`"),
        ("unify the spelling of region", "unify the spelling of `region`"),
        (
            "clean it: remove duplicates and fill missing price with the mean",
            "remove duplicate rows; fill missing `price` with the mean value",
        ),
    ],
)
def test_cleaning_does_these_actions_to_these_columns_only(text: str, actions: str) -> None:
    (request,) = read(text, [SALES]).requests
    assert sentence(request) == f"clean `data/sales.csv`: {actions}"


def test_missing_values_are_never_filled_in_every_column() -> None:
    found = read("fill missing values with the median", [SALES])
    filled = [one.actions[0].columns for each in found.choices for one in each]
    assert filled == [("units",), ("price",), ("revenue",)]
