"""Converts stored messages to the model's API.

Calls are sent as the JSON the model wrote and results as framed user messages, which every server
takes; with native tools as `tool_calls` and role `tool`. Adjacent messages of a role are merged
because many chat templates insist on alternating turns. Empty messages are left out; data beside
the text, such as reasoning, is not sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from ..domain.messages import (
    ENDED_EARLY,
    ContentPart,
    ImagePart,
    Message,
    MessageType,
    TextData,
    TextPart,
    ToolCallData,
    ToolResultData,
)
from ..domain.settings import PictureChoice
from .failures import ModelError
from .frames import Frame
from .repetition import without_repetition

_NOTHING = "(nothing)"
_BROKEN_OFF = ("stopped", "killed")
"""Why a reply ended early that the model was not told about in a note."""
_PICTURES = "[pictures of the result of {tool}]"


def to_api_messages(
    system: str, history: Iterable[Message], frame: Frame, *, fenced: bool = False
) -> list[dict[str, Any]]:
    """The request's messages for a server without native tools.

    `fenced`: render code that ran as the Python block the model is asked for.
    """
    turns: list[dict[str, Any]] = [{"role": "system", "content": system}]
    spoken = (
        (_speaker(call), part)
        for call in _joined_calls(history)
        for part in _parts(call, frame, fenced=fenced)
    )
    for speaker, group in groupby(spoken, key=itemgetter(0)):
        turns.append({"role": speaker, "content": _joined([part for _, part in group])})
    return turns


def to_native_messages(
    system: str,
    history: Sequence[Message],
    frame: Frame,
    reasoning_field: str = "",
    thoughts: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """The request's messages for a server with native tools: each call followed by its result.

    Text between call and result follows both. A call or result without its counterpart becomes
    plain text. `thoughts`: reasoning before a call, by call id; servers with a reasoning field want
    it back while the model works on the same request.
    """
    turns: list[dict[str, Any]] = []
    pending: list[Message] = []
    for item in _with_results(history):
        if isinstance(item, Message):
            pending.append(item)
            continue
        turns += to_api_messages("", pending, frame)[1:]
        before = turns.pop() if turns and turns[-1]["role"] == "assistant" else None
        calls = [_native_call(call) for call, _ in item]
        content = before["content"] if before else None
        turn = {"role": "assistant", "content": content, "tool_calls": calls}
        if thought := (thoughts or {}).get(calls[0]["id"]):
            turn[reasoning_field] = thought
        turns.append(turn)
        turns += [_native_result(call, result) for call, result in item]
        pending = [_pictures_of(result) for _, result in item if result.pictures]
    return [{"role": "system", "content": system}, *turns, *to_api_messages("", pending, frame)[1:]]


_Exchange = list[tuple[Message, Message]]


def _with_results(history: Sequence[Message]) -> Iterator[Message | _Exchange]:
    results = {
        message.data.call_id: message
        for message in history
        if isinstance(message.data, ToolResultData)
    }
    for item in _joined_calls(history):
        if isinstance(item, Message):
            if not isinstance(item.data, ToolResultData) or item.data.call_id in results:
                yield item
            continue
        exchange = [
            (call, results.pop(call.data.call_id))
            for call in item
            if isinstance(call.data, ToolCallData) and call.data.call_id in results
        ]
        if exchange:
            yield exchange


def _native_call(message: Message) -> dict[str, Any]:
    assert isinstance(message.data, ToolCallData)
    arguments = json.dumps(message.data.parameters, ensure_ascii=False)
    function = {"name": message.data.tool, "arguments": arguments}
    return {"id": message.data.call_id, "type": "function", "function": function}


def _native_result(call: Message, result: Message) -> dict[str, Any]:
    assert isinstance(call.data, ToolCallData)
    return {"role": "tool", "tool_call_id": call.data.call_id, "content": result.text or _NOTHING}


def _pictures_of(result: Message) -> Message:
    """The role `tool` takes no pictures, so they go into a user message behind it."""
    tool = result.data.tool if isinstance(result.data, ToolResultData) else ""
    caption = TextPart(text=_PICTURES.format(tool=tool or "the tool"))
    update = {"data": TextData(), "message_type": MessageType.TEXT, "role": "user"}
    return result.model_copy(update={**update, "content": [caption, *result.pictures]})


def _speaker(message: Message | list[Message]) -> str:
    if isinstance(message, list) or message.role == "assistant":
        return "assistant"
    return "user"


def _joined_calls(messages: Iterable[Message]) -> Iterable[Message | list[Message]]:
    for is_call, group in groupby(messages, key=lambda item: isinstance(item.data, ToolCallData)):
        if is_call:
            yield list(group)
        else:
            yield from group


def _parts(message: Message | list[Message], frame: Frame, *, fenced: bool) -> list[dict[str, Any]]:
    if isinstance(message, list):
        calls_text = (_code_of(message) if fenced else None) or _calls_as_json(message)
        return [{"type": "text", "text": calls_text}]
    parts = [_image(part) for part in message.content if isinstance(part, ImagePart) and part.data]
    text = _text(message, frame)
    return [*([{"type": "text", "text": text}] if text else []), *parts]


def _code_of(calls: list[Message]) -> str | None:
    data = calls[0].data
    if len(calls) > 1 or not isinstance(data, ToolCallData):
        return None
    if data.parameters.keys() - {"where"} != {"code"}:  # where it ran was decided for the model
        return None
    return f"```python\n{data.parameters['code']}\n```"


def _calls_as_json(calls: list[Message]) -> str:
    data = (call.data for call in calls)
    written = [
        {"tool": call.tool, "parameters": call.parameters}
        for call in data
        if isinstance(call, ToolCallData)
    ]
    value: Any = written[0] if len(written) == 1 else {"tools": written}
    return json.dumps({**value, "terminate": False}, ensure_ascii=False)


def _text(message: Message, frame: Frame) -> str:
    if isinstance(message.data, ToolResultData):
        outcome = "" if message.data.ok else " (failed)"
        tool, text = message.data.tool or "the tool", message.text or _NOTHING
        framed_text = text if message.data.guidance else frame.around(text)
        return f"Result of {tool}{outcome}:\n{framed_text}"
    if isinstance(message.data, TextData) and (answer := message.data.answer):
        return f"Answer to “{answer.question}”: {message.text}"
    if isinstance(message.data, TextData) and message.data.cut in _BROKEN_OFF and message.text:
        return f"{message.text}\n\n[{ENDED_EARLY[message.data.cut]}]"
    if isinstance(message.data, TextData) and message.data.cut == "repetition":
        return without_repetition(message.text)
    text = message.text or message.data_as_text
    if text and message.role == "system":
        return f"[Note from Cowork, not from the user] {text}"
    return text


def _image(part: ImagePart) -> dict[str, Any]:
    url = f"data:{part.media_type};base64,{part.data}"
    return {"type": "image_url", "image_url": {"url": url}}


def _joined(parts: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """Plain text if possible: not every server takes a list."""
    if all(part["type"] == "text" for part in parts):
        return "\n\n".join(part["text"] for part in parts)
    return parts


MAX_SENT = 4
"""Pictures per request, newest first. Each costs as much as a page of text."""

_SEEING = re.compile(
    r"vision|multimodal|omni|llava|moondream|minicpm-v|pixtral|molmo|internvl|cogvlm|smolvlm|idefics"
    r"|(?:^|[-_/.\d])vl(?:$|[-_:.\d])|\dv(?:$|[-_:])"  # qwen2.5-vl, glm-4.5v
    r"|gpt-(?:4o|4\.1|4\.5|4-turbo|[5-9])|(?:^|/)o(?:[13](?:$|-(?!mini))|4)|gemini|gemma-?[3-9]"
    r"|claude-(?!2|instant)|llama-?4|grok-[4-9]|mistral-(?:medium-3|small-3\.[1-9]|large-3)",
    re.IGNORECASE,
)
_ABOUT_PICTURES = re.compile(r"image|picture|vision|multi-?modal|mmproj", re.IGNORECASE)


class VisionSupport:
    def __init__(self, choice: PictureChoice = "auto") -> None:
        self._choice = choice
        self._blind: set[str] = set()

    def sees(self, model: str) -> bool:
        if self._choice == "no" or model in self._blind:
            return False
        return self._choice == "yes" or _SEEING.search(model) is not None

    def record_refusal(self, model: str, error: ModelError) -> bool:
        """Whether a request with pictures failed because of them; none are sent from now on.

        Servers say so in many ways or not at all, so a request with pictures that is refused for
        good is worth one attempt without them.
        """
        if error.retryable and not _ABOUT_PICTURES.search(error.message):
            return False
        self._blind.add(model)
        return True


def with_pictures(newest_first: Iterable[Message], most: int) -> Iterator[Message]:
    why = "shown earlier" if most else "not shown to this model"
    for message in newest_first:
        pictures = message.pictures
        kept = pictures[max(0, len(pictures) - most) :]
        most -= len(kept)
        yield message if len(kept) == len(pictures) else _describe_others(message, kept, why)


def _describe_others(message: Message, kept: list[ImagePart], why: str) -> Message:
    content: list[ContentPart] = [
        TextPart(text=f"\n[{_name(part)}, {why}]")
        if isinstance(part, ImagePart) and not any(part is picture for picture in kept)
        else part
        for part in message.content
    ]
    return message.model_copy(update={"content": content})


def _name(picture: ImagePart) -> str:
    size = f" {picture.size[0]}×{picture.size[1]}" if picture.size else ""
    return f"image{size} {picture.media_type.rpartition('/')[2].upper()}"
