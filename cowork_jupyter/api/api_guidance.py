"""Endpoints for what agents are told: instructions, skills and system prompts."""

from __future__ import annotations

import asyncio

from pydantic import BaseModel

from ..domain.cell_commands import ChoosePrompt, StartInstructions
from ..domain.contexts import Context
from ..domain.errors import Forbidden
from ..domain.guidance import GuidanceSource
from ..domain.health import Problem
from ..domain.roles import AgentRole
from ..guidance.instructions import Instructions
from ..guidance.skills import Skill
from ..llm.base_prompts import BasePrompt
from .calls import Call, initiator_of, refuse_unless_person
from .models import Items, KnownRole, Name, RequestBody
from .routes import table


class InstructionList(Items[Instructions]):
    """All instructions, and what is wrong with those that were skipped."""

    problems: list[Problem]


class InstructionsStart(RequestBody):
    """`POST instructions/init`: `show` only returns what would be written."""

    show: bool = False
    cell_id: Name | None = None


class FirstInstructions(BaseModel):
    """A first `AGENTS.md`."""

    path: str
    text: str
    written: bool


@table.get("instructions", InstructionList, kernel=True)
async def list_instructions(call: Call) -> BaseModel:
    """The user's `AGENTS.md`, then those of the workspace; only trusted ones reach a model."""
    listing = await asyncio.to_thread(call.service.instructions.listing)
    return InstructionList(items=listing.items, problems=listing.problems)


@table.post(
    "instructions/init", FirstInstructions, body=InstructionsStart, action="write", kernel=True
)
async def start_instructions(call: Call) -> BaseModel:
    """Write a first `AGENTS.md` from what is in the workspace; never overwrites one."""
    show = call.body.show
    if not show:
        await refuse_unless_person(call, call.body.cell_id, StartInstructions())
    path, text = await asyncio.to_thread(call.service.start_instructions, show=show)
    return FirstInstructions(path=path, text=text, written=not show)


class SkillView(BaseModel):
    """One skill."""

    name: str
    description: str
    source: GuidanceSource
    path: str
    """Its folder: relative to the workspace if it is in there, else absolute."""
    trusted: bool
    """Whether agents may read it; skills of the workspace become trusted by `POST trust`."""
    enabled: bool
    allowed_tools: list[str]
    """Tools that it asks to use unasked. This is not granted."""
    compatibility: str
    license: str
    files: list[str]
    """Files that come with it."""
    last_used: str | None = None
    """When an agent last opened it."""

    @classmethod
    def of(cls, skill: Skill, last_used: str | None) -> SkillView:
        return cls(
            name=skill.name,
            description=skill.about.description,
            source=skill.source,
            path=skill.path,
            trusted=skill.trusted,
            enabled=skill.enabled,
            allowed_tools=skill.about.allowed_tools,
            compatibility=skill.about.compatibility,
            license=skill.about.license,
            files=[file.path for file in skill.files],
            last_used=last_used,
        )


class SkillList(Items[SkillView]):
    """All skills, and what is wrong with those that were skipped."""

    problems: list[Problem]


class SkillSwitch(RequestBody):
    """`POST skills/{name}`."""

    enabled: bool


@table.get("skills", SkillList, kernel=True)
async def list_skills(call: Call) -> BaseModel:
    """The skills of the workspace, of the user and of the package."""
    return _skill_list(call)


@table.post("skills/{name}", SkillList, body=SkillSwitch, action="write")
async def switch_skill(call: Call) -> BaseModel:
    """Switch a skill on or off, in every workspace of the user's."""
    call.service.skills.switch(call.path["name"], on=call.body.enabled)
    return _skill_list(call)


def _skill_list(call: Call) -> SkillList:
    listing, used = call.service.skills.listing(), call.service.journal.store.skills_used()
    items = [
        SkillView.of(skill, used.get(skill.name) if skill.trusted else None)
        for skill in listing.items
    ]
    return SkillList(items=items, problems=listing.problems)


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
