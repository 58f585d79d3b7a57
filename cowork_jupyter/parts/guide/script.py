"""One turn of the guide: the request with the results so far, replayed to the first open call."""

from __future__ import annotations

import json
import posixpath
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Literal, NoReturn

from ...domain.messages import (
    Answer,
    Message,
    TaskAssignmentData,
    TextData,
    ToolCallData,
    ToolResultData,
)
from ...domain.plan import PlanStep
from ...llm.chunks import Conversation
from .texts import first_line

_MAX_CALLS = 16  # in one reply
_MAX_KEPT = 300
_MAX_PARTS = 20  # of up to 100 cells each


@dataclass(frozen=True)
class CallResult:
    ok: bool
    text: str  # output, or the error message
    facts: Mapping[str, Any] = field(default_factory=dict)
    code: str = ""


@dataclass
class GuideRun:
    request: str
    is_step: bool = False  # a step of an approved plan
    replans: bool = False  # replan the rest after a failed step
    goal: str = ""  # of the current plan
    files: tuple[str, ...] = ()  # that the step was approved for
    calls: dict[str, list[CallResult]] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)  # by question


def read_run(conversation: Conversation) -> GuideRun:
    run, calls = GuideRun(""), dict[str, str]()
    for message in conversation.messages:
        match message.data:
            case TextData(answer=Answer(question=question, value=value)):
                run.answers[question] = value
            case TextData() | TaskAssignmentData() if message.role == "user":
                run, calls = _new_run(message, conversation), {}
            case ToolCallData() as call:
                calls[call.call_id] = _call_key(call.tool, call.parameters)
            case ToolResultData(call_id=call_id) as came if call_id in calls:
                run.calls.setdefault(calls[call_id], []).append(_result(came, message.text))
    return run


def _call_key(tool: str, parameters: dict[str, Any]) -> str:
    """Identifies a call when its result is looked up."""
    return json.dumps([tool, parameters], sort_keys=True, ensure_ascii=False)


def _new_run(message: Message, conversation: Conversation) -> GuideRun:
    goal = conversation.plan.goal if conversation.plan else ""
    match message.data:
        case TaskAssignmentData(step=PlanStep() as step) as task:
            files = tuple(map(posixpath.normpath, step.files))
            return GuideRun(step.action, is_step=True, goal=task.goal, files=files)
        case TaskAssignmentData(replan=True):
            return GuideRun(goal, replans=True, goal=goal)
        case TextData(replan=True) if goal:
            return GuideRun(goal, goal=goal)
    return GuideRun(message.text.strip(), goal=goal)


def _result(came: ToolResultData, text: str) -> CallResult:
    if came.error:
        return CallResult(False, came.error.message, came.error.details, came.error.code)
    return CallResult(True, text, came.facts.model_dump())


