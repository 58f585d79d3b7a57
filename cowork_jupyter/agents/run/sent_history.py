"""Selects what of a conversation is sent to the model: what fits, in reading order."""

from __future__ import annotations

from dataclasses import dataclass

from ...domain.messages import Message
from ...llm.frames import Frame
from ...llm.history import cost_of, optimize_history_by_tokens
from ...llm.tokens import TokenCounter
from ...llm.vision import with_pictures
from ...policy.visible import spell_hidden
from ..log import RunLog
from .answer_form import AnswerForm
from .asides import Asides, inserted
from .current_plan import current_plan, standing_of, text_of
from .past import Past

_NOTE_SHARE = 4
"""The notebook note takes at most one part in this many of what is sent."""

_CHECK_OUTPUT = (
    "If this is right, reply with the answer in plain words{form}. If not, reply with the whole "
    "block corrected."
)
_CORRECT = "Reply with the whole block corrected."
_CHANGE = "The same code fails again. Do as the hint says, or compute it in another way."


@dataclass(frozen=True)
class SentHistory:
    log: RunLog
    past: Past
    asides: Asides
    frame: Frame
    counter: TokenCounter
    is_step: bool = False
    """Whether the run works on a step of a plan: then its assignment is the goal."""

    def fitting(self, room: int, pictures: int, coded: AnswerForm | None = None) -> list[Message]:
        """The plan and what fits of the past; last comes what changes from turn to turn.

        `coded` is the form of the answer, where the model is asked for code.
        """
        revision, goal = current_plan(self.log), self._goal()
        progress = standing_of(revision.plan) if revision else self._what_next(coded)
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
            plan=text_of(revision.plan) if revision else None,
            summary=self._summary(),
        )
        if note:  # it goes with the request that it was made for, where it stays in all turns
            history = inserted(history, goal.id if goal else "", note)
        for message_id, aside in mentioned.items():
            history = inserted(history, message_id, aside)
        return [*history, *standing]

    def _note_within(self, room: int) -> Message | None:
        """Leave the note out for a small window: the conversation matters more."""
        note = self.asides.note
        return note if note and cost_of(note, self.counter) * _NOTE_SHARE <= room else None

    def _summary(self) -> str | None:
        """Stands for the turns before those that are sent; it contains untrusted text."""
        known = self.past.summary
        if known is None:
            return None
        text = self.frame.around(spell_hidden(known.text))
        return f"Summary of the {known.count} messages before these:\n{text}"

    def _what_next(self, coded: AnswerForm | None) -> str:
        """Small models forget what to do once they see an output."""
        if coded is None or not self.past.ends_with_result():
            return ""
        if failed := self.past.failed_calls():
            return _CORRECT if failed.count(failed[0]) == 1 else _CHANGE
        form = " and ".join(coded.wanted)
        as_asked = f", ending with {form}, the dots being the computed value" if form else ""
        return _CHECK_OUTPUT.format(form=as_asked)

    def _goal(self) -> Message | None:
        """The request or assignment, which is never left out."""
        store, log = self.log.journal.store, self.log
        if self.is_step and log.task_id:
            return store.assignment(log.task_id)
        return store.goal(log.context_id, log.job_id)
