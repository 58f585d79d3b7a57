"""Protocols for tool calls and structured replies.

`json`: only the prompt describes the format. `json_schema`: a `response_format` also constrains the
server's decoding to the replies allowed now. `native`: tools are sent as `tools`, and calls come
back as `tool_calls`. `code`: a short prompt asks for one block of Python, which is a call of
`run_code` (see `code_reply`). All of them end as the same `Reply`.

The history is plain text except for `native`: calls as the JSON or code the model wrote, results as
framed user messages. Both forms are built from the same stored messages, so a conversation survives
a change of protocol: where native calls turn out not to work, the run switches to another one,
which is remembered for the model (see `known_models`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..domain.settings import ProtocolChoice, ToolProtocol
from .structured import FORMATS

SMALL = 9.0
"""Billions of parameters up to which a model writes code better than code inside JSON."""

CODE_TEMPERATURES = (0.0, 0.6, 1.0)
"""By attempt: the likeliest answer first, more variety after failures."""

_BILLIONS = re.compile(r"(?<![a-z\d.])(\d+x)?(\d+(?:\.\d+)?)b(?![a-z\d])", re.IGNORECASE)


_CALLING = re.compile(
    r"gpt-(?:4|5|6|oss)|(?:^|/)o[134](?:$|-)|claude|gemini-[2-9]|grok-[3-9]|deepseek-(?:chat|v[3-9])"
    r"|qwen-?(?:3|max|plus)|kimi-k|glm-(?:4\.[5-9]|[5-9])|minimax-m|command-[ar]\b"
    r"|(?:mistral|devstral|magistral)-(?:large|medium|small)",
    re.IGNORECASE,
)


def protocol_for(
    choice: ProtocolChoice, model: str, *, calls_tools: bool | None = None
) -> ToolProtocol:
    """The protocol for a model, by its name unless one was chosen.

    `calls_tools`: what its server says, if it does.
    """
    if choice != "auto":
        return choice
    sizes = [float(size) * (10 if experts else 1) for experts, size in _BILLIONS.findall(model)]
    if sizes and max(sizes) <= SMALL:
        return "code"
    calls_tools = _CALLING.search(model) is not None if calls_tools is None else calls_tools
    return "native" if calls_tools else "json"


class ToolSpec(NamedTuple):
    name: str
    description: str
    parameters: dict[str, Any]


def request_arguments(
    protocol: ToolProtocol, tools: Sequence[ToolSpec], formats: Iterable[str] = ()
) -> dict[str, Any]:
    if protocol == "json_schema":
        schema = reply_schema(tools, formats)
        return {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "reply", "schema": schema},
            }
        }
    if protocol == "native" and tools:
        return {"tools": [{"type": "function", "function": tool._asdict()} for tool in tools]}
    if protocol == "code":
        return {"temperature": CODE_TEMPERATURES[0]}
    return {}


def reply_schema(tools: Sequence[ToolSpec], formats: Iterable[str] = ()) -> dict[str, Any]:
    """JSON schema of exactly the replies allowed now: calls, formats, and text."""
    shared: dict[str, Any] = {}
    calls = [_call(tool, shared) for tool in tools]
    replies = [*calls, *_several(calls), *(_format(name, shared) for name in formats), _TEXT]
    schema: dict[str, Any] = {"type": "object", "anyOf": replies}
    return {**schema, "$defs": shared} if shared else schema


_FLAG = {"type": "boolean"}
_OWN_FIELDS = {"PlanStep": ("status",), "Assumption": ("status", "correction")}
"""Filled in by us or by the user, not by the model."""


def _object(properties: dict[str, Any], required: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


_TEXT = _object({"type": {"const": "text"}, "text": {"type": "string"}}, ["type", "text"])


def _call(tool: ToolSpec, shared: dict[str, Any]) -> dict[str, Any]:
    parameters = _lift(tool.parameters, tool.name, shared)
    properties = {"tool": {"const": tool.name}, "parameters": parameters, "terminate": _FLAG}
    # Shared, because each call is allowed alone and among several.
    shared[f"call.{tool.name}"] = _object(properties, ["tool", "parameters"])
    return {"$ref": f"#/$defs/call.{tool.name}"}


def _several(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if not calls:
        return []
    items = {"type": "array", "items": {"anyOf": calls}, "minItems": 1, "maxItems": 16}
    return [_object({"tools": items, "terminate": _FLAG}, ["tools"])]


def _format(name: str, shared: dict[str, Any]) -> dict[str, Any]:
    schema = FORMATS[name].model_json_schema()
    for title, fields in _OWN_FIELDS.items():
        for own in fields:
            schema.get("$defs", {}).get(title, {}).get("properties", {}).pop(own, None)
    schema = _lift(schema, name, shared)
    # The `type` has a default in our model, but a reply without it could not be recognised.
    return {
        **schema,
        "required": ["type", *schema.get("required", [])],
        "additionalProperties": False,
    }


def _lift(schema: dict[str, Any], owner: str, shared: dict[str, Any]) -> dict[str, Any]:
    """Move a schema's definitions to the shared ones, where references look for them."""
    own = dict(schema)
    for name, definition in own.pop("$defs", {}).items():
        shared[f"{owner}.{name}"] = _renamed(definition, owner)
    lifted: dict[str, Any] = _renamed(own, owner)
    return lifted


def _renamed(value: Any, owner: str) -> Any:
    """Adjust references, and drop titles, which only repeat the names."""
    if isinstance(value, list):
        return [_renamed(item, owner) for item in value]
    if not isinstance(value, dict):
        return value
    reference = value.get("$ref")
    if isinstance(reference, str):
        return {"$ref": reference.replace("#/$defs/", f"#/$defs/{owner}.")}
    titles = {"title"} if isinstance(value.get("title"), str) else set()
    return {name: _renamed(item, owner) for name, item in value.items() if name not in titles}


_OPTIONAL = {
    "stream_options": re.compile(r"stream_options|include_usage", re.IGNORECASE),
    "response_format": re.compile(
        r"response.?format|json.?schema|grammar|structured.?output|guided", re.IGNORECASE
    ),
    "tools": re.compile(
        r"tool.?choice|tool.?call|(support|unknown|unrecognized|extra|permitted).{0,60}\btools?\b"
        r"|\btools?\b.{0,60}(support|requires?|not permitted|not allowed)|\brole.{0,30}\btool\b"
        r"|roles must alternate",
        re.IGNORECASE | re.DOTALL,
    ),
    "max_tokens": re.compile(r"max_(completion_)?tokens", re.IGNORECASE),
}


def refused_option(text: str, arguments: Mapping[str, Any]) -> str | None:
    return next(
        (name for name, pattern in _OPTIONAL.items() if name in arguments and pattern.search(text)),
        None,
    )
