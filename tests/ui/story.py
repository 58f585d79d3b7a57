"""What the model says in the live tests. It goes by what it was asked, so that tests do not mix."""

from __future__ import annotations

import json
from typing import Any

from tests.scripted import Scripted, call, plan, stall, text
from tests.scripted.server import last_words

CLEAN, ASK, STREAM, HOSTILE, LONG, ENDLESS = (
    "Clean sales.csv",
    "Which rows?",
    "Tell me all",
    "Say something evil",
    "Plan the whole year",
    "Plan what never ends",
)

QUESTION = {
    "type": "question",
    "question": "12 rows have no region. What should the chart do with them?",
    "severity": "minor",
    "options": [
        {"label": "Show as “unknown”", "value": "unknown", "description": "Keeps the totals right"},
        {"label": "Leave them out", "value": "out", "description": "Totals will be 0.4 % lower"},
    ],
    "default": "unknown",
}

EVIL = (
    "<img src=x onerror=\"window.hacked='img'\"> <script>window.hacked='script'</script> "
    "[click](javascript:window.hacked='link') ![pixel](https://evil.example/x.png)"
)

STEPS: list[dict[str, Any]] = [
    {
        "action": "Write `report.md`",
        "reason": "So that the raw file stays as it is",
        "tools_needed": ["create_file"],
        "files": ["report.md"],
        "estimated_time": "5 s",
    },
    {
        "action": "Note what was dropped",
        "reason": "Others must see it",
        "tools_needed": ["update_file"],
        "files": ["sales.csv"],
    },
    {"action": "Tidy up", "reason": "Drafts confuse people", "tools_needed": [], "files": []},
]

TASKS: dict[str, list[Scripted]] = {
    "1": [call("create_file", path="report.md", content="# Sales\n"), text("Wrote report.md.")],
    "2": [call("update_file", path="notes.md", content="Dropped 12 rows.\n"), text("Noted.")],
    "3": [
        call("delete_file", path="draft.md"),
        text(json.dumps(QUESTION)),
        text("The draft stays; rows without a region are “unknown”."),
    ],
}
"""What each step does. Of these, only the first is in the plan: the others have to ask."""


def tell(body: dict[str, Any]) -> Scripted:
    """The reply to a request."""
    said = [(one["role"], _text_of(one)) for one in body["messages"]]
    beginning = max(
        (at for at, (_, words) in enumerate(said) if "Your task is step" in words), default=None
    )
    if beginning is not None:
        number = said[beginning][1].split("Your task is step ")[1].split(" ")[0]
        turns = sum(role == "assistant" for role, _ in said[beginning:])
        if ENDLESS in said[beginning][1] and number != "1":
            return stall("Still at it", 2)
        return TASKS[number][turns] if CLEAN in said[beginning][1] else text(f"Did step {number}.")
    return _reply_to(last_words(body, "user"))


def _reply_to(words: str) -> Scripted:
    if CLEAN in words:
        return plan("Clean sales.csv and write a report", *STEPS)
    if LONG in words or ENDLESS in words:
        days = [f"Look at day {day} of the year, and say what was sold" for day in range(1, 61)]
        return plan(LONG if LONG in words else ENDLESS, *days)
    if ASK in words:
        return text(json.dumps(QUESTION))
    if STREAM in words:
        # For eight minutes: whoever stops it comes before it has ended, however slow they are.
        return text(" ".join(f"word{number}" for number in range(10_000)), delay=0.05)
    return text(EVIL if HOSTILE in words else "Well, **that** is settled.")


def _text_of(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(one.get("text", "") for one in content)
