"""How the guide does one thing after another although it is asked anew at each turn.

What it does is written as plain functions that call tools and ask questions. At every turn
they run from their beginning; what has been answered already is looked up, and the first
thing that has not is the turn's reply.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Literal, NoReturn

from ..llm.chunks import Conversation
from .conversation import GuideRun, Result, key_of


class GuideReply(Exception):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class Script:
    """One run of the guide.

    The guide is asked anew at each turn, so its functions run from the start every time: calls and
    questions that were answered return at once, the first open one becomes the reply.
    """

    def __init__(self, run: GuideRun, conversation: Conversation) -> None:
        self.run = run
        self.here = conversation
        self._used: Counter[str] = Counter()

    def may(self, *tools: str) -> bool:
        return self.here.tools.issuperset(tools)

    def done(self, summary: str) -> str:
        return _result("done", summary) if self.run.is_step else summary

    def fail(self, why: str) -> NoReturn:
        """End the run as failed."""
        raise GuideReply(_result("failed", why))

    def call(self, tool: str, **parameters: Any) -> Result:
        """Return the result of a call; make the call if it is new."""
        key = key_of(tool, parameters)
        results, place = self.run.calls.get(key, []), self._used[key]
        self._used[key] += 1
        if place < len(results):
            return results[place]
        call = {"tool": tool, "parameters": parameters, "terminate": False}
        raise GuideReply(json.dumps(call, ensure_ascii=False))

    def ask(self, question: str, context: str, options: dict[str, str], default: str = "") -> str:
        """Return the user's answer; `options` maps values to labels, the first is the default."""
        if question in self.run.answers:
            return self.run.answers[question]
        offered = [{"label": label, "value": value} for value, label in options.items()]
        asked = {
            "type": "question",
            "format_version": "1.0",
            "question": question,
            "context": context,
            "severity": "major",
            "options": offered,
            "default": default or next(iter(options)),
        }
        raise GuideReply(json.dumps(asked, ensure_ascii=False))


def _result(status: Literal["done", "failed"], summary: str) -> str:
    result = {"type": "result", "format_version": "1.0", "status": status, "summary": summary}
    return json.dumps(result, ensure_ascii=False)
