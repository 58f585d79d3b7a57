"""Endpoints about skills: which there are, when they were used, and switching them on and off."""

from __future__ import annotations

from pydantic import BaseModel

from ..domain.guidance import GuidanceSource
from ..domain.health import Problem
from ..guidance.skills import Skill
from .calls import Call
from .models import RequestBody
from .routes import table


class SkillView(BaseModel):
    """One skill."""

    name: str
    description: str
    source: GuidanceSource
    path: str
    """Its folder: relative to the workspace if it came with that, else absolute."""
    trusted: bool
    """Whether agents may read it; one that came with the workspace is trusted by `POST trust`."""
    enabled: bool
    allowed_tools: list[str]
    """Tools that it would like to use unasked. It is not given them."""
    compatibility: str
    license: str
    files: list[str]
    """What comes with it."""
    last_used: str | None = None
    """When an agent opened it last."""

    @classmethod
    def of(cls, skill: Skill, last_used: str | None) -> SkillView:
        """The view of one skill."""
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


class SkillList(BaseModel):
    """All skills, and what is wrong with those that were skipped."""

    items: list[SkillView]
    next: None = None
    problems: list[Problem]


class SkillSwitch(RequestBody):
    """`POST skills/{name}`."""

    enabled: bool


@table.route("GET", "skills", answer=SkillList, action="read", kernel=True)
async def list_skills(call: Call) -> BaseModel:
    """The skills of the workspace, of the user and of the package."""
    return _listed(call)


@table.route("POST", "skills/{name}", body=SkillSwitch, answer=SkillList, action="write")
async def switch_skill(call: Call) -> BaseModel:
    """Switch a skill on or off, in every workspace of the user's."""
    call.service.skills.switch(call.path["name"], on=call.body.enabled)
    return _listed(call)


def _listed(call: Call) -> SkillList:
    listing, used = call.service.skills.listing(), call.service.journal.store.skills_used()
    items = [
        SkillView.of(skill, used.get(skill.name) if skill.trusted else None)
        for skill in listing.items
    ]
    return SkillList(items=items, problems=listing.problems)
