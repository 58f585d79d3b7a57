"""The endpoints about system prompts: what the model is told before the conversation."""

from __future__ import annotations

from pydantic import BaseModel

from ..domain.cell_commands import ChoosePrompt
from ..domain.contexts import Context
from ..domain.errors import Forbidden
from ..domain.health import Problem
from ..domain.roles import AgentRole
from ..llm.base_prompts import BasePrompt
from .calls import Call, initiator_of
from .models import KnownRole, Name, RequestBody
from .routes import table


class PromptQuery(RequestBody):
    """`GET v1/system-prompts/{id}/enhanced`."""

    role: KnownRole | None = None
    context_id: Name | None = None


class PromptChoice(RequestBody):
    """`POST context/{id}/system-prompt`."""

    system_prompt_id: Name
    cell_id: Name | None = None
    """The cell of the notebook that it is sent from."""


class PromptList(BaseModel):
    """All base prompts, and what is wrong with those that were skipped."""

    items: list[BasePrompt]
    next: None = None
    problems: list[Problem]


class EnhancedPrompt(BaseModel):
    """A whole system prompt, as the model gets it."""

    id: str
    role: AgentRole
    prompt: str


@table.route("GET", "v1/system-prompts", answer=PromptList, action="read", kernel=True)
async def list_prompts(call: Call) -> BaseModel:
    """The base prompts that a conversation can start with."""
    listing = call.service.prompts.listing()
    return PromptList(items=listing.items, problems=listing.problems)


@table.route(
    "GET",
    "v1/system-prompts/{id}/enhanced",
    query=PromptQuery,
    answer=EnhancedPrompt,
    action="read",
)
async def enhanced_prompt(call: Call) -> BaseModel:
    """The whole system prompt (base, role, tools, formats and facts) as the model gets it."""
    prompt_id, role, prompt = call.service.enhanced_prompt(
        call.path["id"], call.query.role, call.query.context_id
    )
    return EnhancedPrompt(id=prompt_id, role=role, prompt=prompt)


@table.route(
    "POST",
    "context/{id}/system-prompt",
    body=PromptChoice,
    answer=Context,
    action="write",
    kernel=True,
)
async def choose_prompt(call: Call) -> BaseModel:
    """Choose the base prompt, from the next message on; what runs goes on with the one it has."""
    chosen = call.body.system_prompt_id
    by = await initiator_of(call, lambda name: ChoosePrompt(name, chosen))
    if by != "person":
        raise Forbidden(
            "Only you can change the base prompt. Choose it in JupyterLab, in the Cowork panel or "
            "in a cell that you run there.",
            code="needs_person",
        )
    return call.service.conversations.choose_prompt(call.path["id"], chosen)
