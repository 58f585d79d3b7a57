"""The soak's model: answers by a mark in what it is asked, by turns slow, failing and hanging.

No reply depends on what came before, but for troubles that pass: those strike the first time only.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from typing import Any

from tests.scripted import (
    Scripted,
    call,
    cut_inside,
    garbage,
    plan,
    quiet_end,
    rate_limited,
    server_error,
    stall,
    text,
)

MARK = re.compile(r"\[\[(\w+) (\d+)\]\]")
STEP = re.compile(r"^The step: .*$", re.MULTILINE)
PLAN_AS_JSON = re.compile(r'^\{"type": ?"plan".*$', re.MULTILINE)
WHOLE = re.compile(r"Begin (\d+): .* end (\d+)\.", re.DOTALL)
"""What every answer in words looks like that was not cut off."""

IN_STEPS = ("say", "write", "ask", "fail", "long")
TROUBLES = ("cut", "error", "limited", "garbage", "quiet")
KINDS = (
    *("say", "say", "long", "slow", "read", "write", "command", "ask", "plan", "plan", "hang"),
    *TROUBLES,
)


def words(number: str, count: int = 20) -> str:
    return f"Begin {number}: {' '.join(f'word{place}' for place in range(count))} end {number}."


class Script:
    """From a request's body to the reply."""

    def __init__(self) -> None:
        self._struck: Counter[str] = Counter()

    def __call__(self, body: dict[str, Any]) -> Scripted:
        said = [
            (one["role"], PLAN_AS_JSON.sub("", str(one["content"]))) for one in body["messages"]
        ]
        marked = [at for at, one in enumerate(said) if one[0] == "user" and MARK.search(one[1])]
        if not marked:
            return text(words("0"))
        last = said[marked[-1]][1]
        step = STEP.search(last)
        kind, number = MARK.findall(step[0] if step else last)[-1]
        if kind in TROUBLES and self._strikes(f"{kind} {number}"):
            return _trouble(kind, number)
        has_answered = any(role == "assistant" for role, _ in said[marked[-1] :])
        return _reply(kind, number, has_answered=has_answered, in_step=step is not None)

    def _strikes(self, what: str) -> bool:
        self._struck[what] += 1
        return self._struck[what] == 1


def _trouble(kind: str, number: str) -> Scripted:
    reply = text(words(number))
    match kind:
        case "cut":
            return cut_inside(reply, "word9")
        case "limited":
            return rate_limited("1")
        case "garbage":
            return garbage(words(number), after=5)
        case "quiet":
            return quiet_end(words(number), after=5)
    return server_error(503)


def _reply(kind: str, number: str, *, has_answered: bool, in_step: bool) -> Scripted:
    if kind == "plan":
        return _plan(number)
    if kind == "fail" and in_step:
        ended = {"type": "result", "format_version": "1.0", "status": "failed", "summary": "No."}
        return text(json.dumps(ended))
    if not has_answered:
        match kind:
            case "write":
                return call("create_file", path=f"made/file{number}.txt", content=number)
            case "command":
                return call("execute_command", command=f"echo {number} > command{number}.txt")
            case "read":
                return call("list_directory", path=".")
            case "ask":
                return text(json.dumps(_question()))
    match kind:
        case "long":
            return text(words(number, 150), delay=0.01)
        case "slow":
            return replace(text(words(number)), first_delay=2.0, delay=0.1)
        case "hang":
            return stall(words(number), after=6)
    return text(words(number))


def _question() -> dict[str, Any]:
    options = [{"label": name.upper(), "value": name, "description": ""} for name in "ab"]
    return {"type": "question", "question": "Which?", "options": options}


def _plan(number: str) -> Scripted:
    """Three steps, two of them side by side."""
    kinds = [IN_STEPS[(int(number) + place) % len(IN_STEPS)] for place in range(3)]
    steps = [
        {
            "id": str(place),
            "action": f"Then {kind} [[{kind} {number}{place}]]",
            "tools_needed": [],
            "files": [],
            "depends_on": ["0"] if place else [],
        }
        for place, kind in enumerate(kinds)
    ]
    return plan(f"Goal {number}", *steps)
