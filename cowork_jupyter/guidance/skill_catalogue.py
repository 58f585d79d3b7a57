from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..domain.contexts import Context
from ..domain.guidance import Guidance, GuidanceText
from ..domain.roles import AgentRole
from ..domain.settings import PromptProfile
from ..llm.relevance import fitness
from ..llm.tokens import Count, estimate_tokens
from ..policy.visible import visible
from .skills import Skill, Skills

BUDGETS: dict[PromptProfile, int] = {"full": 600, "thin": 150}
"""Tokens for all of them."""
_LENGTHS: dict[PromptProfile, int] = {"full": 240, "thin": 50}
"""Characters of a description."""


@dataclass(frozen=True)
class SkillCatalogue:
    skills: Skills
    count: Count = estimate_tokens

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
        skills = [
            candidate
            for candidate in self.skills.usable()
            if profile == "full" or candidate.source != "package"
        ]
        lines = [(candidate, _line(candidate, _LENGTHS[profile])) for candidate in skills]
        fits = fitness(
            [f"{candidate.name} {candidate.about.description}" for candidate, _ in lines], request
        )
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
    """The skill as runs record it."""
    return Guidance(kind="skill", name=skill.name, source=skill.source, tokens=tokens)


def _line(skill: Skill, length: int) -> str:
    text = visible(skill.about.description)
    if len(text) > length:
        text = f"{text[: length - 1].rsplit(' ', 1)[0].rstrip(' ,;:.-')}…"
    return f"- {skill.name}: {text}"
