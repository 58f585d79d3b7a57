"""`read_skill`: how an agent opens a skill, and the files that come with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import Field

from ...agents.guidance import READ_SKILL, GuidanceFinder, KnownSkill, OpenedSkill
from ...domain.contexts import Context
from ...domain.guidance import Guidance, GuidanceText
from ...domain.roles import AgentRole, Permission
from ...domain.settings import PromptProfile
from ...llm.relevance import fitness
from ...llm.tokens import Count, estimate_tokens
from ...policy.trust import Offer
from ...policy.visible import visible
from ...tools.base import Tool, ToolContext, ToolParameters, ToolResult, tool
from .skills import Skill, Skills

BUDGETS: dict[PromptProfile, int] = {"full": 600, "thin": 150}
_LENGTHS: dict[PromptProfile, int] = {"full": 240, "thin": 50}


class SkillGuidance(GuidanceFinder):
    def __init__(self, skills: Skills, count: Count = estimate_tokens) -> None:
        self.catalogue = skills
        self.count = count
        self._tools: Mapping[str, Tool] = {READ_SKILL: _read_skill(skills)}

    def offers(self) -> Iterator[Offer]:
        return self.catalogue.offers()

    def tools(self) -> Mapping[str, Tool]:
        return self._tools if self.catalogue.has_usable() else _NOTHING

    def skills(self) -> list[KnownSkill]:
        return [
            KnownSkill(skill.name, skill.about.description) for skill in self.catalogue.usable()
        ]

    def open_skill(self, name: str) -> OpenedSkill:
        skill = self.catalogue.open(name)
        return OpenedSkill(skill.name, body_of(skill), skill.source)

    def texts(
        self,
        role: AgentRole,  # noqa: ARG002 (all roles are told the same)
        context: Context,  # noqa: ARG002
        request: str,
        profile: PromptProfile,
    ) -> Iterator[GuidanceText]:
        """A line for each that has room, those relevant to the request first.

        The order does not depend on the request, so that servers find the prompt in their cache.
        Small models are told of no skill of ours: every line more is one to stumble over.
        """
        usable = self.catalogue.usable()
        skills = [each for each in usable if profile == "full" or each.source != "package"]
        lines = [(each, _line(each, _LENGTHS[profile])) for each in skills]
        fits = fitness([f"{each.name} {each.about.description}" for each in skills], request)
        room, chosen = BUDGETS[profile], set[int]()
        for place in sorted(range(len(lines)), key=lambda at: (-fits[at], at)):
            cost = self.count(f"{lines[place][1]}\n")
            if cost <= room:
                chosen.add(place)
                room -= cost
        for place in sorted(chosen):
            skill, line = lines[place]
            yield GuidanceText(guidance_of(skill, self.count(line)), line)


def guidance_of(skill: Skill, tokens: int) -> Guidance:
    return Guidance(kind="skill", name=skill.name, source=skill.source, tokens=tokens)


def _line(skill: Skill, length: int) -> str:
    text = visible(skill.about.description)
    if len(text) > length:
        text = f"{text[: length - 1].rsplit(' ', 1)[0].rstrip(' ,;:.-')}…"
    return f"- {skill.name}: {text}"


_NOTHING: Mapping[str, Tool] = {}


class ReadSkill(ToolParameters):
    """Which skill, and which file of it."""

    name: Annotated[str, Field(min_length=1, max_length=64, description="The skill's name.")]
    file: Annotated[
        str, Field(max_length=400, description="One of its files; empty for the skill itself.")
    ] = ""


def _read_skill(skills: Skills) -> Tool:
    @tool(category="skills", permissions=[Permission.READ_FILES], idempotent=True, travels=False)
    async def read_skill(parameters: ReadSkill, _context: ToolContext) -> ToolResult:
        """Open a skill: a how-to for one kind of work."""
        skill = skills.open(parameters.name)
        if parameters.file:
            text = skill.read(parameters.file)
            opened = f"{parameters.file} of the skill {skill.name}"
        else:
            text, opened = body_of(skill), f"the skill {skill.name}"
        used = guidance_of(skill, estimate_tokens(text))
        return ToolResult(text, f"opened {opened}", guidance=used)

    return read_skill


def body_of(skill: Skill) -> str:
    if not skill.files:
        return skill.about.body
    names = ", ".join(file.path for file in skill.files)
    where = f" Its folder is {skill.path}." if skill.source == "workspace" else ""
    files = f"[Files of this skill, to be read with read_skill: {names}.{where}]"
    return f"{skill.about.body}\n\n{files}"
