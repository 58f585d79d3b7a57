"""Ends a run that gets nowhere: unusable replies in a row, calls in a circle, limits reached."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...domain.contexts import JobStatus
from ...domain.messages import Cut
from ...domain.replies import Question, ToolCall
from ...llm.reply import Reply
from ...store import Asker
from ..ask.user import User
from ..log import RunLog
from .call_log import CallRecord
from .limits import GO_ON, LoopDetector, RunLimits, go_on_question
from .outcome import Outcome

logger = logging.getLogger(__name__)

MAX_STRIKES = 3
"""Consecutive unusable replies that end the run."""

_CUT: dict[Cut, str] = {
    "length": "It was cut off at the server's limit for one reply; write less at a time. ",
    "repetition": "It repeated itself without end and was stopped. ",
}
_EMPTY = "The reply was empty."
_REPAIR = "Your last reply was not usable. {problem} Reply again in one of the formats above."
_NUDGE = (
    "You are going in circles: {loop}. Look at the results you already have and try another "
    "approach, or say in plain text what keeps you from continuing."
)


@dataclass
class StuckGuard:
    """Its answers end the run; with None it goes on."""

    log: RunLog
    user: User
    limits: RunLimits
    _detector: LoopDetector = field(default_factory=LoopDetector)
    _strikes: int = 0
    _was_nudged: bool = False

    def clear_strikes(self) -> None:
        self._strikes = 0

    async def strike(self, reply: Reply, problem: str = "") -> Outcome | None:
        """The reply was unusable: tell the model, until that has not helped."""
        problem = problem or _CUT.get(reply.cut, "") + (reply.problem or _EMPTY)
        self._strikes += 1
        logger.debug("job %s unusable reply strike=%d", self.log.job_id, self._strikes)
        self.log.say("assistant", reply.raw, reply.beside_text(problem))
        if self._strikes >= MAX_STRIKES:
            return _give_up(problem)
        self.log.say("system", _REPAIR.format(problem=problem))
        return await self.observe(())

    def count_misuse(self, records: Sequence[CallRecord]) -> Outcome | None:
        """A reply whose calls were all misused is unusable, too."""
        misused = [record for record in records if record.misused]
        self._strikes = self._strikes + 1 if len(misused) == len(records) else 0
        return _give_up(str(misused[-1].error)) if self._strikes >= MAX_STRIKES else None

    async def observe(
        self, calls: Sequence[ToolCall], records: Sequence[CallRecord] = ()
    ) -> Outcome | None:
        """In a circle nudge the model once; if that does not help, let the user decide."""
        loop = self._detector.observe(calls, _error_of(records))
        if loop is None:
            return None
        if not self._was_nudged:
            self._was_nudged = True
            self.log.say("system", _NUDGE.format(loop=loop))
            return None
        return await self.ask_to_go_on(f"The agent is going in circles: {loop}.")

    async def ask_to_go_on(self, why: str) -> Outcome | None:
        """Without a user the run ends."""
        return await self._confirm_continue(go_on_question(why), why)

    async def resume_question(self) -> Outcome | None:
        """Take up a question that an earlier, interrupted run left open."""
        if question := self.user.open_question("model", self.log):
            await self.ask_user(question, "model")
        if question := self.user.open_question("limits", self.log):
            why = "You stopped the agent at this limit."
            return await self._confirm_continue(question, why)
        return None

    async def ask_user(self, question: Question, asker: Asker) -> str | None:
        with self.limits.waiting():
            return await self.user.ask(question, self.log, asker)

    async def _confirm_continue(self, question: Question, why: str) -> Outcome | None:
        answer = await self.ask_user(question, "limits")
        if answer != GO_ON:
            return Outcome.at_limit(why, stopped=answer is not None)
        self.limits.extend()
        self._was_nudged = False
        return None


def _give_up(problem: str) -> Outcome:
    error = f"The model gave {MAX_STRIKES} unusable replies in a row. The last: {problem}"
    return Outcome(JobStatus.FAILED, error)


def _error_of(records: Sequence[CallRecord]) -> str:
    errors = [record.error for record in records if record.error]
    if not errors or len(errors) < len(records):
        return ""
    return str(errors[-1].details.get("exception") or errors[-1].message)
