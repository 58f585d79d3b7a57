"""The user, as a run sees them: somebody who can be asked and who decides, or nobody."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, runtime_checkable

from pydantic import BaseModel

from ...domain.events import CallRequest, Choice, ChosenScope, HeadlessDenial
from ...domain.messages import QuestionData
from ...domain.replies import Question
from ...store import Asker
from ..log import RunLog

ONCE: Literal["once"] = "once"


class User(Protocol):
    async def ask(self, question: Question, log: RunLog, asker: Asker = "") -> str | None:
        """The answer; None if nobody is there to give one."""

    def open_question(self, asker: Asker, log: RunLog) -> Question | None:
        """What an earlier run of this task asked, if the answer was not used yet.

        Asking it again takes it up: nobody is asked twice.
        """


class PermissionRequest(CallRequest):
    """One call that waits for the user."""

    call_id: str
    scopes: list[ChosenScope] = [ONCE]
    digest: str
    """Stands for exactly this call on exactly these files."""


class Ruling(BaseModel):
    """What was decided."""

    decision: Choice
    scope: ChosenScope = ONCE
    feedback: str = ""
    by: str = ""
    """The client through which it was decided, where that was not one of ours."""


class NobodyToAsk(Ruling):
    """Denied because nobody could be asked; the feedback says it all."""


class Approver(Protocol):
    async def decide(self, request: PermissionRequest, log: RunLog) -> Ruling: ...


@runtime_checkable
class AnnouncingApprover(Protocol):
    """An approver that can show calls before their turn, to decide about several at once."""

    def announce(self, request: PermissionRequest, log: RunLog) -> None:
        """Show it; `decide` for the same call takes the answer up."""

    def forget(self, call_id: str) -> None: ...


@runtime_checkable
class MayBeAway(Protocol):
    """A user who is not always there."""

    def is_away(self) -> bool: ...


def nobody_is_there(user: User | Approver) -> bool:
    return isinstance(user, MayBeAway) and user.is_away()


class Nobody:
    """A headless run, in which nothing ever waits: questions are recorded and not answered, and
    what would ask for approval is denied, with what would have allowed it.
    """

    def is_away(self) -> bool:
        return True

    async def ask(
        self,
        question: Question,
        log: RunLog,
        asker: Asker = "",  # noqa: ARG002 (nobody takes it up)
    ) -> str | None:
        log.say("assistant", question.question, QuestionData(**dict(question)))
        return None

    def open_question(self, asker: Asker, log: RunLog) -> Question | None:  # noqa: ARG002 (none is)
        return None

    async def decide(self, request: PermissionRequest, log: RunLog) -> Ruling:
        why = deny_unasked(request.tool, " ".join(request.why), request.rules, log)
        return NobodyToAsk(decision="deny", feedback=why)


def deny_unasked(tool: str, why: str, rules: Sequence[str], log: RunLog) -> str:
    """Record that a call is denied because nobody can be asked; returns the whole reason."""
    allowing = " and ".join(rules)
    hint = f" To allow it, use a policy file that allows {allowing}." if rules else ""
    reason = f"Nobody can be asked: {why}{hint}"
    log.event(HeadlessDenial(tool=tool, message=reason))
    return reason
