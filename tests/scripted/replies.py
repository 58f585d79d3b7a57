"""What a scripted model answers: replies, and everything that can go wrong with one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Scripted:
    """One answer. All fields can be given by name in a JSON script."""

    text: str = ""
    tokens: list[str] | None = None
    """How the text is split; by default into words with their space."""
    reasoning: str = ""
    reasoning_field: str = "reasoning_content"
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    """Native calls: `{"name": …, "arguments": {…} or text}`."""
    usage: dict[str, int] | None = None
    finish: str = "stop"
    refusal: str = ""
    first_delay: float = 0.0
    """Seconds before the first byte."""
    delay: float = 0.0
    """Seconds between two tokens."""
    status: int = 200
    error: Any = None
    """The body for a status other than 200."""
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    """Sent instead of a stream, with the headers above."""
    stall_after: int | None = None
    """Events after which nothing more comes, with the connection open. The first event of a
    stream only says whose turn it is; the first token is the second."""
    cut_after: int | None = None
    """Bytes of the stream after which the connection is reset."""
    garbage_after: int | None = None
    """Events after which bytes come that mean nothing."""
    quiet_after: int | None = None
    """Events after which the stream ends in good order, but without a finish reason."""
    error_after: int | None = None
    """Events after which `error` comes as an event of the stream."""
    write_size: int | None = None
    """Bytes per write to the socket, to split characters and events."""

    def pieces(self) -> list[str]:
        """The text as tokens."""
        return self.tokens if self.tokens is not None else re.findall(r"\s*\S+|\s+$", self.text)

    def deltas(self) -> Iterator[dict[str, Any]]:
        """The stream's deltas, one a token."""
        yield {"role": "assistant", "content": ""}
        for piece in re.findall(r"\s*\S+|\s+$", self.reasoning):
            yield {self.reasoning_field: piece}
        for piece in self.pieces():
            yield {"content": piece}
        if self.refusal:
            yield {"refusal": self.refusal}
        for index, entry in enumerate(self.tool_calls):
            yield from _call_deltas(index, entry)

    def message(self) -> dict[str, Any]:
        """The whole message, for a request that does not stream."""
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self.pieces())}
        if self.reasoning:
            message[self.reasoning_field] = self.reasoning
        if self.refusal:
            message["refusal"] = self.refusal
        if self.tool_calls:
            message["tool_calls"] = [
                {"id": f"call_{index}", "type": "function", "function": _function(entry)}
                for index, entry in enumerate(self.tool_calls)
            ]
        return message


def _function(entry: dict[str, Any]) -> dict[str, str]:
    arguments = entry.get("arguments", {})
    return {
        "name": entry["name"],
        "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
    }


