"""`read_skill`: how an agent opens a skill, and the files that come with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from ..domain.roles import Permission
from ..llm.tokens import estimate_tokens
from ..tools.base import Tool, ToolContext, ToolParameters, ToolResult, tool
from .skill_catalogue import guidance_of
from .skills import Skill, Skills

READ_SKILL = "read_skill"
_NOTHING: Mapping[str, Tool] = {}


class ReadSkill(ToolParameters):
    """Which skill, and which file of it."""

    name: Annotated[str, Field(min_length=1, max_length=64, description="The skill's name.")]
    file: Annotated[
        str, Field(max_length=400, description="One of its files; empty for the skill itself.")
    ] = ""


class SkillTools:
    """The tools about skills, while there are any to read."""

    def __init__(self, skills: Skills) -> None:
        self._skills = skills
        self._tools: Mapping[str, Tool] = {READ_SKILL: _read_skill(skills)}

    def __call__(self) -> Mapping[str, Tool]:
        return self._tools if self._skills.has_usable() else _NOTHING


def _read_skill(skills: Skills) -> Tool:
    @tool(category="skills", permissions=[Permission.READ_FILES], idempotent=True, travels=False)
    async def read_skill(parameters: ReadSkill, _context: ToolContext) -> ToolResult:
        """Open a skill: how to go about one kind of work."""
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
    """The text of a skill, with the list of its files."""
    if not skill.files:
        return skill.about.body
    names = ", ".join(file.path for file in skill.files)
    where = f" Its folder is {skill.path}." if skill.source == "workspace" else ""
    files = f"[Files of this skill, to be read with read_skill: {names}.{where}]"
    return f"{skill.about.body}\n\n{files}"
