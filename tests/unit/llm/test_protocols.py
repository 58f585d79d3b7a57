"""The tool protocols: what goes out, and that all of them come back as the same reply."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from pydantic import BaseModel, ConfigDict

from cowork_jupyter.domain.replies import ToolCalls
from cowork_jupyter.domain.settings import ToolProtocol
from cowork_jupyter.llm.chunks import ModelRequest
from cowork_jupyter.llm.client import Model
from cowork_jupyter.llm.protocols import (
    ToolSpec,
    protocol_for,
    refused_option,
    reply_schema,
    request_arguments,
)
from cowork_jupyter.llm.reader import ReplyReader
from cowork_jupyter.llm.reply_parser import ReplyParser
from tests.scripted import Scripted, ScriptedServer


class Shade(StrEnum):
    LIGHT = "light"
    DARK = "dark"


class Place(BaseModel):
    line: int
    shade: Shade = Shade.LIGHT


class Edit(BaseModel):
    model_config = ConfigDict(extra="forbid")

    path: str
    title: str = ""
    places: list[Place] = []


READ = ToolSpec(
    "read_file",
    "Read a file.",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
EDIT = ToolSpec("edit", "Edit a file.", Edit.model_json_schema())

CALL: dict[str, Any] = {"tool": "read_file", "parameters": {"path": "a"}}
EDIT_CALL: dict[str, Any] = {
    "tool": "edit",
    "parameters": {"path": "a", "title": "t", "places": [{"line": 1, "shade": "dark"}]},
    "terminate": True,
}
STEP = {"id": "1", "step_number": 1, "action": "a", "depends_on": []}
PLAN: dict[str, Any] = {"type": "plan", "goal": "g", "steps": [STEP]}
QUESTION: dict[str, Any] = {"type": "question", "question": "q", "severity": "minor"}
REVIEW: dict[str, Any] = {"type": "review", "summary": "s", "verdict": "approve"}
RESULT: dict[str, Any] = {"type": "result", "status": "done", "summary": "s"}
TEXT: dict[str, Any] = {"type": "text", "text": "Hi"}


def accepts(schema: dict[str, Any], value: Any) -> bool:
    return bool(Draft202012Validator(schema).is_valid(value))


def test_json_adds_nothing() -> None:
    assert request_arguments("json", [READ], ["plan"]) == {}


def test_native_adds_the_tools() -> None:
    assert request_arguments("native", [READ]) == {
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "read_file",
                    "description": "Read a file.",
                    "parameters": READ.parameters,
                },
            }
        ]
    }
    assert request_arguments("native", []) == {}


def test_json_schema_adds_the_schema() -> None:
    arguments = request_arguments("json_schema", [READ], ["question"])
    assert arguments["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": reply_schema([READ], ["question"])},
    }


@pytest.mark.parametrize(
    "value",
    [CALL, EDIT_CALL, {"tools": [CALL, EDIT_CALL]}, PLAN, QUESTION, REVIEW, RESULT, TEXT],
)
def test_the_schema_takes_every_reply_that_is_allowed(value: Any) -> None:
    schema = reply_schema([READ, EDIT], ["plan", "question", "review", "result"])
    Draft202012Validator.check_schema(schema)
    assert accepts(schema, value)
    parser = ReplyParser()
    parser.feed(json.dumps(value))
    parser.finish()
    assert parser.reply.problem is None
    assert parser.reply.text == value.get("text", "")


@pytest.mark.parametrize(
    "value",
    [
        EDIT_CALL,
        {"tools": [CALL, EDIT_CALL]},
        {"tools": []},
        PLAN,
        REVIEW,
        RESULT,
        {"tool": "read_file"},
        {"tool": "read_file", "parameters": {}},
        {"tool": "delete_file", "parameters": {"path": "a"}},
        {"question": "q"},
        {"type": "text"},
        {**TEXT, "more": 1},
        "Hi",
    ],
)
def test_the_schema_takes_nothing_else(value: Any) -> None:
    assert not accepts(reply_schema([READ], ["question"]), value)


def test_parameters_are_checked_by_their_own_schema() -> None:
    schema = reply_schema([EDIT])
    assert not accepts(schema, {**EDIT_CALL, "parameters": {"path": "a", "nonsense": 1}})
    assert not accepts(
        schema, {**EDIT_CALL, "parameters": {"path": "a", "places": [{"line": "x"}]}}
    )


def test_without_tools_and_formats_only_text_is_left() -> None:
    schema = reply_schema([])
    assert accepts(schema, TEXT)
    assert "$defs" not in schema
    assert not accepts(schema, CALL)


def test_the_schema_names_nothing_that_we_fill_in_ourselves() -> None:
    said = json.dumps(reply_schema([EDIT], ["plan", "question", "review"]))
    assert '"status"' not in said
    assert '"title": "' not in said
    assert '"title": {"default": "", "type": "string"}' in said


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("Unknown parameter: 'stream_options'.", "stream_options"),
        ("Extra parameters ['stream_options'] are not allowed", "stream_options"),
        ("This response_format type is unavailable now", "response_format"),
        ("This model does not support response format `json_schema`", "response_format"),
        ("failed to parse grammar", "response_format"),
        ("JSON schema conversion failed: Unrecognized schema", "response_format"),
        ("registry.ollama.ai/library/gemma:2b does not support tools", "tools"),
        ('"auto" tool choice requires --enable-auto-tool-choice', "tools"),
        ("Unexpected role 'tool' in messages", "tools"),
        ("Conversation roles must alternate user/assistant/user/assistant/...", "tools"),
        ("temperature must be at most 2", None),
        ("", None),
    ],
)
def test_the_option_a_server_minds_is_recognised(words: str, option: str | None) -> None:
    arguments: dict[str, Any] = {"stream_options": {}, "response_format": {}, "tools": []}
    assert refused_option(words, arguments) == option
    assert refused_option(words, {}) is None


def answer(protocol: ToolProtocol) -> Scripted:
    if protocol == "native":
        return Scripted(tool_calls=[{"name": "read_file", "arguments": {"path": "a"}}])
    return Scripted(text=json.dumps(CALL))


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("protocol", "able"),
    [
        *(("json", True), ("json", False), ("json_schema", True), ("json_schema", False)),
        ("native", True),
    ],
)
async def test_every_protocol_ends_as_the_same_reply(
    scripted: ScriptedServer, protocol: ToolProtocol, able: bool
) -> None:
    scripted.add(answer(protocol) if able else answer("json"))
    scripted.rejects = set() if able else {"response_format"}
    model = Model(base_url=scripted.base_url, model="m")
    reader = ReplyReader()
    arguments = request_arguments(protocol, [READ], ["question"])
    async for chunk in model.stream(
        ModelRequest([{"role": "user", "content": "?"}], "", arguments)
    ):
        reader.feed(chunk)
    reader.finish()
    assert reader.reply.structured == ToolCalls.model_validate({"tools": [CALL]})
    assert (reader.reply.text, reader.reply.problem) == ("", None)
    await model.aclose()


@pytest.mark.parametrize(
    ("model", "protocol"),
    [
        ("qwen-1.5b.gguf", "code"),
        ("Qwen2.5-Coder-7B-Instruct", "code"),
        ("llama3.2:3b", "code"),
        ("llama-3.1-70b", "json"),
        ("mixtral-8x7b", "json"),
        ("qwen3-30b-a3b", "native"),
        ("qwen3-4b", "code"),
        ("gpt-5", "native"),
        ("anthropic/claude-sonnet-4", "native"),
        ("mistral-large-latest", "native"),
        ("4bit-model", "json"),
        ("", "json"),
    ],
)
def test_a_small_model_is_asked_for_code_unless_a_protocol_is_chosen(
    model: str, protocol: str
) -> None:
    assert protocol_for("auto", model) == protocol
    assert protocol_for("native", model) == "native"
    assert protocol_for("json", model) == "json"


@pytest.mark.parametrize(
    ("model", "calls_tools", "protocol"),
    [
        ("unheard-of", True, "native"),
        ("unheard-of", None, "json"),
        ("gpt-5", False, "json"),
        ("qwen2.5-coder-1.5b", True, "code"),
    ],
)
def test_what_the_server_says_of_its_tools_counts(
    model: str, calls_tools: bool | None, protocol: str
) -> None:
    assert protocol_for("auto", model, calls_tools=calls_tools) == protocol
