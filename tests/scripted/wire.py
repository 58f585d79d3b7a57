"""A scripted reply as bytes of the OpenAI protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .replies import Scripted

GARBAGE = b"data: {\xff\xfe not json\x00\n\n"
DONE = b"data: [DONE]\n\n"


def events(reply: Scripted, *, with_usage: bool = True) -> Iterator[bytes]:
    """The events of the stream, each as it goes out."""
    for number, delta in enumerate(reply.deltas()):
        if number == reply.quiet_after:
            return
        if number == reply.garbage_after:
            yield GARBAGE
        if number == reply.error_after:
            yield event(reply.error)
            return
        yield event(_chunk([{"index": 0, "delta": delta, "finish_reason": None}]))
    yield event(_chunk([{"index": 0, "delta": {}, "finish_reason": finish(reply)}]))
    if with_usage and reply.usage is not None:
        yield event(_chunk([], usage=reply.usage))
    yield DONE


def stream_bytes(reply: Scripted) -> bytes:
    """The whole stream."""
    return b"".join(events(reply))


def completion(reply: Scripted) -> dict[str, Any]:
    """The answer to a request that does not stream."""
    choice = {"index": 0, "message": reply.message(), "finish_reason": finish(reply)}
    usage = reply.usage or {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    return {**_chunk([choice], usage=usage), "object": "chat.completion"}


def finish(reply: Scripted) -> str:
    """Why the reply ends."""
    return "tool_calls" if reply.tool_calls else reply.finish


def event(value: Any) -> bytes:
    """One server-sent event. Characters are not escaped, so that they can be cut."""
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def _chunk(choices: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "scripted",
        "choices": choices,
        **more,
    }
