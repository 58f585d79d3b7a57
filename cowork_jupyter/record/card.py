"""The card of a run, as a notebook stores it: data to draw it again, and Markdown to read it.

Both are small, whatever the run was, and both can be shared: no keys, and no paths that
reveal somebody's home.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ..domain.contexts import Job
from ..domain.messages import Message, MessageType
from ..domain.role_view import RoleLook
from ..domain.team import rights_of
from ..store import PlanRevision, UserRequest
from ..store.records import PENDING
from .card_markdown import brief, card_markdown
from .card_model import CardJob, CardTask, EffectSummary, RunCardData
from .redactor import Redactor
from .run import RecordedRun, asked_by, decisions

VERSION = 1
MAX_CARD = 13_000
"""Bytes of the data in a saved notebook, where every value is on a line of its own."""
_INDENT = 6

_SAVED_FIELDS = {
    MessageType.TOOL_CALL: ("call_id", "tool", "parameters"),
    MessageType.TOOL_RESULT: ("call_id", "ok", "summary", "error", "figures", "seconds"),
    MessageType.PLAN: (),
    MessageType.TASK_ASSIGNMENT: (),
    MessageType.TEXT: (
        "reasoning",
        "thought_seconds",
        "cut",
        "problem",
        "answer",
        "reproduction",
        "figures",
        "assumptions",
        "mentions",
    ),
}
"""The fields of a message's data that its card needs; of other types, all."""
_WITHOUT_TEXT = (
    MessageType.TOOL_RESULT,
    MessageType.PLAN,
    MessageType.TASK_ASSIGNMENT,  # our own prompt to an agent
)
_BRIEF_STEP = {"id", "step_number", "action", "status", "role", "agent", "rounds"}
_MAX_SAVED_DEPTH = 6
_MAX_SECRET_LENGTH = 500


@dataclass(frozen=True)
class Allowance:
    messages: int
    text: int
    """Characters of a message or of the goal."""
    steps: int
    words: int
    """Characters of a step's action, and of every string inside data."""
    items: int
    """Entries of a list or of an object inside data, and pending requests."""
    whole_steps: bool = False


_ALLOWANCES = (
    Allowance(messages=20, text=1_500, steps=100, words=400, items=8, whole_steps=True),
    Allowance(messages=10, text=700, steps=100, words=200, items=6, whole_steps=True),
    Allowance(messages=6, text=400, steps=100, words=120, items=4, whole_steps=True),
    Allowance(messages=4, text=300, steps=90, words=80, items=4),
    Allowance(messages=2, text=200, steps=60, words=48, items=3),
    Allowance(messages=1, text=120, steps=25, words=40, items=3),
    Allowance(messages=0, text=80, steps=8, words=30, items=2),
)
"""From generous to what always fits."""


@dataclass(frozen=True)
class RunCard:
    card: RunCardData
    markdown: str
    text: str
    """Its beginning, for where there is no Markdown either."""


def run_card(
    run: RecordedRun, *, host: str, model: str | None, stale: list[str], redactor: Redactor
) -> RunCard:
    """`host` says who can be asked for more."""
    builder = _CardBuilder(run, host, model, stale, redactor)
    fitting = (card for card in map(builder.card, _ALLOWANCES) if saved_size(card) <= MAX_CARD)
    card = next(fitting, None) or builder.card(_ALLOWANCES[-1])
    markdown = card_markdown(run, model, redactor)
    return RunCard(RunCardData.model_validate(card), markdown, brief(markdown))


def saved_size(card: dict[str, Any]) -> int:
    text = json.dumps(card, indent=1, ensure_ascii=False)
    return len(text.encode("utf-8", "replace")) + _INDENT * (text.count("\n") + 1)


