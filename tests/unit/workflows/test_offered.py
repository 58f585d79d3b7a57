"""What of a plan is offered as a parameter, and what someone types of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.domain.errors import InvalidInput
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.workflows import (
    Draft,
    Varying,
    chosen_parameters,
    offered_parameters,
    template_of,
)


def a_plan(*actions: str, **step: Any) -> Plan:
    steps = [{"action": action, **step} for action in actions]
    return Plan.model_validate({"goal": "Do it", "steps": steps})


def offers(plan: Plan) -> list[tuple[str, str, str]]:
    return [(one.name, one.value, one.nature) for one in offered_parameters(plan)]


def test_files_dates_columns_texts_and_numbers_are_found_each_once() -> None:
    found = a_plan(
        'Read data/sales.csv and keep `region` "North" since 2024-01-01',
        "Write report.md with the top 10 of data/sales.csv, threshold 0.5",
    )
    assert offers(found) == [
        ("file", "data/sales.csv", "file"),
        ("file_2", "report.md", "file"),
        ("date", "2024-01-01", "date"),
        ("column", "region", "column"),
        ("text", "North", "text"),
        ("top", "10", "number"),
        ("threshold", "0.5", "number"),
    ]


def test_files_of_steps_and_columns_that_are_expected_come_along() -> None:
    expected = {"of": "file:in/a.parquet", "check": "no_missing", "column": "price"}
    found = a_plan("Look", files=["in/a.parquet", "b.ipynb"], expects=[expected])
    kinds = [(one.name, one.value, one.type) for one in offered_parameters(found)]
    assert kinds == [
        ("file", "in/a.parquet", "path"),
        ("notebook", "b.ipynb", "notebook"),
        ("column", "price", "text"),
    ]


@pytest.mark.parametrize("text", ["Repeat step 2", "Use v1.2", "It's what's there", "Say it"])
def test_what_is_part_of_something_else_is_not_offered(text: str) -> None:
    assert offers(a_plan(text)) == []


def test_names_that_mean_something_else_are_not_given() -> None:
    (offer,) = offered_parameters(a_plan("Make the copy 5 times {copy_value}"))
    assert offer.name == "copy_value_2"


@given(st.text(alphabet="ab1. `\"'/{}-_csv024\n", max_size=60))
def test_whatever_is_offered_can_be_saved(text: str) -> None:
    plan = a_plan(f"Do {text}")
    for one in offered_parameters(plan):
        made = template_of(
            Draft(name="x", parameters=[Varying(name=one.name, value=one.value)]), plan
        )
        assert f"{{{one.name}}}" in made.plan.text


def test_a_parameter_is_typed_with_its_value_or_by_the_name_it_is_offered_under() -> None:
    known = offered_parameters(a_plan('Read sales.csv for "North"'))
    assert chosen_parameters(["file", "area=North"], known) == [
        {"name": "file", "value": "sales.csv"},
        {"name": "area", "value": "North"},
    ]
    with pytest.raises(InvalidInput, match=r"not 'what'\. It could be: file, text"):
        chosen_parameters(["what"], known)
