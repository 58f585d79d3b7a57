"""Activity of a user's agents for an administrator: facts and ids, no content.

Each model is an allowlist, so that nothing is disclosed because somebody stored it later:
no request, no parameters, no output, no names of files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic import BaseModel

from ..domain.contexts import Context, Job
from ..domain.messages import ToolCallData, ToolResultData
from ..store import CheckpointRecord, Store, UserRequest

_NAME = re.compile(r"[\w.:-]{1,100}", re.ASCII)
_REFUSED = ("denied", "denied_by_user", "denied_headless", "not_permitted")


class ToolActivity(BaseModel):
    call_id: str
    tool: str
    task_id: str | None
    at: str
    verdict: str
    """`allowed`, `approved` by the user, how it was refused, or `open` if it has no result."""
    ok: bool | None = None


class ApprovalActivity(BaseModel):
    id: str
    call_id: str
    tool: str
    status: str
    by: str
    """The owner of the conversation; empty if nobody decided."""
    scope: str = ""
    asked_at: str
    decided_at: str | None


class CheckpointActivity(BaseModel):
    id: str
    task_id: str | None
    at: str


class JobActivity(BaseModel):
    id: str
    context_id: str
    user: str
    started_by: str
    kind: str
    role: str
    status: str
    started_at: str
    ended_at: str | None
    plan_id: str | None
    plan_revision: int | None
    model: str
    turns: int
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    estimated: bool
    cost: float | None
    currency: str
    tools: list[ToolActivity]
    approvals: list[ApprovalActivity]
    checkpoints: list[CheckpointActivity]


def activity(
    store: Store, since: str = "", until: str = "", user: str | None = None
) -> list[JobActivity]:
    jobs = [
        _job(store, job, owner, store.checkpoints(context.id))
        for context in _contexts(store)
        if user in (None, owner := store.owner(context.id))
        for job in store.jobs(context.id)
        if since <= job.created_at and (not until or job.created_at < until)
    ]
    return sorted(jobs, key=lambda job: job.started_at)


def _contexts(store: Store) -> Iterator[Context]:
    page = store.contexts()
    yield from page.items
    while page.next is not None:
        page = store.contexts(after=page.next)
        yield from page.items


def _job(store: Store, job: Job, owner: str, checkpoints: list[CheckpointRecord]) -> JobActivity:
    spent = {"model", "turns", "prompt_tokens", "completion_tokens", "total_tokens"}
    spent |= {"estimated", "cost", "currency"}
    requests = store.job_requests(job.id, "permission")
    return JobActivity(
        id=job.id,
        context_id=job.context_id,
        user=owner,
        started_by=job.by,
        kind=job.kind.value,
        role=job.role.value,
        status=job.status.value,
        started_at=job.created_at,
        ended_at=job.completed_at,
        plan_id=job.plan_id,
        plan_revision=job.plan_revision,
        **job.usage.model_dump(include=spent),
        tools=_tools(store, job),
        approvals=[_approval(request, owner) for request in requests],
        checkpoints=[
            CheckpointActivity(id=each.id, task_id=each.task_id, at=each.created_at)
            for each in checkpoints
            if each.job_id == job.id
        ],
    )


def _tools(store: Store, job: Job) -> list[ToolActivity]:
    calls: dict[str, ToolActivity] = {}
    for message in store.tool_messages(job.id):
        match message.data:
            case ToolCallData() as call:
                calls[call.call_id] = ToolActivity(
                    call_id=call.call_id,
                    tool=_name(call.tool),
                    task_id=message.task_id,
                    at=message.created_at,
                    verdict="open",
                )
            case ToolResultData() as result if result.call_id in calls:
                outcome = {"verdict": _verdict(result), "ok": result.ok}
                calls[result.call_id] = calls[result.call_id].model_copy(update=outcome)
    return list(calls.values())


def _verdict(result: ToolResultData) -> str:
    if result.error and result.error.code in _REFUSED:
        return result.error.code
    return "approved" if result.approved else "allowed"


def _approval(request: UserRequest, owner: str) -> ApprovalActivity:
    decided = request.answer or {}
    return ApprovalActivity(
        id=request.id,
        call_id=str(request.data.get("call_id", "")),
        tool=_name(str(request.data.get("tool", ""))),
        status=request.status,
        by=owner if decided else "",
        scope=str(decided.get("scope", "")),
        asked_at=request.created_at,
        decided_at=request.resolved_at,
    )


def _name(tool: str) -> str:
    """A model can call whatever it likes, even a sentence."""
    return tool if _NAME.fullmatch(tool) else "unknown"