@dataclass(frozen=True)
class _CardBuilder:
    run: RecordedRun
    host: str
    model: str | None
    stale: list[str]
    redactor: Redactor

    def card(self, allowed: Allowance) -> dict[str, Any]:
        run = self.run
        return {
            "version": VERSION,
            "kind": "run",
            "host": self.host,
            "context_id": run.context.id,
            "job_id": run.job.id,
            "role": run.role.value,
            "roles": [RoleLook.look(role).model_dump() for role in run.roles],
            "title": self._cut(run.title, allowed.text),
            "snapshot": self._snapshot(allowed),
            "saved_at": run.as_of,
        }

    def _snapshot(self, allowed: Allowance) -> dict[str, Any]:
        run, job = self.run, self.run.current_job
        messages = run.messages[-allowed.messages :] if allowed.messages else []
        return {
            "seq": run.seq,
            "status": job.status.value,
            "error": self._cut(job.error, allowed.text) if job.error else None,
            "role": run.role.value,
            "model": run.usage.model or run.context.model or self.model,
            "goal": self._cut(run.goal, allowed.text),
            "messages": [self._message(message, allowed) for message in messages],
            "left_out": len(run.messages) - len(messages),
            **self._plan(run.revision, allowed),
            "jobs": [self._job(run_job) for run_job in run.jobs],
            "tasks": list(self._tasks(allowed)),
            "questions": self._pending(run.questions, allowed),
            "permissions": self._pending(run.permissions, allowed),
            "usage": run.usage.model_dump(),
            "asked_by": self._cut(asked_by(run), allowed.words),
            "decisions": [
                self._trim(decision.model_dump(), allowed)
                for decision in decisions(run)[-allowed.items :]
            ],
            "effects": list(self._effects(allowed)),
            **self._guidance(allowed),
            "started_at": job.created_at,
            "ended_at": job.completed_at,
        }

    def _message(self, message: Message, allowed: Allowance) -> dict[str, Any]:
        kind = message.message_type
        whole = message.data.model_dump(mode="json")
        data = {key: whole[key] for key in _SAVED_FIELDS.get(kind, whole) if key in whole}
        text = "" if kind in _WITHOUT_TEXT else message.text
        facts = message.model_dump(mode="json", exclude={"content", "data", "context_id"})
        return {
            **facts,
            "text": self._cut(text, allowed.text),
            "data": self._trim(data, allowed),
            **({"cut": True} if len(text) > allowed.text else {}),
        }

    def _plan(self, revision: PlanRevision | None, allowed: Allowance) -> dict[str, Any]:
        if revision is None:
            return {"plan": None, "plan_id": None, "revision": 0, "made_at": None, "stale": []}
        rights = rights_of(revision.plan)
        plan = revision.plan.model_dump(mode="json")
        steps = plan.pop("steps")
        if not allowed.whole_steps:
            steps = [{key: step[key] for key in step if key in _BRIEF_STEP} for step in steps]
        trimmed_plan = self._trim(plan, allowed)
        trimmed_plan["steps"] = [self._trim(step, allowed) for step in steps[: allowed.steps]]
        if len(steps) > allowed.steps:
            trimmed_plan["steps_left_out"] = len(steps) - allowed.steps
        return {
            "plan": trimmed_plan,
            "plan_id": revision.plan_id,
            "revision": revision.revision,
            "made_at": revision.made_at,
            "stale": self._trim_value(self.stale, allowed.words, allowed.items),
            **({"rights": self._cut(rights, allowed.text)} if rights else {}),
        }

    def _job(self, job: Job) -> dict[str, Any]:
        facts = CardJob.from_model(job).model_dump(mode="json")
        return {**facts, "error": self._cut(job.error, 200) if job.error else None}

    def _tasks(self, allowed: Allowance) -> Iterator[dict[str, Any]]:
        """Without whole steps, the steps themselves carry the status."""
        if allowed.whole_steps:
            for task in self.run.tasks:
                facts = CardTask.from_model(task).model_dump(mode="json")
                yield self._trim(facts, allowed)

    def _effects(self, allowed: Allowance) -> Iterator[dict[str, Any]]:
        """A line each; evidence and advice of a warning are left to the server."""
        for effect in self.run.effects[-2 * allowed.items :]:
            facts = EffectSummary.from_model(effect).model_dump(mode="json")
            kept = {"code", "message", "line"}
            facts["warnings"] = [warning.model_dump(include=kept) for warning in effect.warnings]
            yield self._trim(facts, allowed)

    def _guidance(self, allowed: Allowance) -> dict[str, Any]:
        used = [guidance.model_dump(mode="json") for guidance in self.run.guidance]
        return {"guidance": self._trim_value(used, allowed.words, allowed.items)} if used else {}

    def _pending(self, requests: list[UserRequest], allowed: Allowance) -> list[dict[str, Any]]:
        """Pending requests. One that was cut is not complete enough to decide on."""
        waiting = [request for request in requests if request.status == PENDING]
        items = []
        for request in waiting[: allowed.items]:
            item = request.view()
            trimmed = self._trim(item, replace(allowed, words=allowed.text))
            preview = item.get("shown")
            if isinstance(preview, dict) and trimmed["shown"].get("text") != preview.get("text"):
                trimmed["shown"]["complete"] = False
            items.append(trimmed)
        return items

    def _cut(self, text: str, most: int) -> str:
        """Redacts before it cuts: no pattern matches half a key."""
        cleaned = self.redactor.clean(text[: most + _MAX_SECRET_LENGTH])
        return cleaned if len(cleaned) <= most else f"{cleaned[: most - 1]}…"

    def _trim(self, fields: dict[str, Any], allowed: Allowance) -> dict[str, Any]:
        """All fields, each trimmed."""
        words, items = allowed.words, allowed.items
        return {key: self._trim_value(value, words, items) for key, value in fields.items()}

    def _trim_value(self, value: Any, most: int, items: int, room: int = _MAX_SAVED_DEPTH) -> Any:
        if isinstance(value, str):
            return self._cut(value, most)
        if isinstance(value, dict | list) and not room:
            return None
        if isinstance(value, dict):
            return {
                key: self._trim_value(item, most, items, room - 1)
                for key, item in list(value.items())[:items]
            }
        if isinstance(value, list):
            return [self._trim_value(item, most, items, room - 1) for item in value[:items]]
        return value
