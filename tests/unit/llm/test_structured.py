"""Nearly JSON: read where it can mean one thing only, refused elsewhere, never misread."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cowork_jupyter.llm.structured import NotClear, read_nearly_json

scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=12)
numbers = st.floats(allow_nan=False, allow_infinity=False)
texts = st.text("ab\"'{}[],: \\\n", max_size=12)
values = st.recursive(
    scalars | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
objects = st.dictionaries(st.text(min_size=1, max_size=6), values, min_size=1, max_size=3)
thorough = settings(
    max_examples=2 * settings().max_examples, deadline=None, database=None, derandomize=True
)


def reading(text: str, **how: Any) -> Any:
    """What it means; "unclear" if nothing certain."""
    try:
        return read_nearly_json(text, **how)
    except NotClear:
        return "unclear"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1,}', {"a": 1}),
        ('{"a": [1, 2,],}', {"a": [1, 2]}),
        ("{'a': True, 'b': None, 'c': False}", {"a": True, "b": None, "c": False}),
        ('{a: "x"}', {"a": "x"}),
        ('{"a": {"b": [1', {"a": {"b": [1]}}),
        ('{"a": "df["x"].sum()", "b": 1}', {"a": 'df["x"].sum()', "b": 1}),
        ('{"a": "say "hi" to all"}', {"a": 'say "hi" to all'}),
        ('{"code": "x = {"a": "b"}"}', {"code": 'x = {"a": "b"}'}),
        ("{'a': 'don't', 'b': 2}", {"a": "don't", "b": 2}),
        ("{'a': 'tab\\t and \\x41'}", {"a": "tab\t and A"}),
        (r'{"a": "\d+\.\w"}', {"a": r"\d+\.\w"}),
        (r'{"a": "it\'s"}', {"a": "it's"}),
        ('{"a": "x\ny"}', {"a": "x\ny"}),
    ],
)
def test_one_clear_reading(text: str, value: Any) -> None:
    assert read_nearly_json(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"a"',
        '{"a":',
        '{"a": "x',
        '{"a": 1, "b"',
        '{"a": 1,',
        '{"a": 1} and more',
        '{"a": 1 "b": 2}',
        '{"a": NaN}',
        '{"a": perhaps}',
        '{"a": 01}',
        '{"a": 1, "a": 2}',
        '{"code": "x = {"a": "b"}',
        '{"a": "a 5" disk"}',
        "{'a': {1, 2}}",
        "{'a': (1, 2)}",
        "{'a': b'x'}",
        "[" * 500,
    ],
)
def test_what_is_not_clear_is_refused(text: str) -> None:
    assert reading(text) == "unclear"


def test_nothing_is_added_to_what_was_cut_off() -> None:
    assert reading('{"path": "a"', may_close=False) == "unclear"
    assert reading('{"path": "a",}', may_close=False) == {"path": "a"}


@thorough
@given(objects, st.sampled_from([None, 1]))
def test_json_means_what_it_means(value: dict[str, Any], indent: int | None) -> None:
    for text in (json.dumps(value, indent=indent), json.dumps(value, ensure_ascii=False)):
        assert reading(text) == value


@thorough
@given(objects)
def test_one_slip_changes_nothing(value: dict[str, Any]) -> None:
    written = json.dumps(value)
    assert reading(written[:-1] + ",}") == value
    assert reading(written[:-1]) == value
    if repr(value).startswith("{'"):
        assert reading(repr(value)) == value


@thorough
@given(objects, st.data())
def test_a_lost_character_never_makes_another_call_of_it(
    value: dict[str, Any], data: st.DataObject
) -> None:
    """Brackets and commas outside of texts are what can be forgotten without a change of sense."""
    written = json.dumps({"tool": "x", "parameters": value})
    place = data.draw(st.integers(0, len(written) - 1))
    found = reading(written[:place] + written[place + 1 :])
    if written[place] in "{}[]," and found != "unclear":
        flat = re.sub(r"[\s{}\[\],]", "", json.dumps(found))
        assert flat == re.sub(r"[\s{}\[\],]", "", written)


@thorough
@given(st.text(max_size=60) | st.text("{}[]\"':,\\ a1u", max_size=30))
def test_no_text_is_too_strange(text: str) -> None:
    reading(text)
