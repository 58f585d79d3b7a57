"""The endpoint for what agents assume and users confirm or correct."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from ..agents.plan.plans import Settlement
from ..domain.figures import Assumption
from .calls import Call
from .models import Name, RequestBody, Text, Whole
from .routes import table


class AssumptionDecision(RequestBody):
    """`POST context/{id}/assumptions`: of a message, or else of a plan, by default the current."""

    message_id: Name | None = None
    plan_id: Name | None = None
    index: Annotated[int, Field(ge=0, le=1000), Whole]
    """Its place in the list, from 0."""
    status: Literal["confirmed", "corrected"]
    correction: Annotated[Text, Field(max_length=2000)] = ""
    """What is the case instead."""


class AssumptionList(BaseModel):
    """All assumptions of the same plan or answer, as they stand now."""

    items: list[Assumption]
    next: None = None
    job_id: str | None
    """The job that works on a correction; None if nothing was corrected, or a job under way reads
    the correction at its next turn."""


@table.route(
    "POST",
    "context/{id}/assumptions",
    body=AssumptionDecision,
    answer=AssumptionList,
    action="execute",
)
async def settle_assumption(call: Call) -> BaseModel:
    """Confirm an assumption, or correct it. A correction goes to the planner."""
    said = Settlement(**dict(call.body))
    items, job_id = call.service.settle_assumption(call.path["id"], said)
    return AssumptionList(items=items, job_id=job_id)
