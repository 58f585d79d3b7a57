"""Endpoints for `@` mentions and `/` commands in messages that are not sent yet."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from ...agents.log import RunLog
from ...agents.mention_scope import MentionScope
from ...api.calls import Call
from ...api.models import Items, KnownRole, ListedPath, Name, RequestBody, Text
from ...api.routes import table
from ...domain.messages import Mention
from ...domain.roles import DEFAULT_ROLE, AgentRole
from .completion import Completion
from .lookup import MAX_MESSAGE_TOKENS, look_up
from .targets import CompletionItems


class MentionsQuery(RequestBody):
    """`GET context/{id}/mentions`."""

    q: Name
    """What is typed so far, including the `@` or `/`."""
    role: KnownRole | None = None
    """Who gets the message: nothing is offered that this role may not read."""
    variables: bool = True
    """Whether to ask the kernel, which takes longer."""


class NotebookMentionsQuery(MentionsQuery):
    """`GET mentions`: the same before there is a conversation."""

    notebook: ListedPath | None = None


class MentionsDraft(RequestBody):
    """`POST context/{id}/mentions`."""

    content: Annotated[Text, Field(max_length=100_000)]
    role: KnownRole | None = None


class NotebookMentionsDraft(MentionsDraft):
    """`POST mentions`: the same before there is a conversation."""

    notebook: ListedPath | None = None


class MentionList(Items[Mention]):
    """What a text mentions, in order."""


@table.get("context/{id}/mentions", CompletionItems, query=MentionsQuery, kernel=True)
async def complete_in_context(call: Call) -> BaseModel:
    """Completions for the `@` or `/` that is being typed: at most 20, best first."""
    return await _offers(call, _scope_of_context(call, call.query.role))


@table.get("mentions", CompletionItems, query=NotebookMentionsQuery, kernel=True)
async def complete(call: Call) -> BaseModel:
    """The same for a message that starts a conversation; for a kernel, in its own notebook."""
    own = await _own_notebook(call) if call.caller.kernel_id else call.query.notebook
    return await _offers(call, _scope(call, "", call.query.role, own))


@table.post("context/{id}/mentions", MentionList, body=MentionsDraft, action="read")
async def preview_in_context(call: Call) -> BaseModel:
    """What a draft mentions, and what of it the agent would be given. Nothing is sent."""
    return await _mentions(call, _scope_of_context(call, call.body.role))


@table.post("mentions", MentionList, body=NotebookMentionsDraft, action="read")
async def preview(call: Call) -> BaseModel:
    """The same for a message that starts a conversation."""
    return await _mentions(call, _scope(call, "", call.body.role, call.body.notebook))


async def _own_notebook(call: Call) -> str | None:
    """The calling kernel's notebook, relative to the workspace."""
    file = await call.host.notebook_of(call.caller.kernel_id or "")
    parts = call.service.factory.tools.workspace.inside(file) if file else None
    return "/".join(parts) if parts else None


def _scope_of_context(call: Call, role: AgentRole | None) -> MentionScope:
    context = call.service.conversations.get(call.path["id"])
    asked = role or call.service.current_role(context.id)
    return _scope(call, context.id, asked, context.notebook)


def _scope(
    call: Call, context_id: str, role: AgentRole | None, notebook: str | None
) -> MentionScope:
    log = RunLog(call.service.journal, context_id, "", role or DEFAULT_ROLE)
    return call.service.factory.mention_scope(log, notebook)


async def _offers(call: Call, scope: MentionScope) -> CompletionItems:
    query = call.query
    return await call.service.of(Completion).offers(scope, query.q, variables=query.variables)


async def _mentions(call: Call, scope: MentionScope) -> MentionList:
    counter = call.service.factory.llm.counter
    found = await look_up(scope, call.body.content, MAX_MESSAGE_TOKENS, counter)
    return MentionList(items=found.mentions)
