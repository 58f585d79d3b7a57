"""What the guide is told: the same messages that a model gets, taken apart again.

The guide makes one call at a time, so a message that follows a call is that call's result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Api = dict[str, Any]
"""A message as the model's API has it."""

_TASK = re.compile(r"Your task is step \d+ of an approved plan\.")
_RESULT = re.compile(r"Result of (\w+)( \(failed\))?:\n")
_CANCELLED = re.compile(r"Result of \w+ \(failed\):\nError: It was cancelled\.[^\n]*\n\n(?!\[Note)")
_ANSWER = re.compile(r"Answer to “(.*)”: (.*)", re.DOTALL)
_NOTE = re.compile(r"\[(?:Note from Cowork|\d* ?earlier messages? left out)")
_ASIDE = re.compile(
    r"\[Note from Cowork, not from the user\] (?:The role is now [^\n]*"
    r"|Where the user is .*?\n\[end of the note about the notebook\])\s*",
    re.DOTALL,
)
"""Said beside a request, in the same turn."""
_PLAN = re.compile(r"The current plan:\n(\{.*\})(?:\n\n|$)")
_FIELD = re.compile(r"^(The plan's goal|The step|Files it was approved for): (.*)$", re.MULTILINE)
_HOW_TO_END = "\n\nDo just this step."


@dataclass(frozen=True)
class Result:
    """What came of one call."""

    ok: bool
    text: str


@dataclass(frozen=True)
class Surroundings:
    """What the system prompt says about the place where the guide works."""

    tools: frozenset[str]
    notebook: str | None = None


@dataclass
class Run:
    """The newest request and all that has happened since."""

    request: str
    is_task: bool = False
    """Whether it is one step of an approved plan."""
    goal: str = ""
    files: tuple[str, ...] = ()
    calls: dict[str, list[Result]] = field(default_factory=dict)
    """Results by call, in the order in which they came."""
    answers: dict[str, str] = field(default_factory=dict)
    """What the user said, by question."""


def read_surroundings(messages: Sequence[Api]) -> Surroundings:
    """The permitted tools and the notebook, from the system prompt."""
    prompt = next((text_of(one) for one in messages if one.get("role") == "system"), "")
    section = prompt.partition("\n# Tools\n")[2].partition("\n# ")[0]
    tools = re.findall(r"^- (\w+)\(", section, re.MULTILINE)
    facts = prompt.rpartition("\n# Facts\n")[2]
    notebook = re.search(r"^- notebook: (.+)$", facts, re.MULTILINE)
    return Surroundings(frozenset(tools), notebook.group(1) if notebook else None)


def read_run(messages: Sequence[Api]) -> Run:
    """The newest request of the user, or step of a plan, with what has come of it so far."""
    turns = [one for one in messages if one.get("role") != "system"]
    start = max((at for at, one in enumerate(turns) if _is_request(one)), default=-1)
    run = _request(text_of(turns[start])) if start >= 0 else Run("")
    call = ""
    for one in turns[start + 1 :]:
        text = text_of(one)
        if one.get("role") == "assistant":
            call = _call_in(text)
        elif (found := _RESULT.match(text)) and call:
            run.calls.setdefault(call, []).append(Result(not found[2], text[found.end() :]))
        elif answer := _ANSWER.match(text):
            run.answers[answer[1]] = answer[2].strip()
    return run


def key_of(tool: str, parameters: dict[str, Any]) -> str:
    """A call as one text, by which it is found again."""
    return json.dumps([tool, parameters], sort_keys=True, ensure_ascii=False)


def text_of(message: Api) -> str:
    """The words of a message."""
    content = message.get("content", "")
    if isinstance(content, list):
        return "\n\n".join(str(part["text"]) for part in content if part.get("type") == "text")
    return str(content)


def _is_request(message: Api) -> bool:
    text = _ASIDE.sub("", text_of(message))
    if message.get("role") != "user" or not text.strip():
        return False
    if _CANCELLED.match(text):
        return True
    return not any(pattern.match(text) for pattern in (_RESULT, _ANSWER, _NOTE))


def _request(text: str) -> Run:
    text = _ASIDE.sub("", text)
    task = list(_TASK.finditer(text))
    if task:
        body = text[task[-1].start() :].partition(_HOW_TO_END)[0]
        found = dict(_FIELD.findall(body))
        files = tuple(one for one in found.get("Files it was approved for", "").split(", ") if one)
        return Run(found.get("The step", ""), True, found.get("The plan's goal", ""), files)
    plan = _PLAN.search(text)
    said = _CANCELLED.sub("", _PLAN.sub("", text)).strip()
    return Run(said, goal=_goal(plan.group(1)) if plan else "")


def _goal(plan: str) -> str:
    try:
        return str(json.loads(plan)["goal"])
    except (ValueError, KeyError, TypeError):  # cut short, to fit
        return ""


def _call_in(text: str) -> str:
    """The call in a reply of ours; empty if there is none."""
    for line in reversed(text.splitlines()):
        if line.startswith('{"tool"'):
            try:
                value = json.loads(line)
            except ValueError:
                return ""
            return key_of(value["tool"], value.get("parameters", {}))
    return ""
