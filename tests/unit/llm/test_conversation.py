"""Stored messages as a model's API wants them."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cowork_jupyter.domain.messages import (
    ContentPart,
    ImagePart,
    Message,
    MessageRole,
    MessageType,
    TextPart,
)
from cowork_jupyter.domain.replies import ToolCalls
from cowork_jupyter.llm.conversation import (
    VisionSupport,
    to_api_messages,
    to_native_messages,
    with_pictures,
)
from cowork_jupyter.llm.failures import ModelError, RateLimited, Rejected
from cowork_jupyter.llm.frames import Frame
from cowork_jupyter.llm.reply_parser import ReplyParser


def message(
    role: MessageRole,
    text: str = "",
    kind: MessageType = MessageType.TEXT,
    *images: ImagePart,
    **data: Any,
) -> Message:
    content: list[ContentPart] = [TextPart(text=text)] if text else []
    said: dict[str, Any] = {"content": [*content, *images], "data": data}
    return Message(context_id="c", role=role, message_type=kind, **said)


def called(tool: str, **parameters: Any) -> Message:
    called: dict[str, Any] = {"call_id": "1", "tool": tool, "parameters": parameters}
    return message("assistant", "", MessageType.TOOL_CALL, **called)


def result(text: str, *, ok: bool = True, tool: str = "grep") -> Message:
    return message("tool", text, MessageType.TOOL_RESULT, tool=tool, ok=ok, call_id="1")


FRAME = Frame("123456789")


def framed(text: str) -> str:
    return f"<data-123456789>\n{text}\n</data-123456789>"


def turns(*history: Message) -> list[tuple[str, Any]]:
    """Who says what, after the system prompt."""
    system, *rest = to_api_messages("be kind", history, FRAME)
    assert system == {"role": "system", "content": "be kind"}
    return [(turn["role"], turn["content"]) for turn in rest]


def test_an_empty_history_is_the_system_prompt_alone() -> None:
    assert to_api_messages("be kind", [], FRAME) == [{"role": "system", "content": "be kind"}]


def test_what_was_said_is_sent_as_it_was_said() -> None:
    said = turns(message("user", "Hi  \n"), message("assistant", "Hello, **you**"))
    assert said == [("user", "Hi  \n"), ("assistant", "Hello, **you**")]


def test_a_call_is_the_json_that_the_model_would_write() -> None:
    ((speaker, content),) = turns(called("grep", pattern="größer", path="."))
    assert speaker == "assistant"
    assert json.loads(content) == {
        "tool": "grep",
        "parameters": {"pattern": "größer", "path": "."},
        "terminate": False,
    }
    assert "größer" in content


def test_calls_made_at_once_are_one_object() -> None:
    ((_, content),) = turns(called("grep", pattern="a"), called("read_file", path="b"))
    assert json.loads(content) == {
        "tools": [
            {"tool": "grep", "parameters": {"pattern": "a"}},
            {"tool": "read_file", "parameters": {"path": "b"}},
        ],
        "terminate": False,
    }


@pytest.mark.parametrize("number", [1, 2, 3])
def test_sent_calls_read_back_as_the_same_calls(number: int) -> None:
    calls = [called("grep", pattern=f'"{place}"\n') for place in range(number)]
    ((_, content),) = turns(message("assistant", "Let me look."), *calls)
    parser = ReplyParser()
    parser.feed(content)
    parser.finish()
    structured = parser.reply.structured
    assert parser.reply.text == "Let me look."
    assert isinstance(structured, ToolCalls)
    assert [one.parameters for one in structured.tools] == [
        one.data.model_dump()["parameters"] for one in calls
    ]


def test_a_result_is_told_by_the_user_and_names_its_tool() -> None:
    assert turns(result("a.py:1")) == [("user", f"Result of grep:\n{framed('a.py:1')}")]


def test_a_failed_result_is_marked() -> None:
    told = f"Result of grep (failed):\n{framed('Error: no')}"
    assert turns(result("Error: no", ok=False)) == [("user", told)]


def test_a_result_without_words_says_so_rather_than_show_our_notes() -> None:
    assert turns(result("")) == [("user", f"Result of grep:\n{framed('(nothing)')}")]


def test_results_of_calls_made_at_once_answer_together() -> None:
    said = turns(called("grep"), called("read_file"), result("1"), result("2", tool="read_file"))
    assert [speaker for speaker, _ in said] == ["assistant", "user"]
    told = f"Result of grep:\n{framed('1')}\n\nResult of read_file:\n{framed('2')}"
    assert said[1][1] == told


def test_our_own_notes_are_marked_as_not_from_the_user() -> None:
    said = turns(message("user", "go"), message("system", "The role is now Planner."))
    note = "[Note from Cowork, not from the user] The role is now Planner."
    assert said == [("user", f"go\n\n{note}")]


def test_neighbours_of_the_same_speaker_are_one_turn() -> None:
    said = turns(
        message("user", "one"),
        message("user", "two"),
        message("assistant", "three"),
        called("grep", pattern="x"),
    )
    assert [speaker for speaker, _ in said] == ["user", "assistant"]
    assert said[0][1] == "one\n\ntwo"
    assert said[1][1].startswith("three\n\n{")


@pytest.mark.parametrize("kind", [MessageType.PLAN, MessageType.REVIEW])
def test_what_was_delivered_is_sent_as_the_json_it_was(kind: MessageType) -> None:
    ((_, content),) = turns(message("assistant", "", kind, type=str(kind), goal="größer"))
    assert json.loads(content) == {"type": str(kind), "goal": "größer"}


def test_reasoning_is_never_sent_back() -> None:
    thought = message("assistant", "", reasoning="hmm, tricky")
    spoken = message("assistant", "It is 42.", reasoning="hmm, tricky")
    assert turns(message("user", "go"), thought, spoken) == [
        ("user", "go"),
        ("assistant", "It is 42."),
    ]


def test_what_we_note_about_an_empty_reply_is_not_put_into_the_models_mouth() -> None:
    nothing = message("assistant", "", problem="The reply was empty.")
    said = turns(message("user", "go"), nothing, message("system", "Your reply was empty."))
    assert [speaker for speaker, _ in said] == ["user"]
    assert "problem" not in said[0][1]


PICTURE = ImagePart(media_type="image/jpeg", data="aGk=")


def test_pictures_go_as_data_urls_beside_the_text() -> None:
    url = {"url": "data:image/jpeg;base64,aGk="}
    said = turns(message("user", "see", MessageType.TEXT, PICTURE), message("user", "well?"))
    assert said == [
        (
            "user",
            [
                {"type": "text", "text": "see"},
                {"type": "image_url", "image_url": url},
                {"type": "text", "text": "well?"},
            ],
        )
    ]


def test_a_picture_alone_is_a_message_and_one_without_data_is_not() -> None:
    assert len(turns(message("user", "", MessageType.TEXT, PICTURE))) == 1
    assert turns(message("user", "", MessageType.TEXT, ImagePart())) == []


def test_text_alone_is_sent_as_plain_text_because_not_every_server_takes_parts() -> None:
    assert all(isinstance(content, str) for _, content in turns(message("user", "a"), result("b")))


# With native tools


def native(*history: Message) -> list[dict[str, Any]]:
    system, *rest = to_native_messages("be kind", history, FRAME)
    assert system == {"role": "system", "content": "be kind"}
    return rest


def with_id(call_id: str, one: Message) -> Message:
    return one.model_copy(update={"data": one.data.model_copy(update={"call_id": call_id})})


def test_native_calls_and_results_go_by_their_ids() -> None:
    said = native(
        message("user", "Look"),
        message("assistant", "Let me look."),
        with_id("a", called("grep", pattern="größer")),
        with_id("b", called("read_file", path="b")),
        with_id("b", result("2", tool="read_file")),
        with_id("a", result("</s>", ok=False)),
        message("assistant", "Found."),
    )
    assert [one["role"] for one in said] == ["user", "assistant", "tool", "tool", "assistant"]
    _, calls, first, second, last = said
    assert calls["content"] == "Let me look."
    assert [one["id"] for one in calls["tool_calls"]] == ["a", "b"]
    assert calls["tool_calls"][0]["function"] == {
        "name": "grep",
        "arguments": '{"pattern": "größer"}',
    }
    assert first == {"role": "tool", "tool_call_id": "a", "content": "</s>"}
    assert second == {"role": "tool", "tool_call_id": "b", "content": "2"}
    assert last == {"role": "assistant", "content": "Found."}


def test_what_was_said_between_a_native_call_and_its_result_follows_them() -> None:
    between = message("user", "Yes, overwrite it.")
    said = native(called("grep"), between, result("1"))
    assert [one["role"] for one in said] == ["assistant", "tool", "user"]


def test_a_native_result_whose_call_is_gone_is_framed_text() -> None:
    assert native(result("1")) == [
        {"role": "user", "content": f"Result of grep:\n{framed('1')}"},
    ]
    assert native(called("grep")) == []


def test_pictures_of_a_native_result_come_behind_it() -> None:
    seen = message("tool", "A figure.", MessageType.TOOL_RESULT, PICTURE, call_id="1", ok=True)
    _, told, pictures = native(called("draw"), seen)
    assert told == {"role": "tool", "tool_call_id": "1", "content": "A figure."}
    assert pictures["role"] == "user"
    assert pictures["content"][1]["type"] == "image_url"


@st.composite
def messages(draw: st.DrawFn) -> Message:
    kind = draw(st.sampled_from(MessageType))
    if kind is MessageType.TOOL_CALL:
        return called(draw(st.text(max_size=5)), path=draw(st.text(max_size=5)))
    role = draw(st.sampled_from(get_args(MessageRole)))
    images = [PICTURE] * draw(st.integers(0, 1))
    data = draw(st.dictionaries(st.sampled_from(["tool", "ok", "goal"]), st.booleans()))
    return message(role, draw(st.text(max_size=5)), kind, *images, **data)


@settings(max_examples=2 * settings().max_examples)
@given(st.lists(messages(), max_size=12))
def test_speakers_take_turns_and_never_say_nothing(history: list[Message]) -> None:
    sent = to_api_messages("be kind", history, FRAME)
    assert [turn["role"] for turn in sent].count("system") == 1
    for before, after in pairwise(sent):
        assert before["role"] != after["role"]
    assert all(turn["content"] for turn in sent)


@settings(max_examples=2 * settings().max_examples)
@given(st.lists(messages(), max_size=12))
def test_every_native_call_is_followed_by_its_results(history: list[Message]) -> None:
    awaited: list[str] = []
    for turn in native(*history):
        if turn["role"] == "tool":
            assert turn["tool_call_id"] == awaited.pop(0)
        else:
            assert not awaited
        awaited += [one["id"] for one in turn.get("tool_calls", [])]
    assert not awaited


@settings(max_examples=2 * settings().max_examples)
@given(st.lists(messages(), max_size=12))
def test_every_word_is_sent_in_the_order_it_was_said(history: list[Message]) -> None:
    sent = "".join(map(words, to_api_messages("", history, FRAME)))
    place = 0
    for one in history:
        place = sent.index(one.text, place) + len(one.text)


def words(turn: dict[str, Any]) -> str:
    content = turn["content"]
    parts = [{"text": content}] if isinstance(content, str) else content
    return "".join(part.get("text", "") for part in parts)


def pictured(name: str, pictures: int) -> Message:
    content: list[ContentPart] = [TextPart(text=name)]
    content += [ImagePart.of("image/jpeg", f"{name}{at}", (640, 480)) for at in range(pictures)]
    return Message(context_id="c", role="tool", content=content)


def shown(messages: list[Message]) -> list[str]:
    return [one.data for each in messages for one in each.content if isinstance(one, ImagePart)]


def test_the_newest_are_kept_and_the_others_named() -> None:
    newest_first = [pictured("c", 1), pictured("b", 2), pictured("a", 1)]
    sent = list(with_pictures(newest_first, 2))
    assert shown(sent) == ["c0", "b1"]
    assert sent[1].text == "b\n[image 640×480 JPEG, shown earlier]"
    assert sent[2].text == "a\n[image 640×480 JPEG, shown earlier]"
    assert shown(newest_first) == ["c0", "b0", "b1", "a0"]


def test_a_model_that_does_not_see_is_told_so() -> None:
    (sent,) = with_pictures([pictured("a", 1)], 0)
    assert sent.text == "a\n[image 640×480 JPEG, not shown to this model]"
    unknown = Message(context_id="c", role="tool", content=[ImagePart(data="x")])
    assert next(with_pictures([unknown], 0)).text == "\n[image PNG, not shown to this model]"


def test_the_same_picture_twice_counts_twice() -> None:
    twice = pictured("a", 0)
    twice.content += [ImagePart(data="x"), ImagePart(data="x")]
    assert shown(list(with_pictures([twice], 1))) == ["x"]


@pytest.mark.parametrize(
    "name",
    ["gpt-4o-mini", "gpt-5-mini", "openai/o3", "o4-mini", "claude-3-5-sonnet", "claude-opus-4-5",
     "anthropic/claude-sonnet-4", "gemini-2.5-pro", "gemma3:12b", "google/gemma-3-27b-it",
     "qwen2.5-vl-7b", "Qwen/Qwen2.5-VL-72B-Instruct", "qwen3-vl:8b", "llava:13b", "pixtral-12b",
     "llama3.2-vision", "meta-llama/Llama-4-Scout", "glm-4.5v", "phi-4-multimodal", "minicpm-v:8b",
     "internvl3-8b", "mistral-small-3.2"],
)  # fmt: skip
def test_models_that_see_are_known_by_name(name: str) -> None:
    assert VisionSupport().sees(name)
    assert not VisionSupport("no").sees(name)


@pytest.mark.parametrize(
    "name",
    ["", "scripted", "gpt-3.5-turbo", "o3-mini", "o1-mini", "claude-2.1", "qwen2.5-coder:0.5b",
     "llama-3.3-70b", "deepseek-chat", "deepseek-v3", "mistral-7b", "gemma2:9b",
     "phi-4", "granite-3.3-8b", "gpt-oss-20b", "kimi-k2", "built-in guide · no language model"],
)  # fmt: skip
def test_others_are_shown_pictures_only_if_the_user_says_so(name: str) -> None:
    assert not VisionSupport().sees(name)
    assert VisionSupport("yes").sees(name)


def test_a_model_whose_server_refuses_pictures_gets_none_any_more() -> None:
    vision = VisionSupport("yes")
    assert not vision.record_refusal("m", RateLimited("Asked too often."))
    assert vision.sees("m")
    assert vision.record_refusal("m", Rejected("error 400: content must be a string"))
    assert not vision.sees("m")
    assert vision.sees("other")
    mmproj = ModelError("error 500: image input is not supported", retryable=True)
    assert vision.record_refusal("other", mmproj)
