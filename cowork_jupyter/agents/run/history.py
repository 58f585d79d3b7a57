"""What is sent to the model: the plan, what fits of the past or a summary of it, and asides."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from ...domain.contexts import StepStatus
from ...domain.events import HistorySummary
from ...domain.messages import (
    ImagePart,
    Mention,
    Message,
    MessageType,
    TextData,
    ToolCallData,
    ToolResultData,
)
from ...domain.plan import Plan
from ...domain.plurals import count_of
from ...domain.roles import AgentRole
from ...llm.conversation import with_pictures
from ...llm.frames import Frame, spell_out_result
from ...llm.history import cost_of, optimize_history_by_tokens
from ...llm.tokens import TokenCounter
from ...policy.visible import spell_hidden
from ...store import PlanRevision
from ..log import RunLog
from .answer_form import AnswerForm

MAX_LISTED_STEPS = 50

_MENTIONED = "What the message points at with @, as it was when it was sent:"
_TABLE_KINDS = ("variable", "column", "file")
_NOTE_SHARE = 4
_CHECK_OUTPUT = (
    "If this is right, reply with the answer in plain words{form}. If not, reply with the whole "
    "block corrected."
)
_CORRECT = "Reply with the whole block corrected."
_CHANGE = "The same code fails again. Do as the hint says, or compute it in another way."
_EARLIER = "Earlier in this conversation, before the request:"
MAX_EARLIER_LINES = 6
_MAX_LINE = 300


def current_plan(log: RunLog) -> PlanRevision | None:
    """The plan of the job. A planner with a new goal has none: it is to make one."""
    store = log.journal.store
    plan_id = store.plan_id_of(log.job_id)
    if plan_id is None and log.role is AgentRole.PLANNER:
        return None
    return store.plan(log.context_id, plan_id=plan_id)


def plan_text(plan: Plan) -> str:
    """The plan without step statuses, so that the text stays the same over a whole execution."""
    fixed = plan.model_dump_json(exclude={"steps": {"__all__": {"status"}}})
    return f"The current plan:\n{fixed}"


def status_text(plan: Plan) -> str:
    groups: dict[StepStatus, list[str]] = {}
    for step in plan.steps:
        groups.setdefault(step.status, []).append(step.id)
    if groups.keys() == {StepStatus.PENDING}:
        return ""
    return f"Status of the plan: {'; '.join(_list_steps(*group) for group in groups.items())}."


def _list_steps(status: StepStatus, steps: list[str]) -> str:
    more = len(steps) - MAX_LISTED_STEPS
    return (
        f"{status}: {', '.join(steps[-MAX_LISTED_STEPS:])}{f' and {more} more' if more > 0 else ''}"
    )


@dataclass
class Mentioned:
    """All mentions of a message: what is stored of them, and what the agent is given."""

    mentions: list[Mention] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    pictures: list[ImagePart] = field(default_factory=list)
    guidance: str = ""
    """Instructions for the agent; unlike the rest, trusted."""

    @property
    def text(self) -> str:
        """For the model; contains untrusted text."""
        return "\n\n".join([_MENTIONED, *self.texts]) if self.texts else ""


def earlier_jobs(log: RunLog) -> str:
    """What was asked and answered before this job, as a note.

    As turns, a small model would imitate them: after answers it guesses, after code it goes on
    with that code.
    """
    lines: list[str] = []
    answered: set[str | None] = set()
    for message in log.journal.store.newest_messages(log.context_id):
        if len(lines) == MAX_EARLIER_LINES:
            break
        job, kind = message.job_id, message.message_type
        if job == log.job_id:
            continue
        text = " ".join((message.text or message.data_as_text).split())[:_MAX_LINE]
        if kind is MessageType.TASK_RESULT:
            lines.append(f"- A step ended: {text}")
        elif message.task_id or kind is not MessageType.TEXT:
            continue
        elif message.role == "user":
            lines.append(f"- They asked: {text}")
        elif message.role == "assistant" and job not in answered:
            answered.add(job)
            lines.append(f"- You answered: {text}")
    return "\n".join([_EARLIER, *reversed(lines)]) if lines else ""


LookUp = Callable[[Message, int], Awaitable[Mentioned]]


class AttachedContext:
    def __init__(self, log: RunLog, frame: Frame, note: str) -> None:
        self._log = log
        self._frame = frame
        self._text = note
        self.note = self._frame_text(note) if note else None
        self._mentioned: dict[str, Message] = {}

    @property
    def text(self) -> str:
        return "\n\n".join([self._text, *(aside.text for aside in self._mentioned.values())])

    async def look_up(self, message: Message, find: LookUp, room: int) -> bool:
        """Resolve the mentions of a message and store them with it; True if one is a table."""
        assert isinstance(message.data, TextData)
        mentioned = await find(message, room)
        content = []
        if mentioned.guidance:
            content += self._log.message("system", spell_hidden(mentioned.guidance)).content
        if mentioned.mentions:
            content += self._frame_text(mentioned.text, mentioned.pictures).content
            data = message.data.model_copy(update={"mentions": mentioned.mentions})
            with self._log.journal.transaction() as tx:
                tx.save_message_data(message.model_copy(update={"data": data}))
        if content:
            aside = self._log.message("system", "").model_copy(update={"content": content})
            self._mentioned[message.id] = aside
        return any(each.kind in _TABLE_KINDS and each.tokens for each in mentioned.mentions)

    def mentioned(self, pictures: int) -> dict[str, Message]:
        newest_first = with_pictures(reversed(self._mentioned.values()), pictures)
        return dict(zip(reversed(self._mentioned), newest_first, strict=True))

    def _frame_text(self, text: str, pictures: Sequence[ImagePart] = ()) -> Message:
        aside = self._log.message("system", self._frame.around(spell_hidden(text)))
        return aside.model_copy(update={"content": [*aside.content, *pictures]})


def insert_before(history: list[Message], before: str, aside: Message) -> list[Message]:
    """The history with the aside just before that message, or at its beginning."""
    ids = [message.id for message in history]
    place = ids.index(before) if before in ids else 0
    return [*history[:place], aside, *history[place:]]


class PastMessages:
    def __init__(self, log: RunLog, *, only_this_job: bool = False) -> None:
        self._log = log
        self._only_this_job = only_this_job
        self._store = log.journal.store
        self.summary = self._load_summary()
        """Stands for everything before the messages that are read."""
        self._cached: deque[Message] = deque()
        self._older: Iterator[Message] | None = None
        self._last = 0

    def newest_first(self) -> Iterator[Message]:
        """New messages, those read before, and on from there; lazily."""
        older = self._read_news()
        for message in chain(self._cached, self._read_older(older)):
            if self.summary and message.id == self.summary.last:
                return
            yield message

    def ends_with_result(self) -> bool:
        newest = next(self.newest_first(), None)
        return newest is not None and isinstance(newest.data, ToolResultData)

    def failed_calls(self) -> list[str]:
        """The parameters of calls that failed since anything else happened, newest first."""
        failed: list[str] = []
        for message in self.newest_first():
            if isinstance(message.data, ToolCallData):
                failed.append(json.dumps(message.data.parameters, sort_keys=True))
            elif not isinstance(message.data, ToolResultData) or message.data.ok:
                break
        return failed

    def thoughts(self) -> dict[str, str]:
        """The model's reasoning before each call of this job, by call id.

        Calls of one turn share the reasoning that was stored just before them.
        """
        thoughts: dict[str, str] = {}
        thought = ""
        for message in self._store.job_messages(self._log.job_id):
            if message.task_id != self._log.task_id:
                continue
            if isinstance(message.data, ToolCallData):
                thoughts[message.data.call_id] = thought
            elif isinstance(message.data, TextData) and message.role == "assistant":
                thought = message.data.reasoning or ""
            else:
                thought = ""
        return thoughts

    def _read_older(self, older: Iterator[Message]) -> Iterator[Message]:
        for message in map(spell_out_result, filter(self._is_sent, older)):
            self._cached.append(message)
            yield message

    def _load_summary(self) -> HistorySummary | None:
        log = self._log
        notice = self._store.newest_notice(log.context_id, "history_summary", log.task_id)
        data = notice.data if notice else None
        return data if isinstance(data, HistorySummary) else None

    def _is_sent(self, message: Message) -> bool:
        """Of other tasks only results are sent; `recall` finds the rest.

        The result of a task delegated in this job is sent as the result of that call already.
        """
        is_own = message.task_id == self._log.task_id
        is_news = message.job_id != self._log.job_id
        is_outcome = is_news and message.message_type is MessageType.TASK_RESULT
        if is_news and self._only_this_job:
            return False
        return _is_sendable(message) and (is_own or is_outcome)

    def _read_news(self) -> Iterator[Message]:
        context_id, task_id = self._log.context_id, self._log.task_id
        before, self._last = self._last, self._store.last_seq(context_id)
        if self._older is None:
            self._older = self._store.newest_messages(context_id, task_id)
        else:
            news = self._store.messages(context_id, before).items
            news = [message for message in news if task_id in (None, message.task_id)]
            self._cached.extendleft(map(spell_out_result, filter(self._is_sent, news)))
        return self._older


def _is_sendable(message: Message) -> bool:
    """Errors were told to the user, not the model; reasoning without text is no turn."""
    if message.message_type is MessageType.TEXT:
        return bool(message.content)
    return message.message_type is not MessageType.ERROR


@dataclass(frozen=True)
class SentHistory:
    log: RunLog
    past: PastMessages
    asides: AttachedContext
    frame: Frame
    counter: TokenCounter
    is_step: bool = False
    """Whether the run works on a step of a plan: then its assignment is the goal."""

    def select(self, room: int, pictures: int, coded: AnswerForm | None = None) -> list[Message]:
        """The plan and what fits of the past; last comes what changes from turn to turn.

        `coded` is the form of the answer, where the model is asked for code.
        """
        revision, goal = current_plan(self.log), self._goal()
        progress = status_text(revision.plan) if revision else self._next_instruction(coded)
        standing = [self.log.message("system", progress)] if progress else []
        mentioned = self.asides.mentioned(pictures)
        pictures -= sum(len(aside.pictures) for aside in mentioned.values())
        note = self._note_within(room)
        beside = [*standing, *mentioned.values(), *([note] if note else [])]
        history = optimize_history_by_tokens(
            with_pictures(self.past.newest_first(), pictures),
            room - sum(cost_of(message, self.counter) for message in beside),
            self.counter,
            goal=goal,
            plan=plan_text(revision.plan) if revision else None,
            summary=self._summary(),
        )
        if note:  # it goes with the request that it was made for, where it stays in all turns
            history = insert_before(history, goal.id if goal else "", note)
        for message_id, aside in mentioned.items():
            history = insert_before(history, message_id, aside)
        return [*history, *standing]

    def _note_within(self, room: int) -> Message | None:
        """Leave the note out for a small window: the conversation matters more."""
        note = self.asides.note
        return note if note and cost_of(note, self.counter) * _NOTE_SHARE <= room else None

    def _summary(self) -> str | None:
        """Stands for the turns before those that are sent; it contains untrusted text."""
        summary = self.past.summary
        if summary is None:
            return None
        text = self.frame.around(spell_hidden(summary.text))
        return f"Summary of the {count_of(summary.count, 'message')} before these:\n{text}"

    def _next_instruction(self, coded: AnswerForm | None) -> str:
        """Small models forget what to do once they see an output."""
        if coded is None or not self.past.ends_with_result():
            return ""
        if failed := self.past.failed_calls():
            return _CORRECT if failed.count(failed[0]) == 1 else _CHANGE
        form = " and ".join(coded.wanted)
        as_asked = f", ending with {form}, the dots being the computed value" if form else ""
        return _CHECK_OUTPUT.format(form=as_asked)

    def _goal(self) -> Message | None:
        store, log = self.log.journal.store, self.log
        if self.is_step and log.task_id:
            return store.assignment(log.task_id)
        return store.goal(log.context_id, log.job_id)
