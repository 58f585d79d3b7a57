"""A model that goes by the words of what it is asked, so that many stories can share one.

    script = Script()
    script.when("Report on north", plan("Report on north", …))
    script.step("Write north1.txt", call("create_file", …), text("Wrote it."))

The last of these words that the model was told decide; each time it is asked, the next of their
replies comes. When all have been given, the last one is repeated, and a new run begins with the
first.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from cowork_jupyter.domain.roles import AgentRole
from tests.scripted import Scripted, call, plan, text

STEP = "The step: "
"""How the prompt of a step names it."""


class Script:
    """Replies by what was asked last."""

    def __init__(self) -> None:
        self._replies: dict[str, list[Scripted]] = {}
        self._roles: dict[str, AgentRole] = {}
        self._given: Counter[str] = Counter()

    def begin(self) -> None:
        """Another story: nothing is to be said yet."""
        self._replies.clear()
        self._roles.clear()
        self._given.clear()

    def when(self, words: str, *replies: Scripted, to: AgentRole | None = None) -> None:
        """What to answer, one after the other, once these words were said; only by the agent that
        they were said to, where others read them too, as a commander does what it has delegated."""
        self._replies.setdefault(words, []).extend(replies)
        if to:
            self._roles[words] = to

    def step(self, action: str, *replies: Scripted) -> None:
        """What to do in a step."""
        self.when(f"{STEP}{action}\n", *replies)

    def times_asked(self, action: str) -> int:
        """How often the model was asked to do this step."""
        return self._given[f"{STEP}{action}\n"]

    def writes(self, name: str, *numbers: int) -> Scripted:
        """A plan whose steps write a file each, with the ids that models like: “1”, “2”, …"""
        for number in numbers:
            file = f"{name}{number}.txt"
            done = text(f"Wrote {file}.")
            self.step(f"Write {file}", call("create_file", path=file, content=f"{name}\n"), done)
        return plan(f"Report on {name}", *(write(name, number) for number in numbers))

    def __call__(self, body: dict[str, Any]) -> Scripted:
        """The reply to a request."""
        said = [(one["role"], _text(one)) for one in body["messages"]]
        told = [
            (at, words.rindex(key), key)
            for at, (role, words) in enumerate(said)
            for key in self._replies
            if role == "user" and key in words and self._is_told(key, said[0][1])
        ]
        if not told:
            return text("I have nothing to say to that.")
        at, _, key = max(told)
        is_new = not any(role == "assistant" for role, _ in said[at:])
        return self._next(key, is_new)

    def _is_told(self, key: str, system: str) -> bool:
        role = self._roles.get(key)
        return role is None or f"operating in {role.upper()} role" in system

    def _next(self, key: str, is_new: bool) -> Scripted:
        replies, given = self._replies[key], self._given[key]
        if is_new and given >= len(replies):
            given = 0
        self._given[key] = given + 1
        return replies[min(given, len(replies) - 1)]


def write(name: str, number: int) -> dict[str, Any]:
    """A step that writes a file, and says so beforehand."""
    file = f"{name}{number}.txt"
    return {
        "id": str(number),
        "action": f"Write {file}",
        "files": [file],
        "tools_needed": ["create_file"],
    }


def failed(why: str) -> Scripted:
    """A step that could not be done."""
    value = {"type": "result", "format_version": "1.0", "status": "failed", "summary": why}
    return text(json.dumps(value))


def question(words: str, *labels: str) -> Scripted:
    """A question with these answers."""
    options = [{"label": label, "value": label.lower(), "description": ""} for label in labels]
    value = {"type": "question", "question": words, "severity": "minor", "options": options}
    return text(json.dumps({"format_version": "1.0", **value, "default": options[0]["value"]}))


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(one.get("text", "") for one in content)
