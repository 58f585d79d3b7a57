"""What agents are told beyond their role: by the user, by the workspace, by what was remembered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..domain.contexts import Context
from ..domain.errors import NotFound
from ..domain.guidance import Guidance, GuidanceSource, GuidanceText
from ..domain.roles import AgentRole
from ..domain.settings import PromptProfile
from ..policy.trust import Offer
from ..tools.base import Tool

READ_SKILL = "read_skill"
"""The tool that opens a skill, wherever it comes from."""
_NO_TOOLS: Mapping[str, Tool] = {}
F = TypeVar("F", bound="GuidanceFinder")


@dataclass(frozen=True)
class KnownSkill:
    name: str
    description: str


@dataclass(frozen=True)
class OpenedSkill:
    name: str
    text: str
    source: GuidanceSource

    def used(self, tokens: int) -> Guidance:
        return Guidance(kind="skill", name=self.name, source=self.source, tokens=tokens)


class GuidanceFinder:
    """One kind of guidance. Each method brings nothing unless it is overridden."""

    def texts(
        self,
        role: AgentRole,  # noqa: ARG002
        context: Context,  # noqa: ARG002
        request: str,  # noqa: ARG002
        profile: PromptProfile,  # noqa: ARG002
    ) -> Iterable[GuidanceText]:
        """What of it goes into a prompt. A thin prompt has little room."""
        return ()

    def offers(self) -> Iterable[Offer]:
        """What a workspace brings, for the user to trust."""
        return ()

    def tools(self) -> Mapping[str, Tool]:
        """The same object as long as they are the same."""
        return _NO_TOOLS

    def skills(self) -> Sequence[KnownSkill]:
        """What a message can ask to be followed."""
        return ()

    def open_skill(self, name: str) -> OpenedSkill:
        """Raises NotFound with the reason if an agent may not follow it."""
        raise NotFound(f"There is no skill '{name}'.", code="no_skill")


@dataclass(frozen=True)
class AllGuidance(GuidanceFinder):
    finders: Sequence[GuidanceFinder] = ()

    def of(self, kind: type[F]) -> F:
        return next(finder for finder in self.finders if isinstance(finder, kind))

    def texts(
        self, role: AgentRole, context: Context, request: str, profile: PromptProfile
    ) -> Iterator[GuidanceText]:
        for finder in self.finders:
            yield from finder.texts(role, context, request, profile)

    def offers(self) -> Iterator[Offer]:
        for finder in self.finders:
            yield from finder.offers()

    def tools(self) -> Mapping[str, Tool]:
        tool_sets = [tools for finder in self.finders if (tools := finder.tools())]
        if len(tool_sets) <= 1:
            return tool_sets[0] if tool_sets else _NO_TOOLS
        return {name: tool for tools in tool_sets for name, tool in tools.items()}

    def skills(self) -> list[KnownSkill]:
        return [skill for finder in self.finders for skill in finder.skills()]

    def open_skill(self, name: str) -> OpenedSkill:
        for finder in self.finders:
            if any(skill.name == name for skill in finder.skills()):
                return finder.open_skill(name)
        # Whoever has skills says why this one cannot be followed.
        with_skills = (finder for finder in self.finders if finder.skills())
        return next(with_skills, GuidanceFinder()).open_skill(name)
