"""Which pictures the model is shown, and what it reads in the place of others."""

from __future__ import annotations

import pytest

from cowork_jupyter.domain.messages import ContentPart, ImagePart, Message, TextPart
from cowork_jupyter.llm.failures import ModelError, RateLimited, Rejected
from cowork_jupyter.llm.vision import VisionSupport, with_pictures


def message(name: str, pictures: int) -> Message:
    content: list[ContentPart] = [TextPart(text=name)]
    content += [ImagePart.of("image/jpeg", f"{name}{at}", (640, 480)) for at in range(pictures)]
    return Message(context_id="c", role="tool", content=content)


def shown(messages: list[Message]) -> list[str]:
    return [one.data for each in messages for one in each.content if isinstance(one, ImagePart)]


def test_the_newest_are_kept_and_the_others_named() -> None:
    newest_first = [message("c", 1), message("b", 2), message("a", 1)]
    sent = list(with_pictures(newest_first, 2))
    assert shown(sent) == ["c0", "b1"]
    assert sent[1].text == "b\n[image 640×480 JPEG, shown earlier]"
    assert sent[2].text == "a\n[image 640×480 JPEG, shown earlier]"
    assert shown(newest_first) == ["c0", "b0", "b1", "a0"]


def test_a_model_that_does_not_see_is_told_so() -> None:
    (sent,) = with_pictures([message("a", 1)], 0)
    assert sent.text == "a\n[image 640×480 JPEG, not shown to this model]"
    unknown = Message(context_id="c", role="tool", content=[ImagePart(data="x")])
    assert next(with_pictures([unknown], 0)).text == "\n[image PNG, not shown to this model]"


def test_the_same_picture_twice_counts_twice() -> None:
    twice = message("a", 0)
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
    assert not vision.is_lost("m", RateLimited("Asked too often."))
    assert vision.sees("m")
    assert vision.is_lost("m", Rejected("error 400: content must be a string"))
    assert not vision.sees("m")
    assert vision.sees("other")
    mmproj = ModelError("error 500: image input is not supported", retryable=True)
    assert vision.is_lost("other", mmproj)
