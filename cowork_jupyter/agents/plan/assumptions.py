"""What the user says of assumptions, of a plan or of an answer."""

from __future__ import annotations

from dataclasses import dataclass

from ...domain.errors import InvalidInput, NotFound
from ...domain.figures import Assumption, AssumptionStatus
from ...domain.messages import PlanData, TaskResultData, TextData
from .plans import Plans


@dataclass(frozen=True)
class Settlement:
    """What the user says of one assumption, of a plan or of an answer."""

    index: int
    status: AssumptionStatus
    correction: str = ""
    plan_id: str | None = None
    message_id: str | None = None


@dataclass(frozen=True)
class Settled:
    assumptions: list[Assumption]
    job_id: str | None
    """The job whose plan or answer rests on them."""
    news: str = ""
    """What an agent must be told; empty if nothing is new."""


def settle(plans: Plans, context_id: str, said: Settlement) -> Settled:
    plan_id = said.plan_id
    if said.message_id:
        store = plans.factory.journal.store
        message = store.message(context_id, said.message_id)
        match message.data:
            case PlanData(id=str(proposed)) if proposed:
                plan_id = proposed
            case TextData() | TaskResultData() as data:
                assumed, news = _with(data.assumptions, said)
                data.assumptions = assumed
                with plans.factory.journal.transaction() as tx:
                    tx.save_message_data(message)
                return Settled(assumed, message.job_id, news)
            case _:
                raise _no_such_assumption()
    revision = plans.newest(context_id, plan_id)
    assumed, news = _with(revision.plan.assumptions, said)
    plans.settle_assumptions(revision, assumed)
    made = plans.factory.journal.store.plan_revisions(revision.plan_id)
    job_id = next(
        (plan_revision.job_id for plan_revision in reversed(made) if plan_revision.job_id), None
    )
    return Settled(assumed, job_id, news)


def _with(assumed: list[Assumption], said: Settlement) -> tuple[list[Assumption], str]:
    if said.index >= len(assumed):
        raise _no_such_assumption()
    if said.status == "corrected" and not said.correction.strip():
        raise InvalidInput("correction: say what is true instead.", code="no_correction")
    before = assumed[said.index]
    is_corrected = said.status == "corrected"
    after = before.settled(said.status, said.correction.strip() if is_corrected else "")
    listed = [
        after if place == said.index else assumption for place, assumption in enumerate(assumed)
    ]
    news = f"Wrong assumption: {before.text}\nInstead: {after.correction}"
    return listed, news if is_corrected and after != before else ""


def _no_such_assumption() -> NotFound:
    return NotFound("There is no such assumption.", code="no_assumption")
