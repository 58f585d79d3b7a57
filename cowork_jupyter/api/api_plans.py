"""Endpoints for plans: read, edit, list, restore, execute, and settle what they assume."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, RootModel

from ..agents.plan.assumptions import Settlement
from ..domain.base_models import Data
from ..domain.cell_commands import Execute, RestorePlan
from ..domain.contexts import JobKind, RequestOrigin
from ..domain.figures import Assumption
from ..domain.plan import Plan
from ..domain.team import rights_of
from ..record.changes import PlanComparison, compare_plans
from ..store import PlanRevision
from .calls import Call, NeedsPerson, initiator_of
from .models import Items, Name, RequestBody, Seq, Text, Whole
from .routes import table


class PlanQuery(RequestBody):
    """`GET context/{id}/plan`: by default the newest revision of the current plan."""

    plan_id: Name | None = None
    revision: Seq | None = None
    running: bool = False
    """Prefer the plan that is being executed to the current one."""


class PlanAnswer(Data):
    """The plan of a conversation, if it has one."""

    plan: Plan | None
    revision: int
    made_at: str | None
    stale: list[str]
    """Files that changed since the plan was made."""
    rights: str = ""
    """What approving it allows each role; only if the plan names roles."""


class PlanEdit(RequestBody):
    """`PUT context/{id}/plan`."""

    plan: dict[str, Any]
    revision: Seq
    plan_id: Name | None = None
    """By default the current plan."""


class PlanSummary(BaseModel):
    """A plan of a conversation, at its newest revision."""

    id: str
    goal: str
    request: str
    revision: int
    made_at: str
    job_id: str | None
    """The job that made this revision."""


class PlanList(Items[PlanSummary]):
    """The plans of a conversation, oldest first: the last is the current one."""


class RevisionsQuery(RequestBody):
    """`GET context/{id}/plan/revisions`."""

    plan_id: Name | None = None


class RevisionSummary(BaseModel):
    """A revision of a plan."""

    revision: int
    made_at: str
    by: str
    change: str
    """What differs from the previous revision."""


class RevisionList(BaseModel):
    """The revisions of a plan, oldest first."""

    plan_id: str
    items: list[RevisionSummary]
    next: None = None


class CompareQuery(RequestBody):
    """`GET context/{id}/plan/compare`: by default the newest revision with the previous one."""

    plan_id: Name | None = None
    from_: Seq | None = Field(None, alias="from")
    to: Seq | None = None


class ComparisonAnswer(PlanComparison):
    """How a revision of a plan differs from another."""

    from_revision: int
    to_revision: int


class PlanRestore(RequestBody):
    """`POST context/{id}/plan/restore`."""

    revision: Seq
    plan_id: Name | None = None
    cell_id: Name | None = None
    """The notebook cell that it is sent from."""


class PlanExecution(RequestBody):
    """`POST context/{id}/plan/execute`."""

    revision: Seq
    plan_id: Name | None = None
    """By default the current plan."""
    max_parallel: Annotated[int, Field(ge=1, le=64), Whole] | None = None
    model: Name | None = None
    """The model to use from now on."""
    cell_id: Name | None = None
    """The notebook cell that it is sent from."""
    card_id: Name | None = None
    """The job on whose card the user approved."""


class JobAccepted(BaseModel):
    """A job has started."""

    job_id: str


class AwaitsApproval(BaseModel):
    """Nothing has started: a person has to press Execute plan on the card first."""

    waiting: Literal["approval"] = "approval"


class ExecutionAnswer(RootModel[JobAccepted | AwaitsApproval]):
    """`POST context/{id}/plan/execute`."""


@table.get("context/{id}/plan", PlanAnswer, query=PlanQuery, kernel=True)
async def get_plan(call: Call) -> BaseModel:
    """A plan of the conversation; by default the newest revision of the current plan."""
    query, context_id = call.query, call.path["id"]
    job = call.service.journal.store.active_job(context_id) if query.running else None
    executed = job.plan_id if job and job.kind is JobKind.PLAN else None
    revision = call.service.plans.find(context_id, query.plan_id or executed, query.revision)
    if revision is None:
        return PlanAnswer(plan=None, revision=0, made_at=None, stale=[])
    return plan_answer(call, revision)


def plan_answer(call: Call, revision: PlanRevision) -> PlanAnswer:
    answer = PlanAnswer(
        plan=revision.plan,
        revision=revision.revision,
        made_at=revision.made_at,
        stale=call.service.plans.stale_files(revision),
    )
    if rights := rights_of(revision.plan):
        answer.rights = rights
    return answer


@table.put("context/{id}/plan", PlanAnswer, body=PlanEdit)
async def edit_plan(call: Call) -> BaseModel:
    """Edit a plan, if it is still at this revision."""
    body = call.body
    edited = call.service.plans.edit(call.path["id"], body.plan, body.revision, body.plan_id)
    return plan_answer(call, edited)


@table.get("context/{id}/plans", PlanList, kernel=True)
async def list_plans(call: Call) -> BaseModel:
    """The plans of a conversation, oldest first."""
    revisions = call.service.plans.of(call.path["id"])
    items = [
        PlanSummary(
            id=revision.plan_id,
            goal=revision.plan.goal,
            request=revision.request,
            revision=revision.revision,
            made_at=revision.made_at,
            job_id=revision.job_id,
        )
        for revision in revisions
    ]
    return PlanList(items=items)


@table.get("context/{id}/plan/revisions", RevisionList, query=RevisionsQuery, kernel=True)
async def list_revisions(call: Call) -> BaseModel:
    """The revisions of a plan, oldest first, with what each of them changed."""
    newest = call.service.plans.newest(call.path["id"], call.query.plan_id)
    revisions = call.service.journal.store.plan_revisions(newest.plan_id)
    items = [RevisionSummary.model_validate(each, from_attributes=True) for each in revisions]
    return RevisionList(plan_id=newest.plan_id, items=items)


@table.get("context/{id}/plan/compare", ComparisonAnswer, query=CompareQuery, kernel=True)
async def compare_revisions(call: Call) -> BaseModel:
    """Compare two revisions of a plan, by default with the previous one."""
    query, plans = call.query, call.service.plans
    after = plans.revision(call.path["id"], query.to, query.plan_id)
    earlier = query.from_ or max(1, after.revision - 1)
    before = plans.revision(call.path["id"], earlier, after.plan_id)
    comparison = compare_plans(before.plan, after.plan)
    return ComparisonAnswer(
        from_revision=before.revision, to_revision=after.revision, **dict(comparison)
    )


@table.post("context/{id}/plan/restore", PlanAnswer, body=PlanRestore, action="write", kernel=True)
async def restore_plan(call: Call) -> BaseModel:
    """Make an earlier revision the newest again.

    A kernel's call counts if a person has just run `%cowork plan --restore N`, which means the
    current plan.
    """
    body = call.body
    if call.caller.kernel_id and body.plan_id is not None:
        raise NeedsPerson
    if await initiator_of(call, lambda name: RestorePlan(name, body.revision)) != "person":
        raise NeedsPerson
    restored = call.service.plans.restore(call.path["id"], body.revision, body.plan_id)
    return plan_answer(call, restored)


@table.post(
    "context/{id}/plan/execute",
    ExecutionAnswer,
    body=PlanExecution,
    status=202,
    action="execute",
    kernel=True,
)
async def execute_plan(call: Call) -> BaseModel:
    """Approve this revision of a plan: the role becomes actor, and a job executes it.

    For a kernel, the answer may be that the plan waits for a person.
    """
    if not await _is_approved(call):
        return AwaitsApproval()
    body = call.body
    job = await call.service.execute_plan(
        call.path["id"],
        body.revision,
        body.max_parallel,
        model=body.model,
        plan_id=body.plan_id,
        origin=RequestOrigin(cell_id=body.cell_id, card_id=body.card_id),
    )
    return JobAccepted(job_id=job.id)


async def _is_approved(call: Call) -> bool:
    """A kernel's call approves nothing unless a person has just run the cell that makes it.

    Such a cell means the current plan and counts once, so everything else is checked first.
    """
    if call.caller.kernel_id is None:
        return True
    plans, context_id = call.service.plans, call.path["id"]
    wanted = plans.executable(context_id, call.body.revision, call.body.plan_id)
    is_current = wanted.plan_id == plans.newest(context_id).plan_id
    return is_current and await initiator_of(call, Execute) == "person"


class AssumptionDecision(RequestBody):
    """`POST context/{id}/assumptions`: of a message, else of a plan, by default the current."""

    message_id: Name | None = None
    plan_id: Name | None = None
    index: Annotated[int, Field(ge=0, le=1000), Whole]
    """Its position in the list, from 0."""
    status: Literal["confirmed", "corrected"]
    correction: Annotated[Text, Field(max_length=2000)] = ""
    """What is the case instead."""


class AssumptionList(Items[Assumption]):
    """All assumptions of the same plan or message, as they are now."""

    job_id: str | None
    """The job that works on a correction; None if nothing was corrected, or if a running job
    reads the correction at its next turn.
    """


@table.post("context/{id}/assumptions", AssumptionList, body=AssumptionDecision, action="execute")
async def settle_assumption(call: Call) -> BaseModel:
    """Confirm an assumption, or correct it. A correction goes to the planner."""
    items, job_id = call.service.settle_assumption(call.path["id"], Settlement(**dict(call.body)))
    return AssumptionList(items=items, job_id=job_id)
