"""The reply parser: any stream, cut anywhere, shows the same and means the same."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from types import FrameType
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cowork_jupyter.domain.messages import Cut
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.domain.redaction import without_surrogates
from cowork_jupyter.domain.replies import Question, Review, StepResult, ToolCall, ToolCalls
from cowork_jupyter.llm.reply import Delta, ReasoningDelta, Reply, TextDelta
from cowork_jupyter.llm.reply_parser import ReplyParser

CALL = {"tool": "read_file", "parameters": {"path": "a.py"}, "terminate": False}
OTHER = {"tool": "grep", "parameters": {"pattern": "x"}}
PLAN = {"type": "plan", "goal": "Clean up", "steps": [{"action": "Read"}, {"action": "Write"}]}
QUESTION = {"type": "question", "question": "Which?", "options": [{"label": "A", "value": "a"}]}
REVIEW = {"type": "review", "summary": "Fine", "verdict": "approve", "findings": []}
RESULT = {"type": "result", "status": "partly", "summary": "Read it", "left_undone": "the plot"}


def run(*pieces: str) -> tuple[Reply, str, str]:
    """Feed the pieces; the reply, and what was shown as text and as reasoning."""
    parser = ReplyParser()
    deltas: list[Delta] = []
    for piece in pieces:
        deltas += parser.feed(piece)
    deltas += parser.finish()
    text = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    reasoning = "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta))
    return parser.reply, text, reasoning


def parse(text: str) -> Reply:
    """The reply, the same whole and letter by letter."""
    reply, shown, thought = run(text)
    assert (reply, shown, thought) == run(*text)
    assert (shown, thought) == (reply.text, reply.reasoning)
    return reply


def is_whole(parser: ReplyParser) -> bool:
    return parser.is_whole


def calls(reply: Reply) -> list[str]:
    assert isinstance(reply.structured, ToolCalls), reply
    return [call.tool for call in reply.structured.tools]


def fenced(value: Any, language: str = "json") -> str:
    return f"```{language}\n{json.dumps(value, indent=2)}\n```"


# Plain text


def test_text_is_shown_piece_by_piece() -> None:
    parser = ReplyParser()
    assert parser.feed("Hello") == [TextDelta("Hello")]
    assert parser.feed(", wor") == [TextDelta(", wor")]
    assert parser.feed("ld.") == [TextDelta("ld.")]


@pytest.mark.parametrize(
    "text",
    [
        "a < b and {x: 1} stays",
        "use {braces} here",
        "{x} at the start",
        "{}",
        "{ 'a': 1 }",
        '{"name": "Ada", "age": 36}',
        '{"results": [\n{"tool": "hammer"}\n]}',
        '{"type": "object", "properties": {}}',
        "```python\nprint({'a': 1})\n```",
        '```python\n\nx = 1\n{"tool": "read_file"}\n```\nand on',
        '```json\n{"rows": [1, 2]}\n```',
        '```json\n// first\n{"tool": "x"}\n```',
        "```\n```",
        "```inline``` code",
        "```x = 1``` code",
        "`{` and `<think>` as words",
        "`a` at the start",
        "``a`` too",
        "````markdown\n```json\n{}\n```\n````",
        "```{python}\n1 + 1\n```",
        "x = <thinking> <",
        "[1, 2]",
        "The set {1, 2}\n{3, 4}",
        "```",
        "```json",
        '{"a": "unclosed',
        '{"type": ["plan"]}',
        '{"type": "text", "text": 5}',
        "<",
        "``",
    ],
)
def test_ordinary_text_stays_text(text: str) -> None:
    reply = parse(text)
    assert (reply.text, reply.structured, reply.problem) == (text, None, None)


def test_space_around_the_text_is_not_shown() -> None:
    assert parse("\n\n  Hello  \n world \n\n").text == "Hello  \n world"


@pytest.mark.parametrize("before", ["Let me look: ", "I will read it. ", "Calling:"])
def test_json_after_prose_on_the_same_line_is_found(before: str) -> None:
    parser = ReplyParser()
    deltas = parser.feed(before + '{"tool": "read_file", "parameters": {"path": "a.py"}}')
    deltas += parser.finish()
    assert isinstance(parser.reply.structured, ToolCalls)
    assert parser.reply.text == before.strip()
    assert "".join(delta.text for delta in deltas) == before.strip()


def test_json_quoted_in_prose_is_text() -> None:
    parser = ReplyParser()
    parser.feed('Write `{"tool": "read_file"}` to call it.')
    parser.finish()
    assert parser.reply.structured is None


@pytest.mark.parametrize(
    ("start", "shown"),
    [
        ("if{", "if{"),
        ("if {x", "if {x"),
        ("{x", "{x"),
        ("```python\nx", "```python\nx"),
        ('```json\n{"rows": ' + "1" * 2000, None),
        ('{"rows": "' + "x" * 2000, None),
    ],
)
def test_what_cannot_be_ours_is_shown_at_once(start: str, shown: str | None) -> None:
    deltas = ReplyParser().feed(start)
    assert "".join(delta.text for delta in deltas) == (shown or start)


def test_foreign_json_streams_on_once_it_is_known() -> None:
    parser = ReplyParser()
    parser.feed('{"rows": "' + "x" * 2000)
    assert parser.feed("more") == [TextDelta("more")]
    assert parser.feed('"}\nend') == [TextDelta('"}\nend')]


# Structured replies


@pytest.mark.parametrize("language", ["json", "", "python", "tool_code"])
@pytest.mark.parametrize("before", ["", "Let me look.\n\n", "One\n"])
@pytest.mark.parametrize("after", ["", "\n\nDone."])
def test_a_call_is_found_bare_and_in_fences(language: str, before: str, after: str) -> None:
    for source in (json.dumps(CALL), json.dumps(CALL, indent=2), fenced(CALL, language)):
        reply = parse(before + source + after)
        assert calls(reply) == ["read_file"]
        assert reply.text == before.strip()
        assert (before + source).startswith(reply.raw)
        assert "Done" not in reply.raw


@pytest.mark.parametrize("thought", ["<think>hm</think>", "<think>a < b </thin </think>"])
def test_reasoning_is_not_kept_as_text_of_a_reply_with_a_problem(thought: str) -> None:
    broken = '{"tool": "read_file", "parameters": "<think>no tag here</think>"}'
    reply = parse(f"Well. {thought}{broken} <")
    assert reply.problem
    assert reply.raw == f"Well. {broken}"
    assert parse("<think>never closed").raw == ""


def test_no_line_break_is_needed_in_a_fence() -> None:
    assert calls(parse(f"```json {json.dumps(CALL)}```")) == ["read_file"]
    assert calls(parse(f"```{json.dumps(CALL)}```")) == ["read_file"]


def test_stray_text_after_json_in_a_fence() -> None:
    reply = parse(f"```json\n{json.dumps(CALL)}\nthat was it\n```\nBye.\n```python\n1\n```")
    assert calls(reply) == ["read_file"]
    assert reply.text == ""
    words = parse('```json\n{"type": "text", "text": "Hi"}\n```\nBye.')
    assert words.text == "Hi\nBye."


@pytest.mark.parametrize("value", [{"type": "result", "value": 3}, {"type": "result"}])
def test_what_only_calls_itself_a_result_is_text(value: Any) -> None:
    reply = parse(json.dumps(value))
    assert (reply.structured, reply.text) == (None, json.dumps(value))


@pytest.mark.parametrize("missing", ["status", "summary"])
def test_a_result_of_a_step_says_what_became_of_it(missing: str) -> None:
    reply = parse(json.dumps({name: RESULT[name] for name in RESULT if name != missing}))
    assert missing in (reply.problem or "")


@pytest.mark.parametrize(
    ("value", "kind"),
    [(PLAN, Plan), (QUESTION, Question), (REVIEW, Review), (RESULT, StepResult)],
)
def test_other_structured_replies(value: dict[str, Any], kind: type) -> None:
    for source in (json.dumps(value), fenced(value), json.dumps(value, indent=1)):
        reply = parse("Here it is:\n" + source)
        assert isinstance(reply.structured, kind)
        assert reply.text == "Here it is:"


def test_the_telling_key_may_come_last() -> None:
    content = "x" * 9000
    source = json.dumps({"parameters": {"content": content}, "tool": "create_file"})
    assert calls(parse(source)) == ["create_file"]
    assert calls(parse('{"thought": "hm", "tool": "grep", "parameters": {}}')) == ["grep"]
    reply = parse(json.dumps({"goal": "g", "steps": [{"action": "a"}], "type": "plan"}))
    assert isinstance(reply.structured, Plan)


@pytest.mark.parametrize("before", ["", "Let me see.\n"])
@pytest.mark.parametrize("between", ["\n", "\n\n", " ", "", ", ", ",\n", "\nResult: 42\n"])
def test_a_reply_is_whole_with_its_first_call(before: str, between: str) -> None:
    for second in (json.dumps(CALL), json.dumps(OTHER), fenced(OTHER), json.dumps(PLAN), "{,}"):
        for first in (json.dumps(CALL), fenced(CALL)):
            reply = parse(before + first + between + second)
            assert calls(reply) == ["read_file"]
            assert reply.text == before.strip()
            assert "42" not in reply.raw


def test_copies_of_a_call_are_one_call() -> None:
    assert calls(parse("\n".join([json.dumps(CALL)] * 5))) == ["read_file"]


def test_a_stream_can_be_closed_once_the_reply_is_whole() -> None:
    parser = ReplyParser()
    parser.feed(json.dumps(CALL)[:-1])
    assert not is_whole(parser)
    parser.feed("}")
    assert is_whole(parser)

    parser = ReplyParser()
    parser.feed("I could call\n" + json.dumps(CALL))
    assert not is_whole(parser), "it may turn out to have been a thought"
    parser.feed("x" * 2_000)
    assert is_whole(parser)
    parser.feed("</think>")
    parser.finish()
    assert calls(parser.reply) == ["read_file"]

    parser = ReplyParser()
    parser.feed(f"<think>I could</think>Yes.\n{json.dumps(CALL)}")
    assert is_whole(parser)


def test_where_code_is_asked_for_the_first_block_of_python_is_the_whole_reply() -> None:
    parser = ReplyParser(ends_with_code=True)
    parser.feed("I use `x`:\n```\nnot this\n```\nbut\n```python\nprint('```')\n")
    assert not is_whole(parser)
    parser.feed("```")
    assert is_whole(parser)
    parser.feed("\nIt prints 42.")
    parser.finish()
    assert parser.reply.text.endswith("print('```')\n```")
    parser = ReplyParser()
    parser.feed("```python\n1\n```")
    assert not is_whole(parser)


def test_several_calls_in_one_object() -> None:
    reply = parse(json.dumps({"tools": [CALL, OTHER], "terminate": True}))
    assert calls(reply) == ["read_file", "grep"]
    assert reply.structured == ToolCalls(
        tools=[ToolCall.model_validate(CALL), ToolCall.model_validate(OTHER)], terminate=True
    )


@pytest.mark.parametrize(
    ("values", "terminate"),
    [
        ([{**CALL, "terminate": True}], True),
        ([{"tools": [CALL, {**OTHER, "terminate": True}]}], True),
        ([{**CALL, "terminate": None}], False),
    ],
)
def test_the_last_call_says_whether_that_was_all(values: list[Any], terminate: bool) -> None:
    reply = parse("\n".join(json.dumps(value) for value in values))
    assert isinstance(reply.structured, ToolCalls)
    assert reply.structured.terminate is terminate


def test_a_text_object_is_text() -> None:
    reply = parse(json.dumps({"type": "text", "text": 'Hi {"tool": "x"}\n```'}))
    assert (reply.text, reply.structured) == ('Hi {"tool": "x"}\n```', None)
    both = parse(json.dumps({"type": "text", "text": "First"}) + "\n" + json.dumps(CALL))
    assert (both.text, calls(both)) == ("First", ["read_file"])


@pytest.mark.parametrize(
    "content",
    [
        "braces } { and ``` fences\n```python\n",
        "<think>no</think>",
        'quotes " and \\ backslash \\" end\\',
        '{"tool": "inner"}',
        "ünï€ 🎉 \x00 \t",
    ],
)
def test_strings_inside_json_may_hold_anything(content: str) -> None:
    value = {"tool": "create_file", "parameters": {"content": content}}
    for source in (json.dumps(value), json.dumps(value, ensure_ascii=False), fenced(value)):
        reply = parse("Writing.\n" + source)
        assert isinstance(reply.structured, ToolCalls)
        assert reply.structured.tools[0].parameters == {"content": content}
        assert reply.text == "Writing."


def test_raw_line_breaks_in_strings_are_accepted() -> None:
    reply = parse('{"tool": "run_code", "parameters": {"code": "a = 1\nb = 2\t#"}}')
    assert isinstance(reply.structured, ToolCalls)
    assert reply.structured.tools[0].parameters == {"code": "a = 1\nb = 2\t#"}


# Problems


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('{"tool": "x",\n "parameters": {"a" 1}}', "line 2"),
        ('{"tool": "read_file", "parameters": {"path": "a', "malformed"),
        ('{"tool": "read_file", "parameters": {"path":', "ends before it is complete"),
        ('{"tool": "read_file', "malformed"),
        ('```json\n{"tool": "x", "parameters": {\n', "ends before"),
        ("{'type': 'plan', 'goal': 'x'}", "steps: "),
        ('{"tool": 5}', "tool: "),
        ('{"tool": "x", "parameters": [1]}', "parameters: "),
        ('{"tools": []}', "tools: "),
        ('{"tools": ["read_file"]}', "tools[0]: "),
        ('{"type": "plan", "goal": "g"}', "steps: is missing"),
        ('{"type": "plan", "goal": "g", "steps": [{"reason": "r"}]}', "steps[0].action: "),
        ('{"type": "review", "summary": "s", "verdict": "maybe"}', "verdict: "),
        ('{"tool": "x", "parameters": {"n": NaN}}', "NaN is not JSON"),
        ('{"tool": "x", "parameters": {"n": 1e999}}', "too large"),
        ('{"tool": "x", "parameters": {"n": ' + "1" * 5000 + "}}", "number"),
        (json.dumps({"tools": [CALL] * 17}), "at most 16"),
    ],
)
def test_what_is_wrong_is_said_to_the_model(source: str, words: str) -> None:
    reply = parse("Here.\n" + source)
    assert reply.structured is None
    assert reply.problem is not None
    assert words in reply.problem
    assert reply.text == "Here."
    assert reply.raw == "Here.\n" + source
    assert len(reply.problem) < 600


def test_a_cyclic_plan_is_explained() -> None:
    steps = [{"id": "a", "action": "x", "depends_on": "b"}, {"id": "b", "action": "y"}]
    steps[1]["depends_on"] = "a"
    reply = parse(json.dumps({**PLAN, "steps": steps}))
    assert reply.problem is not None
    assert "depend on each other" in reply.problem


@pytest.mark.parametrize("bracket", ["[", '{"a":'])
@pytest.mark.parametrize("depth", [150, 10_000])
def test_deep_nesting_is_a_problem_not_a_crash(bracket: str, depth: int) -> None:
    closing = "]" if bracket == "[" else "}"
    nested = bracket * depth + "1" + closing * depth
    reply, _, _ = run('{"tool": "x", "parameters": {"a": ' + nested + "}}")
    assert reply.problem == "The JSON is nested too deeply."


def test_one_bad_call_keeps_the_others_from_running() -> None:
    reply = parse(json.dumps({"tools": [CALL, {"tool": 5}]}))
    assert reply.structured is None
    assert reply.problem is not None


def test_a_plan_beside_a_native_call_is_a_problem() -> None:
    parser = ReplyParser()
    parser.feed(json.dumps(PLAN))
    parser.add_call("read_file", '{"path": "a.py"}')
    parser.finish()
    assert "only one of these" in (parser.reply.problem or "")


@pytest.mark.parametrize(
    "source",
    [
        '{"tool": "read_file", "parameters": {"path": "a.py",},}',
        "{'tool': 'read_file', 'parameters': {'path': 'a.py'}, 'terminate': False}",
        '{"tool": "read_file", "parameters": {"path": "a.py"}, "terminate": False}',
        '{tool: "read_file", parameters: {path: "a.py"}}',
        '{"tool": "read_file", "parameters": {"path": "a.py"',
        '{"tool": "read_file", "parameters": {"path": "a.py"}',
        '```json\n{"tool": "read_file", "parameters": {"path": "a.py"}\n```',
    ],
)
def test_what_can_only_mean_one_thing_costs_no_turn(source: str) -> None:
    reply = parse(source)
    assert isinstance(reply.structured, ToolCalls), reply.problem
    assert reply.structured.tools[0].parameters == {"path": "a.py"}


def test_quotes_in_code_are_part_of_it() -> None:
    source = '{"tool": "run_code", "parameters": {"code": "print(df["a"].sum(), df["b"])"}}'
    reply = parse(source)
    assert isinstance(reply.structured, ToolCalls), reply.problem
    assert reply.structured.tools[0].parameters == {"code": 'print(df["a"].sum(), df["b"])'}


def test_a_call_that_somebody_else_cut_off_is_not_completed() -> None:
    cuts: list[Cut] = ["length", "repetition"]
    for cut in cuts:
        parser = ReplyParser()
        parser.cut = cut
        parser.feed('{"tool": "delete_file", "parameters": {"path": "a.py"}')
        parser.finish()
        assert parser.reply.structured is None
        assert parser.reply.cut == cut
        native = ReplyParser()
        native.cut = cut
        native.add_call("delete_file", '{"path": "a"')
        native.finish()
        assert native.reply.structured is None


# Reasoning


def test_thinking_is_reasoning() -> None:
    reply = parse('<think>\nHm. {"tool": "x"}\n```\n</think>\n\nHello <think>b</think> world')
    assert (reply.text, reply.reasoning) == ("Hello  world", 'Hm. {"tool": "x"}\n```\nb')
    assert reply.structured is None


def test_thinking_before_a_call() -> None:
    reply = parse(f"<think>I read it.</think>{json.dumps(CALL)}")
    assert (calls(reply), reply.reasoning, reply.text) == (["read_file"], "I read it.", "")


def test_unclosed_thinking_is_reasoning() -> None:
    assert parse("Hi <think>and then </thin").reasoning == "and then </thin"


def test_thinking_is_shown_as_it_comes() -> None:
    parser = ReplyParser()
    parser.feed("<thi")
    assert parser.feed("nk>Well</") == [ReasoningDelta("Well")]
    assert parser.feed("think>Yes") == [TextDelta("Yes")]


def test_a_missing_opening_tag_drops_calls_that_were_only_thought() -> None:
    reply = parse(f"I could\n{json.dumps(CALL)}\nbut no.</think>\n{json.dumps(OTHER)}")
    assert calls(reply) == ["grep"]
    assert reply.text == "I could"


def test_a_second_closing_tag_drops_nothing() -> None:
    assert calls(parse(f"<think>a</think>{json.dumps(CALL)}</think>")) == ["read_file"]


def test_reasoning_from_the_api_is_kept_apart() -> None:
    parser = ReplyParser()
    assert parser.feed_reasoning("Let me see ") == [ReasoningDelta("Let me see")]
    assert parser.feed_reasoning("{") == [ReasoningDelta(" {")]
    parser.feed("Yes")
    parser.finish()
    assert parser.reply == Reply(text="Yes", reasoning="Let me see {", raw="Yes")


def test_an_empty_reply() -> None:
    assert parse("").is_empty
    assert parse(" \n<think>x</think> ").is_empty
    assert not parse("x").is_empty


# Native calls


def test_native_calls_become_the_same_reply() -> None:
    parser = ReplyParser()
    parser.feed("Reading.")
    parser.add_call("read_file", '{"path": "a.py"}')
    parser.add_call("list_variables", "")
    parser.finish()
    assert parser.reply.text == "Reading."
    assert calls(parser.reply) == ["read_file", "list_variables"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("{", "arguments of grep: The JSON ends"),
        ("[1]", "must be an object"),
        ("null", "must be an object"),
    ],
)
def test_broken_native_arguments_are_a_problem(arguments: str, words: str) -> None:
    parser = ReplyParser()
    parser.add_call("grep", arguments)
    parser.finish()
    assert parser.reply.problem is not None
    assert words in parser.reply.problem


# Characters


def test_halves_of_characters_are_joined_or_replaced() -> None:
    reply, shown, _ = run("a\ud83c", "\udf89b\ud83c", "c", "\ud83c")
    assert reply.text == shown == "a🎉b\ufffdc\ufffd"
    value = parse('{"tool": "x", "parameters": {"a": "\\ud83c", "b": "\\ud83c\\udf89"}}')
    assert isinstance(value.structured, ToolCalls)
    assert value.structured.tools[0].parameters == {"a": "�", "b": "🎉"}


# Properties

FRAGMENTS = [
    "{", "}", '"', "\\", "\n", " ", "`", "```", "```json\n", "\n```\n", "<think>", "</think>",
    "<", "tool", '"tool"', ":", ",", '{"tool": "x"}', '{"type": "plan"', "prose", "[", "]",
    '{"type": "text", "text": "t"}', "'tool'", '{"a": 1}', json.dumps(CALL), json.dumps(PLAN),
    "\r", "\x00", "é🎉", "\ud83c", "\udf89", '"parameters": {', "terminate", "\u2028", "1" * 50,
    '{"rows": "' + "x" * 1990,
]  # fmt: skip
noise = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=5), max_size=25).map("".join)
surrogates = st.text(st.characters(), max_size=40) | st.text("\ud83c\udf89a{", max_size=10)


@st.composite
def cut(draw: st.DrawFn, source: st.SearchStrategy[str]) -> tuple[str, list[str]]:
    """A text, and the same in pieces."""
    text = draw(source)
    places = draw(st.lists(st.integers(0, len(text)), max_size=12).map(sorted))
    edges = [0, *places, len(text)]
    return text, [text[a:b] for a, b in pairwise(edges)]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A valid reply with some characters changed, lost or doubled."""
    value = draw(st.sampled_from([CALL, PLAN, QUESTION, REVIEW, RESULT, {"tools": [CALL, OTHER]}]))
    text = draw(st.sampled_from(["", "Hi.\n", "<think>x</think>"])) + draw(
        st.sampled_from([json.dumps(value), fenced(value), json.dumps(value, indent=1)])
    )
    for _ in range(draw(st.integers(1, 5))):
        place = draw(st.integers(0, len(text)))
        text = text[:place] + draw(st.sampled_from(["", *FRAGMENTS])) + text[place + 1 :]
    return text


