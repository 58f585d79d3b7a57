"""Endpoints for skills."""

from __future__ import annotations

from pydantic import BaseModel

from ...api.calls import Call
from ...api.models import Items, RequestBody
from ...api.routes import table
from ...domain.guidance import GuidanceSource
from ...domain.health import Problem
from .skill_tool import SkillGuidance
from .skills import Skill


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
    skills = call.service.guidance.of(SkillGuidance).catalogue
    skills.switch(call.path["name"], on=call.body.enabled)
    return _skill_list(call)


def _skill_list(call: Call) -> SkillList:
    listing = call.service.guidance.of(SkillGuidance).catalogue.listing()
    used = call.service.journal.store.skills_used()
    items = [
        SkillView.of(skill, used.get(skill.name) if skill.trusted else None)
        for skill in listing.items
    ]
    return SkillList(items=items, problems=listing.problems)
