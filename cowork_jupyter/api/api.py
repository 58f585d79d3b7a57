"""Endpoints for conversations, jobs, roles and questions; importing it registers all endpoints."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from functools import partial

from pydantic import BaseModel

from ..domain.cell_commands import SwitchRole
from ..domain.contexts import Context, Job
from ..domain.health import Health
from ..domain.roles import DEFAULT_ROLE, AgentRole
from ..service.parts import register_routes
from . import (  # noqa: F401 (they register themselves)
    api_checkpoints,
    api_expectations,
    api_messages,
    api_models,
    api_notebooks,
    api_plans,
    api_prompts,
    api_record,
    api_trust,
    api_workflows,
    models,
)
from .api_messages import check_raise
from .calls import Call, initiator_of, own_job
from .openapi import OpenApi, description_of
from .routes import table

register_routes()

MODES = {"plan": AgentRole.PLANNER, "act": AgentRole.ACTOR}


@table.get("openapi.json", OpenApi)
async def openapi(_call: Call) -> BaseModel:
    """The OpenAPI description of all routes."""
    return await asyncio.to_thread(description_of, table)


@table.get("health", Health, query=models.HealthQuery, kernel=True)
async def health(call: Call) -> BaseModel:
    """The state of this installation; `fresh` checks the model again."""
    return await call.service.health(call.host.problems(), fresh=call.query.fresh)


@table.get("roles", models.RoleList, kernel=True)
async def roles(call: Call) -> BaseModel:
    """All roles, with their look, permissions and tools."""
    return models.RoleList(items=call.service.roles())


@table.post("context", Context, body=models.NewContext, status=201, action="write", kernel=True)
async def create_context(call: Call) -> BaseModel:
    """Start a conversation."""
    fields = call.body.model_dump()
    fields["role"] = call.body.role or DEFAULT_ROLE
    caller = call.caller
    return call.service.conversations.create(
        **fields, owner=caller.name, kernel_id=caller.kernel_id
    )


@table.get("context", models.ContextList, query=models.ContextsQuery, kernel=True)
async def list_contexts(call: Call) -> BaseModel:
    """Conversations, newest first: all, or those of a notebook, pinned ones, or what `q` finds."""
    query, owner = call.query, call.caller.sees_only
    find = partial(
        call.service.conversations.page,
        query.after or None,
        query.limit,
        owner=owner,
        notebook=query.notebook,
        pinned=query.pinned,
        search=query.q,
    )
    # A search reads all messages, so it must not block the loop.
    page = await asyncio.to_thread(find) if query.q else find()
    return models.ContextList(items=page.items, next=page.next)


@table.get("context/{id}", Context, kernel=True)
async def get_context(call: Call) -> BaseModel:
    """One conversation."""
    return call.service.conversations.get(call.path["id"])


@table.put("context/{id}", Context, body=models.ContextChange)
async def change_context(call: Call) -> BaseModel:
    """Rename a conversation, or pin it."""
    change = call.body.model_dump(exclude_none=True)
    return call.service.conversations.change(call.path["id"], **change)


@table.delete("context/{id}")
async def delete_context(call: Call) -> None:
    """Delete a conversation and everything in it. For some minutes it can be restored."""
    await call.service.conversations.delete(call.path["id"])


@table.get("deleted", models.DeletedContextList)
async def list_deleted(call: Call) -> BaseModel:
    """Deleted conversations that can still be restored, newest first."""
    deleted = call.service.conversations.deleted.contexts()
    items = [
        models.DeletedContext(**context.model_dump(), deleted_at=when) for context, when in deleted
    ]
    return models.DeletedContextList(items=items)


@table.post("context/{id}/restore", Context, action="write")
async def restore_context(call: Call) -> BaseModel:
    """Restore a conversation that was deleted some minutes ago."""
    return call.service.conversations.deleted.restore(call.path["id"])


@table.get("context/{id}/events", models.EventList, query=models.EventsQuery, kernel=True)
async def poll_events(call: Call) -> BaseModel:
    """Events after a position. If there are none, waits up to `timeout` seconds for the first."""
    context_id, after = call.path["id"], call.query.after
    call.service.conversations.get(context_id)
    events = call.service.journal.store.events(context_id, after)
    if not events:
        await _wait_for_event(call, context_id, after)
        events = call.service.journal.store.events(context_id, after)
    return models.EventList(events=events)


async def _wait_for_event(call: Call, context_id: str, after: int) -> None:
    async with aclosing(call.service.journal.bus.subscribe(context_id, after)) as events:
        with suppress(TimeoutError, StopAsyncIteration):
            async with asyncio.timeout(call.query.timeout):
                await anext(events)


@table.get("context/{id}/role", models.CurrentRole, kernel=True)
async def current_role(call: Call) -> BaseModel:
    """The role that gets the next message."""
    context = call.service.conversations.get(call.path["id"])
    return models.CurrentRole(
        role=context.role, seq=call.service.journal.store.last_seq(context.id)
    )


@table.post("context/{id}/role", Context, body=models.RoleChange, action="write", kernel=True)
async def switch_role(call: Call) -> BaseModel:
    """Switch the role of a conversation."""
    return await _switch_role(call, call.body.role)


async def _switch_role(call: Call, role: AgentRole) -> Context:
    by = await initiator_of(call, lambda name: SwitchRole(name, role.value))
    check_raise(call, role, by)
    return await call.service.conversations.switch_role(
        call.path["id"], role, confirm=call.body.confirm, by=by
    )


@table.post("context/{id}/mode", Context, body=models.ModeChange, action="write", kernel=True)
async def switch_mode(call: Call) -> BaseModel:
    """The older way to switch the role: `plan` is the planner, `act` the actor."""
    return await _switch_role(call, MODES[call.body.mode])


@table.get("context/{id}/jobs", models.JobList, kernel=True)
async def list_jobs(call: Call) -> BaseModel:
    """The jobs of a conversation, oldest first."""
    return models.JobList(items=call.service.jobs.of(call.path["id"]))


@table.get("jobs/{id}", Job, kernel=True)
async def get_job(call: Call) -> BaseModel:
    """One job with its tasks."""
    return own_job(call)


@table.post("jobs/{id}/cancel", Job, action="execute", kernel=True)
async def cancel_job(call: Call) -> BaseModel:
    """Stop a job."""
    return await call.service.jobs.cancel(own_job(call).id)


@table.post("jobs/{id}/resume", Job, body=models.Resumption, status=202, action="execute")
async def resume_job(call: Call) -> BaseModel:
    """Resume an interrupted or stopped job, with other limits if given; completed tasks are not
    repeated. It goes on in the conversation's role: if that has changed, the request says which.
    """
    body: models.Resumption = call.body
    return call.service.plans.resume(
        call.path["id"], body.limits.model_dump(exclude_none=True), body.role
    )


@table.post(
    "jobs/{id}/tasks/{task}/retry", Job, body=models.TaskDecision, status=202, action="execute"
)
async def retry_task(call: Call) -> BaseModel:
    """Try a failed task again."""
    return call.service.plans.decide(call.path["id"], call.path["task"], "retry", call.body.role)


@table.post(
    "jobs/{id}/tasks/{task}/skip", Job, body=models.TaskDecision, status=202, action="execute"
)
async def skip_task(call: Call) -> BaseModel:
    """Continue without a failed task."""
    return call.service.plans.decide(call.path["id"], call.path["task"], "skip", call.body.role)


@table.get("context/{id}/questions", models.QuestionList)
async def list_questions(call: Call) -> BaseModel:
    """Questions that are waiting for the user."""
    requests = call.service.requests.pending(call.path["id"], "question")
    return models.QuestionList(items=[request.as_question() for request in requests])


@table.post("questions/{id}/answer", models.Answered, body=models.AnswerBody, action="execute")
async def answer_question(call: Call) -> BaseModel:
    """Answer a question."""
    request = call.service.requests.answer(call.path["id"], call.body.value)
    return models.Answered(id=request.id, status=request.status, value=call.body.value)
