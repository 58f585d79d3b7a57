"""Expectations in words, and held against what was measured."""

from __future__ import annotations

from typing import Any

import pytest

from cowork_jupyter.domain.expectations import Expectation, Measured, unchecked
from cowork_jupyter.effects.checking import broken_expectation_text, check, expectation_text


def expect(check: str, **fields: Any) -> Expectation:
    return Expectation.model_validate({"of": "orders", "check": check, **fields})


WORDS = [
    (expect("rows", value=12431), "rows = 12,431"),
    (expect("rows", op="<=", value=12431), "rows ≤ 12,431"),
    (expect("rows", value=100, tolerance=0.05), "rows = 100 within 5 %"),
    (expect("columns", value=4), "columns = 4"),
    (expect("columns", value=["id", "region"]), "columns = id, region"),
    (expect("columns", op=">=", value=["id"]), "columns include id"),
    (expect("unique", column="id"), "id is unique"),
    (expect("unique"), "no repeated rows"),
    (expect("no_missing", column="region"), "no missing region"),
    (expect("no_missing"), "no missing values"),
    (expect("range", column="revenue", op=">=", value=0), "revenue ≥ 0"),
    (expect("range", column="share", value=[0, 1]), "0 ≤ share ≤ 1"),
    (expect("range", column="day", op="<", value="2025-01-01"), "day < 2025-01-01"),
    (expect("values", column="region", value=["north", "south"]), "region is one of north, south"),
    (expect("values", column="region", op="!=", value=["?"]), "region is none of ?"),
    (
        expect("sum", column="revenue", value=1234, tolerance=0.001),
        "sum of revenue = 1,234 within 0.1 %",
    ),
    (expect("type", column="id", value="int64"), "id is of type int64"),
    (
        expect("matched", column="customer_id", value="customers"),
        "customer_id matched in customers",
    ),
    (
        expect("matched", column="customer", value="customers.id"),
        "customer matched in customers.id",
    ),
]


@pytest.mark.parametrize(("one", "words"), WORDS, ids=[words for _, words in WORDS])
def test_people_read_what_is_expected(one: Expectation, words: str) -> None:
    assert expectation_text(one) == words


MET = [
    (expect("rows", value=3), Measured(value=3)),
    (expect("rows", op=">", value=2), Measured(value=3)),
    (expect("rows", value=100, tolerance=0.1), Measured(value=91)),
    (expect("sum", column="x", value=0.3), Measured(value=0.1 + 0.2)),
    (expect("columns", value=2), Measured(value=["a", "b"])),
    (expect("columns", op=">=", value=["b"]), Measured(value=["a", "b"])),
    (expect("type", column="x", value="int"), Measured(value="int64")),
    (expect("type", column="x", value="Int64"), Measured(value="int64")),
    (expect("type", column="x", op="!=", value="text"), Measured(value="int64")),
    (expect("type", column="x", value="date"), Measured(value="datetime64[ns, UTC]")),
    (expect("unique", column="x"), Measured(rows=3)),
]


@pytest.mark.parametrize(("one", "facts"), MET)
def test_what_is_as_expected_is_not_mentioned(one: Expectation, facts: Measured) -> None:
    checked = check(one, facts)
    assert (checked.met, checked.found, checked.broken) == (True, "", None)


BROKEN = [
    (expect("rows", value=12431), Measured(value=12612), "it is 12,612"),
    (expect("rows", value=100, tolerance=0.1), Measured(value=89), "it is 89"),
    (expect("sum", column="x", value=10), Measured(value=-2.5), "it is −2.5"),
    (expect("columns", value=2), Measured(value=["a"]), "it has 1"),
    (
        expect("columns", value=["a", "b"]),
        Measured(value=["a", "c"]),
        "it lacks b and it also has c",
    ),
    (expect("type", column="x", value="number"), Measured(value="object"), "it is object"),
    (
        expect("unique", column="id"),
        Measured(wrong=1, rows=9),
        "1 of 9 rows repeats an earlier one",
    ),
    (expect("no_missing", column="x"), Measured(wrong=12, rows=90), "12 are missing"),
    (
        expect("range", column="x", op=">=", value=0),
        Measured(wrong=2, rows=9, low=-5, high=3),
        "2 of 9 rows are not; it goes from −5 to 3",
    ),
    (
        expect("values", column="x", value=["n"]),
        Measured(wrong=2, rows=9, examples=["s", "w"]),
        "2 of 9 rows are not: s, w",
    ),
    (
        expect("matched", column="x", value="t"),
        Measured(wrong=2, rows=9, examples=["7"]),
        "2 of 9 rows have no partner: 7",
    ),
    (
        expect("sum", column="x", value=1),
        Measured(problem="wrong_type", why="str"),
        "it is not a number but str",
    ),
    (
        expect("sum", column="x", value=1),
        Measured(problem="no_column", why="x"),
        "it has no column x",
    ),
]


@pytest.mark.parametrize(("one", "facts", "found"), BROKEN)
def test_what_is_broken_says_what_is_the_case_instead(
    one: Expectation, facts: Measured, found: str
) -> None:
    broken = check(one, facts).broken
    assert broken
    assert broken.found == found


def test_a_broken_one_is_a_whole_sentence() -> None:
    broken = check(expect("rows", value=12431), Measured(value=12612)).broken
    assert broken
    assert broken_expectation_text(broken) == "orders: expected rows = 12,431 — it is 12,612"


def test_a_table_that_is_not_there_yet_breaks_nothing_unless_it_must_be() -> None:
    gone = Measured(problem="no_table", why="orders")
    assert check(expect("rows", value=3), gone).met is None
    checked = check(expect("rows", value=3), gone, must_exist=True)
    assert (checked.met, checked.found) == (False, "there is no table orders")


def test_what_could_not_be_checked_is_said_and_not_broken() -> None:
    checked = check(expect("rows", value=3), unchecked("no kernel is running"), must_exist=True)
    assert (checked.met, checked.broken) == (None, None)
    assert checked.found == "could not be checked: no kernel is running"


@pytest.mark.parametrize(
    ("one", "facts", "value"),
    [
        (expect("rows", value=3), Measured(value=5), 5),
        (expect("columns", value=3), Measured(value=["a"]), 1),
        (expect("sum", column="x", value=3), Measured(value=5.5), 5.5),
    ],
)
def test_a_number_can_be_taken_over(one: Expectation, facts: Measured, value: object) -> None:
    updated = check(one, facts).updated
    assert updated
    assert (updated.id, updated.value) == (one.id, value)
    assert check(updated, facts).met


def test_what_is_no_number_is_not_taken_over() -> None:
    assert check(expect("unique", column="x"), Measured(wrong=3, rows=9)).updated is None
    assert check(expect("rows", op="<", value=3), Measured(value=5)).updated is None
    assert check(expect("rows", value=3), Measured(value=3)).updated is None
