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


def settle(plans: Plans, context_id: str, settlement: Settlement) -> Settled:
    plan_id = settlement.plan_id
    if settlement.message_id:
        store = plans.factory.journal.store
        message = store.message(context_id, settlement.message_id)
        match message.data:
            case PlanData(id=str(proposed)) if proposed:
                plan_id = proposed
            case TextData() | TaskResultData() as data:
                assumed, news = _settle_one(data.assumptions, settlement)
                data.assumptions = assumed
                with plans.factory.journal.transaction() as tx:
                    tx.save_message_data(message)
                return Settled(assumed, message.job_id, news)
            case _:
                raise _no_such_assumption()
    revision = plans.newest(context_id, plan_id)
    assumed, news = _settle_one(revision.plan.assumptions, settlement)
    plans.settle_assumptions(revision, assumed)
    revisions = plans.factory.journal.store.plan_revisions(revision.plan_id)
    job_id = next((each.job_id for each in reversed(revisions) if each.job_id), None)
    return Settled(assumed, job_id, news)


def _settle_one(assumed: list[Assumption], settlement: Settlement) -> tuple[list[Assumption], str]:
    if settlement.index >= len(assumed):
        raise _no_such_assumption()
    is_corrected = settlement.status == "corrected"
    correction = settlement.correction.strip() if is_corrected else ""
    if is_corrected and not correction:
        raise InvalidInput("correction: say what is true instead.", code="no_correction")
    before = assumed[settlement.index]
    after = before.settled(settlement.status, correction)
    listed = [
        after if place == settlement.index else assumption
        for place, assumption in enumerate(assumed)
    ]
    news = f"Wrong assumption: {before.text}\nInstead: {after.correction}"
    return listed, news if is_corrected and after != before else ""


def _no_such_assumption() -> NotFound:
    return NotFound("There is no such assumption.", code="no_assumption")
