"""Saving a plan as a template: values become places, and what does not add up is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.domain.errors import InvalidInput
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.workflows import (
    Draft,
    Template,
    Varying,
    chosen_parameters,
    offered_parameters,
    template_of,
)

from .plans import RAW, plan, template


def saved(*parameters: Varying, name: str = "x", raw: dict[str, Any] = RAW) -> Template:
    draft = Draft(name=name, parameters=list(parameters))
    return template_of(draft, Plan.model_validate(raw))


def refusal(*parameters: Varying, **fields: Any) -> str:
    with pytest.raises(InvalidInput) as error:
        saved(*parameters, **fields)
    assert error.value.code == "invalid_template"
    return error.value.message


def test_each_value_becomes_a_place_wherever_it_stands() -> None:
    made = template().plan
    assert made.goal == "Clean {path} for {year}"
    assert made.steps[0].files == ["{path}"]
    assert made.steps[1].files == ["report_{year}.md"]
    assert made.risks == ["{path} may be large"]


def test_a_value_inside_a_longer_word_is_another_word() -> None:
    assert "keep 20245 and" in template().plan.steps[1].action


def test_longer_values_go_first_and_places_are_not_looked_into() -> None:
    parameters = [Varying(name="s", value="sales"), Varying(name="path", value="sales.csv")]
    made = saved(*parameters, raw={"goal": "sales in sales.csv", "steps": [{"action": "x"}]})
    assert made.plan.goal == "{s} in {path}"


def test_a_value_in_a_language_without_spaces_is_found() -> None:
    raw = {"goal": "分析销售数据", "steps": [{"action": "x"}]}
    assert saved(Varying(name="what", value="销售"), raw=raw).plan.goal == "分析{what}数据"


def test_ids_tools_and_dependencies_are_not_replaced() -> None:
    made = saved(
        Varying(name="what", value="look"),
        raw={
            "goal": "look",
            "steps": [
                {"id": "look", "action": "a", "tools_needed": ["look"]},
                {"id": "b", "action": "b", "depends_on": ["look"]},
            ],
        },
    ).plan
    assert (made.goal, made.steps[0].id) == ("{what}", "look")
    assert (made.steps[0].tools_needed, made.steps[1].depends_on) == (["look"], ["look"])


def test_without_words_of_the_users_name_and_goal_serve() -> None:
    made = template()
    assert (made.title, made.description) == ("Clean sales", "Clean {path} for {year}")


def test_a_goal_that_is_no_line_is_told_as_one() -> None:
    raw = {"goal": "Ring\x07 twice\n\nand go", "steps": [{"action": "x"}]}
    assert saved(raw=raw).description == "Ring twice and go"


def test_a_notebook_is_told_from_other_files() -> None:
    raw = {"goal": "g", "steps": [{"action": "Run a.ipynb", "files": ["a.ipynb"]}]}
    made = saved(Varying(name="notebook", value="a.ipynb"), raw=raw)
    assert made.schema["properties"]["notebook"]["format"] == "notebook-path"


def test_a_hand_made_plan_holds_its_places_already() -> None:
    raw = {"goal": "Read {path} as {1, 2}", "steps": [{"action": "x", "files": ["{path}"]}]}
    made = saved(Varying(name="path"), raw=raw)
    plan = made.ready_plan(made.validated({"path": "a.csv"}))
    assert (plan["goal"], plan["steps"][0]["files"]) == ("Read a.csv as {1, 2}", ["a.csv"])


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ([Varying(name="a", value="nowhere")], "parameters[0].value: 'nowhere' does not occur"),
        ([Varying(name="a", value="  ")], "parameters[0].value: is empty"),
        (
            [Varying(name="a", value="2024"), Varying(name="b", value="2024")],
            "parameters[1].value: another parameter has the same",
        ),
        (
            [Varying(name="a", value="2024"), Varying(name="a", value="sales.csv")],
            "parameters[1].name: 'a' is used twice",
        ),
        ([Varying(name="a")], "parameters[0]: '{a}' does not occur in the plan"),
        ([Varying(name="A b", value="2024")], "parameters[0].name"),
        ([Varying(name="schema", value="2024")], "parameters[0]: 'schema' means something else"),
        (
            [Varying(name="a", value="2024", type="path", default="../x")],
            "parameters[0]: its default must be a path inside the workspace",
        ),
    ],
)
def test_what_does_not_add_up_is_refused_with_its_place(
    parameters: list[Varying], why: str
) -> None:
    assert refusal(*parameters).startswith(why)


def test_a_name_that_the_plan_has_in_braces_already_is_refused() -> None:
    raw = {"goal": "Format {path} of 2024", "steps": [{"action": "x"}]}
    why = refusal(Varying(name="path", value="2024"), raw=raw)
    assert why.startswith("parameters[0].name: the plan already contains '{path}'")


@pytest.mark.parametrize("name", ["", "Clean", "../x", "a-b", "1a", "a" * 51, "a.json"])
def test_names_are_plain(name: str) -> None:
    assert refusal(name=name).startswith("name: ")


WORDS = st.text(st.sampled_from("ab1 {}.é"), min_size=1, max_size=6)


@given(goal=WORDS.filter(str.strip), values=st.lists(WORDS, max_size=3, unique=True))
def test_with_the_old_values_the_old_plan_comes_back(goal: str, values: list[str]) -> None:
    raw = {"goal": goal, "steps": [{"action": f"do {goal}", "reason": goal}]}
    parameters = [
        Varying(name=f"p{number}", value=value, type="text") for number, value in enumerate(values)
    ]
    try:
        made = saved(*parameters, raw=raw)
    except InvalidInput:
        return
    given = {one.name: one.value for one in parameters}
    if any(value != value.strip() for value in values):
        return  # what people fill in is stripped
    again = Plan.model_validate(made.ready_plan(made.validated(given)))
    assert again == Plan.model_validate(raw)


def test_the_plan_it_is_made_of_stays_as_it_is() -> None:
    before = plan()
    template_of(Draft(name="x", parameters=[Varying(name="y", value="2024")]), before)
    assert before == plan()


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
