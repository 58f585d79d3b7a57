"""A run in short Markdown: what a notebook shows to readers without a kernel or the extension."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..domain.contexts import JobStatus
from ..domain.guidance import guidance_line
from ..domain.messages import ENDED_EARLY, Message, MessageType, QuestionData, ReviewData, TextData
from ..domain.plurals import count_of
from ..domain.replies import Question
from ..effects.figure_index import without_source
from ..store import UserRequest
from ..store.records import PENDING
from .account import StepAccount, plan_account, verdict
from .export import duration
from .markdown import code, line, quote
from .redactor import Redactor
from .run import EXECUTED, RecordedRun, asked_by
from .step_traces import tool_uses

MAX_MARKDOWN, MAX_TEXT = 4_000, 1_000
"""Bytes in a notebook file, as Markdown and as plain text."""

_PER_LINE = 10
_MAX_EFFECTS = 6
_MAX_GUIDANCE = 12
_ROOM = ((60, 160, 1_200), (60, 60, 500), (30, 40, 300), (10, 30, 160))
"""Steps, characters of each, characters of an answer: the first that fit."""


def card_markdown(run: RecordedRun, model: str | None, redactor: Redactor) -> str:
    writer = _Writer(run, model, redactor)
    for steps, words, answer in _ROOM:
        text = "\n\n".join(part for part in writer.parts(steps, words, answer) if part)
        text = redactor.clean(text)
        if _saved_size(text) <= MAX_MARKDOWN:
            return text
    return _cut(text, MAX_MARKDOWN)


def brief(markdown: str) -> str:
    return markdown if _saved_size(markdown) <= MAX_TEXT else _cut(markdown, MAX_TEXT)


def _cut(text: str, most: int) -> str:
    lines = text.split("\n")
    while len(lines) > 1 and _saved_size("\n".join(lines)) > most:
        lines.pop()
    return "\n".join([*lines, "", "…"])


def _saved_size(text: str) -> int:
    """Each line is a quoted string on a line of its own."""
    quoted = json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")
    return len(quoted) + _PER_LINE * (text.count("\n") + 1)


class _Writer:
    def __init__(self, run: RecordedRun, model: str | None, redactor: Redactor) -> None:
        self._run = run
        self._model = run.usage.model or run.context.model or model
        self._redactor = redactor

    def parts(self, steps: int, words: int, answer: int) -> Iterator[str]:
        run = self._run
        yield f"**{run.role.spec.label}** · {self._line(run.title, answer) or 'Cowork'}"
        yield f"*{self._state()}*  \n*{self._origin()}*"
        yield guidance_line(run.guidance[:_MAX_GUIDANCE], lambda name: code(name[:60]))
        yield from self._plan(steps, words)
        yield from self._asked(words)
        yield self._done(words)
        yield self._data(words)
        yield self._answer(answer)
        yield from self._afterwards(answer)
        if error := run.current_job.error:
            if run.current_job.status is not JobStatus.FAILED:
                yield f"*{self._line(error, answer)}*"
            elif "\n" in error:
                yield f"**Error:**\n\n{self._quote(error, answer)}"
            else:
                yield f"**Error:** {self._line(error, answer)}"

    def _state(self) -> str:
        """`completed · 12.0 s · 1,234 tokens · gpt-5-mini`."""
        job, usage = self._run.current_job, self._run.usage
        parts = [
            "plan ready" if self._run.is_plan_ready else job.status.value,
            duration(job.working_seconds) if job.status.is_final else "",
            f"{usage.total_tokens:,} tokens" if usage.total_tokens else "",
            line(self._model or ""),
        ]
        return " · ".join(part for part in parts if part)

    def _origin(self) -> str:
        """When it began, who asked, what they approved: `2026-11-15 09:16 UTC · asked by ada`."""
        run = self._run
        by, executions = asked_by(run), run.executions
        parts = [
            f"{run.job.created_at[:16].replace('T', ' ')} UTC",
            f"asked by {line(by)}" if by else "",
            f"revision {executions[-1].plan_revision} of the plan {EXECUTED[executions[-1].by]}"
            if executions
            else "",
        ]
        return " · ".join(part for part in parts if part)

    def _plan(self, most: int, words: int) -> Iterator[str]:
        revision = self._run.revision
        if revision is None:
            return
        plan = plan_account(revision.plan, self._run.tasks)
        if plan.goal.strip() != self._run.goal:
            yield f"Plan: {self._line(plan.goal, words)}"
        steps = [self._step(number, step, words) for number, step in enumerate(plan.steps, start=1)]
        if len(steps) > most:
            steps = [*steps[:most], f"\n… and {count_of(len(steps) - most, 'more step')}"]
        yield "\n".join(steps)
        if self._run.is_plan_ready and plan.rights:
            yield self._line(plan.rights, words * 4)
        for title, text in plan.notes.items():
            yield f"{title}: {self._line(text, words * 3)}"

    def _step(self, number: int, step: StepAccount, words: int) -> str:
        who = f"*{line(step.by)}:* " if step.by else ""
        files = " ".join(code(file[:60]) for file in step.files[:3]) if words > 60 else ""
        text = " ".join(filter(None, [step.mark, who + self._line(step.action, words)]))
        parts = [text, files, self._line(step.error, words)]
        return f"{number}. " + " — ".join(filter(None, parts))

    def _asked(self, words: int) -> Iterator[str]:
        lines = [self._question(question, words) for question in self._run.questions[-6:]]
        question_ids = {question.id for question in self._run.questions}
        lines += [
            f"- Asked: {self._line(message.text, words)} *(nobody could answer)*"
            for message in self._run.messages[-200:]
            if isinstance(message.data, QuestionData) and message.data.id not in question_ids
        ][-6:]
        lines += [self._permission(permission, words) for permission in self._run.permissions[-8:]]
        if lines:
            yield "\n".join(lines)

    def _question(self, request: UserRequest, words: int) -> str:
        question = Question.model_validate(request.data)
        if request.answer:
            label = question.label_of(str(request.answer.get("value")))
            outcome = f"**{self._line(label, words)}**"
        else:
            outcome = "*waits for your answer*" if request.status == PENDING else "*not answered*"
        return f"- Asked: {self._line(question.question, words)} → {outcome}"

    def _permission(self, request: UserRequest, words: int) -> str:
        about = str(request.data.get("resource") or "")[:words]
        named = [str(request.data.get("tool", "")), *([about] if about else [])]
        what = " ".join(map(code, named))
        answer = request.answer or {}
        scope, why = answer.get("scope"), answer.get("feedback")
        outcome = line(request.status) + (f", {line(str(scope))}" if scope else "")
        reason = f": {self._line(why, words)}" if why else ""
        return f"- Permission: {what} → *{outcome}*{reason}"

    def _done(self, words: int) -> str:
        """Used tools in one line; each refused or failed call in a line of its own."""
        uses = tool_uses(self._run.messages)
        calls = Counter(use.tool for use in uses)
        paths = dict.fromkeys(path for use in uses for path in use.paths)
        if not calls:
            return ""
        counted = ", ".join(code(name) + (f" ×{n}" if n > 1 else "") for name, n in calls.items())
        named = " ".join(code(path[:60]) for path in list(paths)[:6])
        more = f" and {len(paths) - 6} more" if len(paths) > 6 else ""
        failed = [use for use in uses if use.result is not None and not use.ok][-4:]
        lines = [f"- {code(use.tool)}: {self._line(use.summary, words * 2)}" for use in failed]
        head = f"Used {counted}" + (f" on {named}{more}" if named else "")
        return "\n\n".join([head, "\n".join(lines)]) if lines else head

    def _data(self, words: int) -> str:
        lines = []
        for effect in self._run.effects[-_MAX_EFFECTS:]:
            parts = [effect.line, *(f"⚠ {warning.message}" for warning in effect.warnings)]
            lines += [f"- {self._line(part, words)}" for part in parts if part]
        return "\n".join(lines)

    def _afterwards(self, most: int) -> Iterator[str]:
        """Whether the notebook still runs, if that was tried, and whether all was rolled back."""
        for field in ("reproduction", "rollback"):
            notes = [
                message.text
                for message in self._run.messages
                if isinstance(message.data, TextData) and getattr(message.data, field) is not None
            ]
            yield self._line(notes[-1], most) if notes else ""

    def _answer(self, most: int) -> str:
        last = next(filter(_is_answer, reversed(self._run.messages)), None)
        if last is None:
            return ""
        if isinstance(last.data, ReviewData):
            summary = self._quote(last.data.summary, most)
            return f"Review: **{line(verdict(last.data))}**\n\n{summary}"
        early = ENDED_EARLY.get(last.data.cut, "") if isinstance(last.data, TextData) else ""
        ended = f"\n\n*{early}*" if early else ""
        unseen = without_source(getattr(last.data, "figures", []))
        note = f"\n\nNot found in any output: {self._line(', '.join(unseen), most)}"
        return self._quote(last.text, most) + ended + (note if unseen else "")

    def _quote(self, text: str, most: int) -> str:
        cleaned = self._redactor.clean(text.strip()[: most + 500])
        return quote(cleaned if len(cleaned) <= most else f"{cleaned[:most]}…")

    def _line(self, text: Any, most: int) -> str:
        cleaned = " ".join(self._redactor.clean(str(text)[: most + 500]).split())
        return line(cleaned if len(cleaned) <= most else f"{cleaned[: most - 1]}…")


def _is_answer(message: Message) -> bool:
    kinds = (MessageType.TEXT, MessageType.REVIEW, MessageType.TASK_RESULT)
    return message.role == "assistant" and message.message_type in kinds
