"""Parameters of foreign tools: checked, and bounded whatever the schema says."""

from __future__ import annotations

from typing import Any

import pytest

from cowork_jupyter.parts.mcp.schema import parameters_of, problems_of

WHOLE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "x" * 1000, "pattern": "^(a+)+$"},
        "count": {"type": "integer", "minimum": 1, "default": 3},
        "kind": {"enum": ["a", "b"]},
        "pattern": {"type": "string"},
    },
    "required": ["text"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "'text' is a required property"),
        ({"text": 3}, "'text': 3 is not of type 'string'"),
        ({"text": "a", "count": 0}, "'count': 0 is less than the minimum of 1"),
        ({"text": "a", "kind": "c"}, "'kind': 'c' is not one of ['a', 'b']"),
        ({"text": "a", "other": 1}, "Additional properties are not allowed"),
    ],
)
def test_what_does_not_fit_is_said(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match="1 validation error") as error:
        parameters_of("x", WHOLE).model_validate(given)
    assert problem in str(error.value)


def test_what_fits_arrives_as_it_was() -> None:
    given = {"text": "a", "count": 2, "kind": "b", "pattern": "model_dump"}
    assert parameters_of("x", WHOLE).model_validate(given).model_dump() == given
    odd = {"model_config": 1, "copy": None, "nested": {"a": [1, {"b": None}]}}
    assert parameters_of("x", {"type": "object"}).model_validate(odd).model_dump() == odd


def test_a_pattern_that_takes_for_ever_is_not_tried() -> None:
    parameters_of("x", WHOLE).model_validate({"text": "a" * 60 + "b"})


def test_the_model_is_told_little_and_nothing_hidden() -> None:
    hidden = {"type": "object", "properties": {"a": {"description": "b\u200bc\nd", "title": "t"}}}
    told = parameters_of("x", hidden).model_json_schema()
    assert told["properties"]["a"] == {"description": "b⟨U+200B⟩c d", "title": "t"}
    told = parameters_of("x", WHOLE).model_json_schema()
    assert len(told["properties"]["text"]["description"]) == 200
    assert "pattern" not in told["properties"]["text"]
    assert "pattern" in told["properties"], "there it is a name"
    many = {"type": "object", "properties": {"a": {"enum": [f"word{n}" for n in range(99)]}}}
    assert "enum" not in parameters_of("x", many).model_json_schema()["properties"]["a"]
    assert problems_of({"a": "word100"}, parameters_of("x", many).wanted), "but it is checked"


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "array"}, "not an object"),
        ({"type": "object", "properties": []}, "name"),
        ({"type": "object", "properties": {"a b": {}}}, "name"),
        ({"type": "object", "properties": {"x" * 65: {}}}, "name"),
    ],
)
def test_what_cannot_be_offered_is_refused(schema: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parameters_of("x", schema)


def test_parts_that_refer_to_each_other_over_and_over_are_refused() -> None:
    parts = {
        f"p{n}": {"allOf": [{"$ref": f"#/$defs/p{n + 1}"}, {"$ref": f"#/$defs/p{n + 1}"}]}
        for n in range(40)
    }
    schema = {"type": "object", "$defs": {**parts, "p40": {}}, "properties": {"a": parts["p0"]}}
    with pytest.raises(ValueError, match="reference each other too often"):
        parameters_of("x", schema)


def test_a_part_that_refers_to_itself_is_fine() -> None:
    tree = {
        "type": "object",
        "properties": {"left": {"$ref": "#/$defs/tree"}, "n": {"type": "integer"}},
    }
    schema = {
        "type": "object",
        "$defs": {"tree": tree},
        "properties": {"root": {"$ref": "#/$defs/tree"}},
    }
    made = parameters_of("x", schema)
    made.model_validate({"root": {"left": {"left": {"n": 1}}}})
    inlined = {"type": "object", "properties": {"left": {}, "n": {"type": "integer"}}}
    assert made.model_json_schema() == {"type": "object", "properties": {"root": inlined}}
    with pytest.raises(ValueError, match=r"root\.left\.n"):
        made.model_validate({"root": {"left": {"n": "one"}}})


def test_nothing_is_fetched_for_a_schema() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x.json"}}}
    parameters_of("x", schema).model_validate({"a": 1})


def test_a_schema_that_is_none_is_said_when_it_is_used() -> None:
    with pytest.raises(ValueError, match="not described in JSON Schema"):
        parameters_of("x", {"type": "object", "required": 3}).model_validate({})
