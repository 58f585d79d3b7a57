"""A workflow: what may be declared, what it takes, and the request that comes of it."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from cowork_jupyter.domain.errors import InvalidInput, NotFound
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.workflows import (
    FilePath,
    Line,
    NotebookPath,
    Parameters,
    Workflow,
    WorkflowRegistry,
)
from cowork_jupyter.workflows.workflow import quoted


class Given(Parameters):
    notebook: NotebookPath
    paths: list[FilePath] = Field([], max_length=3)
    note: Line = ""


class Loose(Parameters):
    """What a plug-in might declare, with nothing checked."""

    text: str


REQUEST = """
Look at {notebook}.
  Files: {paths}
Note: {note}

A set like {1, 2} stays.
"""


def declare(**changes: Any) -> Workflow:
    fields = {
        "name": "look",
        "title": "Look",
        "description": "Looks.",
        "category": "code",
        "role": AgentRole.PLANNER,
        "parameters": Given,
        "request": REQUEST,
    }
    return Workflow(**cast("Any", {**fields, **changes}))


def rendered(**raw: Any) -> str:
    workflow = declare()
    return workflow.render(workflow.validated(raw))


def problems(**raw: Any) -> dict[str, str]:
    with pytest.raises(InvalidInput) as refusal:
        declare().validated(raw)
    assert refusal.value.code == "bad_parameters"
    found = {one["field"]: one["why"] for one in refusal.value.details["problems"]}
    assert all(field in refusal.value.message for field in found)
    return found


def test_parameters_stand_in_their_places() -> None:
    assert rendered(notebook="a b.ipynb", paths=["x.py", "y.py"], note="soon") == (
        'Look at "a b.ipynb".\n  Files: ["x.py", "y.py"]\nNote: "soon"\n\nA set like {1, 2} stays.'
    )


def test_a_line_whose_parameter_was_left_empty_is_left_out() -> None:
    assert rendered(notebook="a.ipynb") == 'Look at "a.ipynb".\n\nA set like {1, 2} stays.'


def test_what_looks_like_a_place_in_a_value_is_no_place() -> None:
    assert 'Note: "{notebook}"' in rendered(notebook="a.ipynb", note="{notebook}")


@given(st.text(min_size=1))
def test_no_text_leaves_its_quotes_or_its_line(text: str) -> None:
    workflow = declare(parameters=Loose, request="Before {text} after")
    request = workflow.render(Loose(text=text))
    assert len(request.splitlines()) == 1
    assert request.startswith('Before "')
    assert request.endswith('" after')
    assert json.loads(request.removeprefix("Before ").removesuffix(" after")) == text


@pytest.mark.parametrize("text", ["\ud800", "\x85", "\u2028", "\x7f", "\r\n"])
def test_quoting_hides_what_ends_lines_and_halves_of_characters(text: str) -> None:
    assert quoted(text).isascii()
    assert json.loads(quoted(text)) == text


@pytest.mark.parametrize("note", ["Größe 📈", "می‌خواهم", "日本語"])
def test_all_languages_are_welcome(note: str) -> None:
    assert f'"{note}"' in rendered(notebook="a.ipynb", note=note)


@pytest.mark.parametrize("note", ["two\nlines", "a\u2028b", "a\x85b", "nul\0", "tab\tbed"])
def test_what_is_more_than_one_line_is_refused(note: str) -> None:
    assert problems(notebook="a.ipynb", note=note) == {
        "note": "must be one line, without control characters"
    }


@pytest.mark.parametrize("path", ["/etc/x.ipynb", "../x.ipynb", "a/../../x.ipynb"])
def test_a_path_that_leads_elsewhere_is_refused(path: str) -> None:
    assert "inside the workspace" in problems(notebook=path)["notebook"]


def test_each_bad_parameter_is_named_with_the_reason() -> None:
    found = problems(paths=["ok.py", ""], note=7, notbook="a.ipynb")
    assert set(found) == {"notebook", "paths[1]", "note", "notbook"}
    assert found["notebook"] == "is missing"
    assert found["notbook"] == "is unknown; choose from: notebook, paths, note"
    assert "string" in found["note"]


def test_an_error_stays_readable_however_much_is_wrong() -> None:
    with pytest.raises(InvalidInput) as refusal:
        declare().validated({f"{number}{'x' * 5_000}": 1 for number in range(1_000)})
    assert len(refusal.value.message) < 5_000


def test_a_file_that_is_no_notebook_is_refused() -> None:
    assert ".ipynb" in problems(notebook="a.py")["notebook"]


def test_broken_characters_are_refused_by_name() -> None:
    assert set(problems(notebook="\ud800.ipynb")) == {"notebook"}


def test_the_form_can_tell_paths_from_text() -> None:
    fields = declare().schema["properties"]
    assert fields["notebook"]["format"] == "notebook-path"
    assert fields["paths"]["items"]["format"] == "path"
    assert "format" not in fields["note"]
    assert declare().schema["required"] == ["notebook"]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"name": "Look At"}, "its name must consist of lower-case letters"),
        ({"name": "../look"}, "its name must consist of lower-case letters"),
        ({"title": " "}, "its title must be a text"),
        ({"category": None}, "its category must be a text"),
        ({"role": "planner"}, "its role must be an AgentRole"),
        ({"parameters": dict}, "subclass of Parameters"),
        ({"parameters": None}, "subclass of Parameters"),
        ({"request": "Look at {notebook} {paths} {nothing}."}, "do not both name: note, nothing"),
    ],
)
def test_a_declaration_that_does_not_add_up_is_refused(
    changes: dict[str, Any], complaint: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=complaint):
        declare(**changes)


def test_a_name_is_taken_once() -> None:
    registry = WorkflowRegistry([declare()])
    with pytest.raises(ValueError, match="already"):
        registry.add(declare(title="Another"))
    assert registry["look"].title == "Look"


def test_an_unknown_name_suggests_a_similar_one() -> None:
    registry = WorkflowRegistry([declare()])
    with pytest.raises(NotFound, match="Did you mean 'look'"):
        registry.named("lok")
    with pytest.raises(NotFound, match=r"no workflow 'x'\.$"):
        registry.named("x")


def test_categories_come_in_the_order_of_their_first_workflow() -> None:
    registry = WorkflowRegistry(
        [
            declare(name="a", category="time_series"),
            declare(name="b", category="code"),
            declare(name="c", category="time_series"),
        ]
    )
    found = [
        (one.name, one.label, [each.name for each in one.workflows])
        for one in registry.categories()
    ]
    assert found == [("time_series", "Time series", ["a", "c"]), ("code", "Code", ["b"])]
