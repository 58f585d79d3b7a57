"""Endpoints for messages: sending, queueing while a job runs, and reading."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from ..agents.commands import MessageRequest
from ..agents.run import steering
from ..domain.cell_commands import Say
from ..domain.contexts import Initiator, QueuedMessage, RequestOrigin
from ..domain.errors import Conflict, Forbidden
from ..domain.roles import AgentRole
from .calls import Call, initiator_of
from .models import (
    Accepted,
    Items,
    KnownRole,
    MessageList,
    Name,
    PageQuery,
    Pictures,
    RequestBody,
    Text,
)
from .routes import table

_RAISES = (
    "Only you can give the agent more permissions. Switch to {role} in JupyterLab, in the Cowork "
    "panel or in a cell that you run there."
)
_NOT_BY_CODE = "Only you can send a prompt of an MCP server. Send it in JupyterLab."


class NewMessage(RequestBody):
    """`POST context/{id}/messages`."""

    content: Annotated[Text, Field(min_length=1)]
    role: KnownRole | None = None
    model: Name | None = None
    """The model to use from now on."""
    cell_id: Name | None = None
    """The notebook cell that it is sent from."""
    card_id: Name | None = None
    """The job on whose card it is written; a message about a plan then revises that plan."""
    replan: bool = False
    """Whether it asks to make that plan anew, whatever the text says."""
    pictures: Pictures = []
    """For models that can see."""


@table.post(
    "context/{id}/messages", Accepted, body=NewMessage, status=202, action="execute", kernel=True
)
async def send_message(call: Call) -> BaseModel:
    """Send a message to the agent, which starts a job. A message that begins with `/` and the
    name of a role, a workflow, a skill or an MCP server's prompt is a command.
    """
    body: NewMessage = call.body
    call.service.jobs.refuse_if_busy(call.path["id"])  # first, as a person's cell counts once
    request = call.service.parse_message(body.content)
    role, context_id = body.role, call.path["id"]
    needed = role.value if role and is_raise(call, context_id, role) else None
    by = await initiator_of(call, lambda name: Say(name, body.content.strip(), needed))
    if role:
        await refuse_raise(call, context_id, role, by)
    await _check_request(call, request, by)
    sets_role = call.caller.kernel_id is None
    origin = RequestOrigin(by=by, cell_id=body.cell_id, card_id=body.card_id, sets_role=sets_role)
    message = await call.service.send_request(
        context_id,
        request,
        role,
        model=body.model,
        origin=origin,
        replan=body.replan,
        pictures=[picture.part() for picture in body.pictures],
    )
    assert message.job_id
    return Accepted(message_id=message.id, job_id=message.job_id)


async def _check_request(call: Call, request: MessageRequest, by: Initiator) -> None:
    """Raise Forbidden for what only a person may ask for."""
    if request.role:
        check_raise(call, request.role, by)
    if request.workflow:
        await refuse_raise(call, call.path["id"], request.workflow.role, by)
    if request.prompt and by != "person":
        raise Forbidden(_NOT_BY_CODE, code="needs_person")


def is_raise(call: Call, context_id: str, role: AgentRole) -> bool:
    """Whether it holds more than the conversation's current role."""
    return not role.spec.holds_at_most(call.service.current_role(context_id).spec)


def check_raise(call: Call, role: AgentRole, by: Initiator) -> None:
    """Raise Forbidden if code would give the agent more permissions; only a person may."""
    if by != "person" and is_raise(call, call.path["id"], role):
        raise Forbidden(_RAISES.format(role=role.spec.label), code="needs_person")


async def refuse_raise(call: Call, context_id: str, role: AgentRole, by: Initiator) -> None:
    """The same for one run, which leaves the current role as it is: code may raise it in what it
    made itself, while nobody looks.
    """
    kernel_id, conversations = call.caller.kernel_id, call.service.conversations
    role = call.service.role_catalog.resolve(role)
    if kernel_id is None or by == "person" or not is_raise(call, context_id, role):
        return
    notebook = conversations.get(context_id).notebook
    is_own = conversations.made_by_kernel(context_id) == kernel_id
    if not (is_own and await call.host.is_unattended(kernel_id, notebook)):
        raise Forbidden(_RAISES.format(role=role.spec.label), code="role_raise")


@table.get("context/{id}/messages", MessageList, query=PageQuery, kernel=True)
async def list_messages(call: Call) -> BaseModel:
    """The stored messages in full, oldest first."""
    page = call.service.conversations.messages(call.path["id"], call.query.after, call.query.limit)
    return MessageList(items=page.items, next=page.next)


class QueueList(Items[QueuedMessage]):
    """Messages that no agent has read yet, oldest first."""


class NewQueuedMessage(RequestBody):
    """`POST context/{id}/queue`."""

    content: Annotated[Text, Field(min_length=1)]


@table.get("context/{id}/queue", QueueList)
async def list_queue(call: Call) -> BaseModel:
    """Messages queued for the agent's next turn."""
    return QueueList(items=call.service.queued_messages(call.path["id"]))


@table.post(
    "context/{id}/queue", QueuedMessage, body=NewQueuedMessage, status=201, action="execute"
)
async def queue_message(call: Call) -> BaseModel:
    """Queue a message while the agent works. It is read before the agent's next turn."""
    if call.service.parse_message(call.body.content).is_command:
        why = "A command cannot wait for the next turn. Send it when the run has ended."
        raise Conflict(why, code="command_queued")
    return steering.queue_message(call.service.journal, call.path["id"], call.body.content)


@table.delete("context/{id}/queue/{message}", action="execute")
async def take_back(call: Call) -> None:
    """Remove a queued message that the agent has not read yet."""
    steering.take_back(call.service.journal, call.path["id"], call.path["message"])