class GuideReply(Exception):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class Memory:
    """What was read of files, for each conversation; the oldest goes first."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, ...], Any] = {}
        self._lock = Lock()

    def recall(self, *key: str) -> Any:
        return self._kept.get(key)

    def keep(self, value: Any, *key: str) -> None:
        with self._lock:
            self._kept[key] = value
            if len(self._kept) > _MAX_KEPT:
                del self._kept[next(iter(self._kept))]


Call = tuple[str, dict[str, Any]]  # a tool and its parameters


class Script:
    """One run of the guide.

    The guide is asked anew at each turn, so its functions run from the start every time: calls and
    questions that were answered return at once, the first open ones become the reply.
    """

    def __init__(
        self, run: GuideRun, conversation: Conversation, memory: Memory | None = None
    ) -> None:
        self.run = run
        self.conversation = conversation
        self._memory = memory or Memory()
        self._used: Counter[str] = Counter()
        self._seen: dict[str, CallResult] = {}

    def has_tools(self, *tools: str) -> bool:
        return self.conversation.tools.issuperset(tools)

    def done(self, summary: str) -> str:
        return as_reply("result", status="done", summary=summary) if self.run.is_step else summary

    def fail(self, why: str) -> NoReturn:
        """End the run as failed."""
        raise GuideReply(as_reply("result", status="failed", summary=why))

    def refuse(self, why: str, instead: str = "") -> NoReturn:
        """End the run with words; a step that was approved has failed then."""
        if self.run.is_step:
            self.fail(why)
        raise GuideReply("\n\n".join(filter(None, (why, instead))))

    def call(self, tool: str, **parameters: Any) -> CallResult:
        """Return the result of a call; make the call if it is new."""
        return self.call_all([(tool, parameters)])[0]

    def look(self, tool: str, **parameters: Any) -> CallResult:
        """Like `call`, but a second time in the same run returns the same."""
        return self.look_all([(tool, parameters)])[0]

    def call_all(self, calls: Sequence[Call]) -> list[CallResult]:
        """The results of different, independent calls; open ones become one reply."""
        keys = [_call_key(*call) for call in calls]
        done = [self.run.calls.get(key, [])[self._used[key] :][:1] for key in keys]
        waiting = [call for call, result in zip(calls, done, strict=True) if not result]
        if waiting:
            raise GuideReply(_reply(waiting[:_MAX_CALLS]))
        self._used.update(keys)
        results = [result for found in done for result in found]
        self._seen.update(zip(keys, results, strict=True))
        return results

    def look_all(self, calls: Sequence[Call]) -> list[CallResult]:
        new = {_call_key(*call): call for call in calls if _call_key(*call) not in self._seen}
        self.call_all(list(new.values()))
        return [self._seen[_call_key(*call)] for call in calls]

    def is_ahead(self, tool: str, **parameters: Any) -> bool:
        """Whether this run makes that call only further on, as its replay knows."""
        key = _call_key(tool, parameters)
        return key in self.run.calls and key not in self._seen

    def recall(self, what: str, state: object) -> Any:
        """What an earlier request of this conversation kept of a file in this state, or None."""
        return self._memory.recall(self._context_id, what, str(state)) if state else None

    def keep(self, what: str, state: object, value: Any) -> None:
        if state and self._context_id:
            self._memory.keep(value, self._context_id, what, str(state))

    @property
    def _context_id(self) -> str:
        messages = self.conversation.messages
        return messages[-1].context_id if messages else ""

    def read(self, tool: str, path: str, **parameters: Any) -> CallResult:
        """Fail if the file cannot be read."""
        result = self.call(tool, path=path, **parameters)
        if not result.ok:
            self.fail(f"I cannot read `{path}`: {first_line(result.text)}")
        return result

    def ask(
        self,
        question: str,
        context: str,
        options: dict[str, str],
        default: str = "",
        unused: Sequence[str] = (),
    ) -> str:
        """Return the user's answer; `options` maps values to labels, the first is the default.

        `unused`: words of the request that no recipe takes.
        """
        if question in self.run.answers:
            return self.run.answers[question]
        asked = as_reply(
            "question",
            question=question,
            context=context,
            severity="major",
            options=[{"label": label, "value": value} for value, label in options.items()],
            default=default or next(iter(options)),
            unused=list(unused),
        )
        raise GuideReply(asked)


def whole_notebook(read: Callable[..., CallResult]) -> dict[str, Any]:
    """The facts of a notebook with all of its cells: long ones are read in parts."""
    cells: list[Any] = []
    facts: Mapping[str, Any] = {}
    for _part in range(_MAX_PARTS):
        part = read(**({"offset": len(cells)} if cells else {}))
        if not part.ok:
            break
        facts = part.facts
        cells += facts["cells"]
        if not facts["cells"] or len(cells) >= facts.get("total_cells", 0):
            break
    return {**facts, "cells": cells}


def _reply(calls: Sequence[Call]) -> str:
    written = [
        {"tool": tool, "parameters": parameters, "terminate": False} for tool, parameters in calls
    ]
    reply = written[0] if len(written) == 1 else {"tools": written, "terminate": False}
    return json.dumps(reply, ensure_ascii=False)


def as_reply(kind: Literal["plan", "question", "result"], **fields: Any) -> str:
    """In the format that the service reads."""
    return json.dumps({"type": kind, "format_version": "1.0", **fields}, ensure_ascii=False)