thorough = settings(max_examples=3 * settings().max_examples, deadline=None, database=None)


@thorough
@given(cut(noise | surrogates | mutated()))
@example(("\ud83c\udf89", ["\ud83c", "\udf89"]))
def test_it_makes_no_difference_how_the_stream_is_cut(case: tuple[str, list[str]]) -> None:
    text, pieces = case
    whole, in_pieces = run(text), run(*pieces)
    assert whole == in_pieces == run(*text)
    reply, shown, thought = whole
    assert (shown, thought) == (reply.text, reply.reasoning)
    (reply.text + reply.reasoning + reply.raw).encode()


@thorough
@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda data: data.decode("latin-1")))
def test_no_text_is_too_strange(text: str) -> None:
    reply, _, _ = run(text)
    assert reply.structured is None or reply.problem is None


words = st.text(
    st.characters(categories=["L", "N", "P", "Zs"], exclude_characters="`{<"), max_size=60
)
scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=20)
numbers = st.floats(allow_nan=False, allow_infinity=False)
names = st.text(max_size=5)
json_values = st.recursive(
    scalars | numbers | st.sampled_from(FRAGMENTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


@thorough
@given(
    words,
    st.dictionaries(st.text(max_size=8), json_values, max_size=3),
    st.booleans(),
    st.booleans(),
)
def test_valid_calls_come_through_whole_and_never_show(
    prose: str, parameters: dict[str, Any], in_fence: bool, indented: bool
) -> None:
    value = {"tool": "some_tool", "parameters": parameters}
    source = fenced(value) if in_fence else json.dumps(value, indent=2 if indented else None)
    reply, shown, _ = run(*f"{prose}\n{source}\n")
    assert shown == prose.strip()
    assert isinstance(reply.structured, ToolCalls)
    expected = without_surrogates(parameters)
    assert reply.structured.tools[0].parameters == expected


# Cost


@pytest.mark.parametrize(
    "unit",
    ["word ", "`", "`\n", "\n", "<", "{", '{"a":', "```json\n", "<think>", '{"rows": "x"}\n'],
)
def test_work_grows_with_the_length_only(unit: str) -> None:
    few, many = (lines_executed(partial(run, *[unit] * n)) for n in (500, 4_000))
    assert many < 1.3 * 8 * few


def lines_executed(action: Callable[[], Any]) -> int:
    """How many lines of Python run: a measure of work that no busy machine changes."""
    count = 0

    def trace(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(None)
    return count


def test_ten_thousand_tokens_of_json() -> None:
    random.seed(1)
    content = " ".join(random.choice(["alpha", "{", "\n", '"', "beta"]) for _ in range(10_000))
    source = json.dumps({"tool": "create_file", "parameters": {"content": content}})
    reply, shown, _ = run(*(source[i : i + 4] for i in range(0, len(source), 4)))
    assert (calls(reply), shown) == (["create_file"], "")