def _call_deltas(index: int, entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    function = _function(entry)
    start = {"index": index, "id": f"call_{index}", "type": "function"}
    yield {"tool_calls": [{**start, "function": {"name": function["name"], "arguments": ""}}]}
    for piece in re.findall(r".{1,7}", function["arguments"], re.DOTALL):
        yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


# Replies


def text(words: str, **more: Any) -> Scripted:
    """Plain text."""
    return Scripted(text=words, **more)


def call(tool: str, terminate: bool = False, before: str = "", **parameters: Any) -> Scripted:
    """A tool call in JSON, after some prose if given."""
    value = {"tool": tool, "parameters": parameters, "terminate": terminate}
    return Scripted(text=f"{before}\n{json.dumps(value)}" if before else json.dumps(value))


def calls(*several: tuple[str, dict[str, Any]]) -> Scripted:
    """Several tool calls in one JSON object."""
    tools = [{"tool": tool, "parameters": parameters} for tool, parameters in several]
    return Scripted(text=json.dumps({"tools": tools}))


def plan(goal: str, *actions: str | dict[str, Any], **more: Any) -> Scripted:
    """A plan of these steps, and whatever else a plan has."""
    steps = [step if isinstance(step, dict) else {"action": step} for step in actions]
    value = {"type": "plan", "format_version": "1.0", "goal": goal, "steps": steps, **more}
    return Scripted(text=json.dumps(value))


def result(status: str, summary: str, left_undone: str = "") -> Scripted:
    """How a step ended."""
    ended = {"status": status, "summary": summary, "left_undone": left_undone}
    return text(json.dumps({"type": "result", "format_version": "1.0", **ended}))


def empty() -> Scripted:
    """Nothing at all."""
    return Scripted()


def refusal(words: str = "I cannot help with that.") -> Scripted:
    """The model declines."""
    return Scripted(refusal=words)


def filtered() -> Scripted:
    """The provider's filter withholds the answer."""
    return Scripted(finish="content_filter")


# Faults


def _failing(status: int, message: str, code: str, **headers: str) -> Scripted:
    body = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    return Scripted(status=status, error=body, headers=headers)


def wrong_key(key: str = "sk-…") -> Scripted:
    """401, repeating the key as some servers do."""
    return _failing(401, f"Incorrect API key provided: {key}.", "invalid_api_key")


def forbidden() -> Scripted:
    """403."""
    return _failing(403, "Your key may not use this model.", "forbidden")


def unknown_model(name: str = "gpt-0") -> Scripted:
    """404 for a model."""
    return _failing(404, f"The model `{name}` does not exist.", "model_not_found")


def rate_limited(retry_after: str | None = None) -> Scripted:
    """429."""
    headers = {} if retry_after is None else {"retry-after": retry_after}
    return _failing(429, "Rate limit reached, try again later.", "rate_limit_exceeded", **headers)


def server_error(status: int = 500) -> Scripted:
    """5xx."""
    return _failing(status, "Something broke.", "server_error")


def stall(words: str = "Let me see", after: int = 2) -> Scripted:
    """Sends a little, then nothing."""
    return Scripted(text=words, stall_after=after)


def cut_inside(reply: Scripted, part: str) -> Scripted:
    """Resets the connection in the middle of this part of the stream's bytes."""
    from dataclasses import replace

    from .wire import stream_bytes

    data, needle = stream_bytes(reply), part.encode()
    return replace(reply, cut_after=data.index(needle) + max(1, len(needle) // 2))


def quiet_end(words: str = "Let me see", after: int = 2) -> Scripted:
    """Ends in good order, but in the middle of the reply."""
    return Scripted(text=words, quiet_after=after)


def garbage(words: str = "Let me see", after: int = 2) -> Scripted:
    """Bytes that mean nothing, in the middle of the stream."""
    return Scripted(text=words, garbage_after=after)


def stream_error(message: str = "Out of memory", after: int = 2, **more: Any) -> Scripted:
    """An error as an event of the stream."""
    error = {"error": {"message": message, **more}}
    return Scripted(text="Let me see", error_after=after, error=error)


def web_page() -> Scripted:
    """A login page where the API should be."""
    return Scripted(body="<html>Please log in</html>", headers={"content-type": "text/html"})


OVERFLOWS = {
    "openai": "This model's maximum context length is 8192 tokens. However, your messages "
    "resulted in 9001 tokens. Please reduce the length of the messages.",
    "vllm": "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
    "llama.cpp": "request (5000 tokens) exceeds the available context size (4096 tokens), "
    "try increasing it",
    "llama.cpp slot": "Context size has been exceeded.",
    "ollama": "the input length exceeds the context length",
    "lm studio": "The number of tokens to keep from the initial prompt is greater than the "
    "context length (n_keep: 5000>= n_ctx: 4096)",
    "anthropic": "prompt is too long: 208310 tokens > 200000 maximum",
    "anthropic sum": "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    "gemini": "The input token count (1048577) exceeds the maximum number of tokens allowed "
    "(1048576).",
    "mistral": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 "
    "maximum context length",
    "groq": "Please reduce the length of the messages or completion.",
    "tgi": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097.",
    "xai": "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "bedrock": "Input is too long for requested model.",
    "sglang": "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
    "cohere": "too many tokens: the total number of tokens in the prompt cannot exceed 4081",
}
"""How servers say that the conversation is too long."""


def overflow(vendor: str = "openai", status: int = 400) -> Scripted:
    """The conversation is too long, in this vendor's words."""
    return _failing(status, OVERFLOWS[vendor], "invalid_request_error")
