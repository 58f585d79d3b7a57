"""Endpoints for system prompts."""

from __future__ import annotations

from pydantic import BaseModel

from ..domain.cell_commands import ChoosePrompt
from ..domain.contexts import Context
from ..domain.errors import Forbidden
from ..domain.health import Problem
from ..domain.roles import AgentRole
from ..llm.base_prompts import BasePrompt
from .calls import Call, initiator_of
from .models import Items, KnownRole, Name, RequestBody
from .routes import table


class PromptQuery(RequestBody):
    """`GET v1/system-prompts/{id}/enhanced`."""

    role: KnownRole | None = None
    context_id: Name | None = None


class PromptChoice(RequestBody):
    """`POST context/{id}/system-prompt`."""

    system_prompt_id: Name
    cell_id: Name | None = None
    """The notebook cell that it is sent from."""


class PromptList(Items[BasePrompt]):
    """All base prompts, and what is wrong with those that were skipped."""

    problems: list[Problem]


class EnhancedPrompt(BaseModel):
    """A complete system prompt, as the model gets it."""

    id: str
    role: AgentRole
    prompt: str


@table.get("v1/system-prompts", PromptList, kernel=True)
async def list_prompts(call: Call) -> BaseModel:
    """The base prompts that a conversation can start with."""
    listing = call.service.prompts.listing()
    return PromptList(items=listing.items, problems=listing.problems)


@table.get("v1/system-prompts/{id}/enhanced", EnhancedPrompt, query=PromptQuery)
async def enhanced_prompt(call: Call) -> BaseModel:
    """The complete system prompt (base, role, tools, formats and facts), as the model gets it."""
    prompt_id, role, prompt = await call.service.enhanced_prompt(
        call.path["id"], call.query.role, call.query.context_id
    )
    return EnhancedPrompt(id=prompt_id, role=role, prompt=prompt)


@table.post("context/{id}/system-prompt", Context, body=PromptChoice, action="write", kernel=True)
async def choose_prompt(call: Call) -> BaseModel:
    """Choose the base prompt from the next message on; running jobs keep theirs."""
    chosen = call.body.system_prompt_id
    by = await initiator_of(call, lambda name: ChoosePrompt(name, chosen))
    if by != "person":
        raise Forbidden(
            "Only you can change the base prompt. Choose it in JupyterLab, in the Cowork panel or "
            "in a cell that you run there.",
            code="needs_person",
        )
    return call.service.conversations.choose_prompt(call.path["id"], chosen)
