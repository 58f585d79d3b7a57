"""One turn of the guide: the request with the results so far, replayed to the first open call."""

from __future__ import annotations

import json
import posixpath
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

from ..domain.message_data import Answer, TaskAssignmentData, TextData, ToolCallData, ToolResultData
from ..domain.messages import Message
from ..domain.plan import PlanStep
from ..llm.chunks import Conversation
from .texts import first_line


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

    def calls_to(self, tool: str) -> list[dict[str, Any]]:
        calls = [json.loads(key) for key in self.calls]
        return [parameters for name, parameters in calls if name == tool]


def read_run(conversation: Conversation) -> GuideRun:
    messages = conversation.messages
    start = max((at for at, message in enumerate(messages) if _is_request(message)), default=-1)
    run = _new_run(messages[start], conversation) if start >= 0 else GuideRun("")
    calls: dict[str, str] = {}
    for message in messages[start + 1 :]:
        match message.data:
            case ToolCallData() as call:
                calls[call.call_id] = call_key(call.tool, call.parameters)
            case ToolResultData(call_id=call_id) as came if key := calls.get(call_id, ""):
                run.calls.setdefault(key, []).append(_result(came, message.text))
            case TextData(answer=Answer(question=question, value=value)):
                run.answers[question] = value
    return run


def call_key(tool: str, parameters: dict[str, Any]) -> str:
    """Identifies a call when its result is looked up."""
    return json.dumps([tool, parameters], sort_keys=True, ensure_ascii=False)


def _is_request(message: Message) -> bool:
    match message.data:
        case TextData(answer=None) | TaskAssignmentData():
            return message.role == "user"
    return False


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


class Script:
    """One run of the guide.

    The guide is asked anew at each turn, so its functions run from the start every time: calls and
    questions that were answered return at once, the first open one becomes the reply.
    """

    def __init__(self, run: GuideRun, conversation: Conversation) -> None:
        self.run = run
        self.conversation = conversation
        self._used: Counter[str] = Counter()

    def has_tools(self, *tools: str) -> bool:
        return self.conversation.tools.issuperset(tools)

    def done(self, summary: str) -> str:
        return _step_result("done", summary) if self.run.is_step else summary

    def fail(self, why: str) -> NoReturn:
        """End the run as failed."""
        raise GuideReply(_step_result("failed", why))

    def call(self, tool: str, **parameters: Any) -> CallResult:
        """Return the result of a call; make the call if it is new."""
        key = call_key(tool, parameters)
        results, place = self.run.calls.get(key, []), self._used[key]
        self._used[key] += 1
        if place < len(results):
            return results[place]
        call = {"tool": tool, "parameters": parameters, "terminate": False}
        raise GuideReply(json.dumps(call, ensure_ascii=False))

    def read(self, tool: str, path: str, **parameters: Any) -> CallResult:
        """Fail if the file cannot be read."""
        result = self.call(tool, path=path, **parameters)
        if not result.ok:
            self.fail(f"I cannot read `{path}`: {first_line(result.text)}")
        return result

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


def _step_result(status: Literal["done", "failed"], summary: str) -> str:
    result = {"type": "result", "format_version": "1.0", "status": status, "summary": summary}
    return json.dumps(result, ensure_ascii=False)
