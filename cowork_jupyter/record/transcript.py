"""The messages of a conversation as Markdown: text in full, tool calls in a line each."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from ..domain.events import QuestionAnswered
from ..domain.messages import (
    ENDED_EARLY,
    Answer,
    Cut,
    ErrorData,
    ImagePart,
    Message,
    MessageType,
    PlanData,
    QuestionData,
    ReviewData,
    RoleChangeData,
    TaskAssignmentData,
    TaskResultData,
    TextData,
)
from .account import verdict
from .conversation_log import ConversationLog
from .markdown import code, cut, fenced, line, plain, quote
from .redactor import Redactor
from .step_traces import LoggedToolUse, timestamp, tool_uses

_RUN_CODE = {"command": "bash", "code": "python"}
"""Parameters that hold code to run, and the language to show it in."""
_MAX_OUTPUT = (12, 1_000)
_MAX_CODE = (60, 4_000)
_PICTURE = "*(a picture, not shown here)*"


def transcript(log: ConversationLog, redactor: Redactor) -> Iterator[str]:
    """The conversation in sections; consecutive tool calls share one."""
    writer = _Writer(log, redactor)
    calls: list[str] = []
    for message in log.messages:
        if message.id in writer.uses:
            calls.append(writer.call(writer.uses[message.id]))
        elif message.message_type is not MessageType.TOOL_RESULT:
            if calls:
                yield "\n".join(calls).rstrip()
                calls = []
            if text := writer.message(message):
                yield text
    if calls:
        yield "\n".join(calls).rstrip()


class _Writer:
    def __init__(self, log: ConversationLog, redactor: Redactor) -> None:
        self.uses = {use.call.id: use for use in tool_uses(log.messages)}
        self._redactor = redactor
        self._steps = _step_numbers(log)
        answered = log.event_data(QuestionAnswered)
        self._answers = {each.id: each.value for each in answered if each.value is not None}
        self._askers = _askers(log)
        self._last_words: dict[str | None, str] = {}
        """The last words of each task, so that they are not repeated as its result."""

    def call(self, use: LoggedToolUse) -> str:
        step = self._step(use.call)
        outcome = f": {line(use.summary)}" if use.ok else f" failed: {line(use.summary)}"
        if use.result is None:
            outcome = " returned no result"
        head = f"- {f'{step}, ' if step else ''}{code(use.tool)}{outcome}"
        blocks = self._blocks(use)
        return "\n\n".join([head, *blocks]) + ("\n" if blocks else "")

    def _blocks(self, use: LoggedToolUse) -> list[str]:
        parameters = use.parameters
        blocks = [
            self._cut(parameters[name], _MAX_CODE, language)
            for name, language in _RUN_CODE.items()
            if isinstance(parameters.get(name), str)
        ]
        if blocks and use.result and use.result.text:
            blocks.append(self._cut(use.result.text, _MAX_OUTPUT, "text"))
        if use.diff:
            blocks.append(self._cut(use.diff, _MAX_CODE, "diff"))
        return blocks

    def _cut(self, text: str, most: tuple[int, int], language: str) -> str:
        """Redacts before it cuts: no pattern matches half a key."""
        return fenced(cut(self._redactor.clean(plain(text)), *most), language)

    def message(self, message: Message) -> str:
        match message.data:
            case PlanData() as plan:
                return self._plan(message, plan)
            case QuestionData() as question:
                return self._question(message, question)
            case TextData(answer=Answer()):
                return ""  # shown below its question
            case TextData(by="kernel" | "policy"):
                return f"*{line(message.text)}*"
            case ReviewData() as review:
                return self._review(message, review)
            case TaskAssignmentData(replan=True):
                return f"**{self._agent(message)}** re-plans from here."
            case TaskAssignmentData(step=step):
                action = step.action if step else ""
                return f"**{self._step(message)}** starts: {line(action)}"
            case TaskResultData(status=status):
                return self._task_result(message, status or "ended")
            case RoleChangeData():
                return f"*{line(message.text)}*"
            case ErrorData():
                return f"**Error:** {line(message.text)}"
            case TextData(problem=problem, cut=cut):
                return self._text(message, problem, cut)
        return self._text(message)

    def _text(self, message: Message, problem: str = "", cut: Cut = "") -> str:
        self._last_words[message.task_id] = message.text.strip()
        pictures = [_PICTURE for part in message.content if isinstance(part, ImagePart)]
        words = [quote(message.text)] if message.text.strip() else []
        if not (pictures or words):
            return ""
        note = f" (not usable: {line(problem)})" if problem else ""
        ended = [f"*{ENDED_EARLY[cut]}*"] if cut in ENDED_EARLY else []
        return "\n\n".join([f"**{self._speaker(message)}**{note}", *words, *pictures, *ended])

    def _plan(self, message: Message, plan: PlanData) -> str:
        steps = "\n".join(f"{n}. {line(step.action)}" for n, step in enumerate(plan.steps, start=1))
        return f"**{self._speaker(message)}** proposes a plan: {line(plan.goal)}\n\n{steps}"

    def _question(self, message: Message, question: QuestionData) -> str:
        answer = self._answers.get(question.id or "")
        labels = {option.value: option.label for option in question.options}
        parts = [
            f"**{self._speaker(message)}** asks: {line(message.text)}",
            quote(question.context) if question.context else "",
            "*Not answered.*" if answer is None else f"**You:** {line(labels.get(answer, answer))}",
        ]
        return "\n\n".join(part for part in parts if part)

    def _review(self, message: Message, review: ReviewData) -> str:
        findings = [f"- {line(finding.text)}" for finding in review.findings]
        head = f"**{self._speaker(message)}** reviewed it: {line(verdict(review))}"
        summary = quote(review.summary)
        return "\n\n".join(part for part in (head, summary, "\n".join(findings)) if part)

    def _task_result(self, message: Message, status: str) -> str:
        head = f"**{self._step(message)}** {line(status)}."
        is_repeated = self._last_words.get(message.task_id) == message.text.strip()
        return head if is_repeated else f"{head}\n\n{quote(message.text)}"

    def _speaker(self, message: Message) -> str:
        at = timestamp(message.created_at)
        time = f", {datetime.fromtimestamp(at, UTC):%H:%M}" if at is not None else ""
        return self._name(message) + time

    def _name(self, message: Message) -> str:
        if message.role == "user":
            return self._askers.get(message.id, "You")
        step = self._step(message)
        whose = "Cowork" if message.role == "system" else self._agent(message)
        return f"{whose}, {step.lower()}" if step else whose

    def _agent(self, message: Message) -> str:
        return message.agent_role.spec.label if message.agent_role else "Agent"

    def _step(self, message: Message) -> str:
        number = self._steps.get(message.task_id or "")
        return f"Step {line(number)}" if number else ""


def _askers(log: ConversationLog) -> dict[str, str]:
    """By message: who began a job with it, if not a person."""
    jobs = {job.id: job for job in log.jobs if job.by != "person"}
    askers = {}
    for message in log.messages:
        job = jobs.pop(message.job_id or "", None) if message.role == "user" else None
        if job and isinstance(message.data, TextData):
            cell = f"A cell of {line(job.notebook)}" if job.notebook else "A program"
            askers[message.id] = line(message.data.guest) if message.data.guest else cell
    return askers


def _step_numbers(log: ConversationLog) -> dict[str, str]:
    """By task: the number of its step in the plan its job executes."""
    numbers = {
        (revision.plan_id, revision.revision, step.id): str(step.step_number)
        for revision in log.revisions
        for step in revision.plan.steps
    }
    by_task = {}
    for job in log.jobs:
        for task in job.tasks:
            key = (job.plan_id or "", job.plan_revision or 0, task.step_id)
            by_task[task.id] = numbers.get(key, task.step_id)
    return by_task
