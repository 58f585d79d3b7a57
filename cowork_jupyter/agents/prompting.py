"""Collects what the system prompt of a run consists of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from ..domain.contexts import Context
from ..domain.roles import AgentRole
from ..domain.settings import ProfileChoice, PromptProfile, Settings, ToolProtocol
from ..llm.base_prompts import DEFAULT_PROMPT, BasePrompt, BasePrompts
from ..llm.code_reply import RUN_CODE
from ..llm.frames import Frames
from ..llm.prompt import DescribedTool, PromptParts, choose_tools, room_for_tools
from ..llm.protocols import ToolSpec, request_arguments
from ..llm.relevance import closest
from ..tools.base import Tool, ToolParameters
from ..workflows import Template, Templates
from .external import ExternalAgents, NoExternalAgents
from .guidance import READ_SKILL, AllGuidance
from .run.answer_form import AnswerForm

_THIN_TOOLS = ("describe_table", "insert_cell", "edit_cell", "read_file", "list_directory", "grep")
"""What small models are told about first: their code does most of the rest."""
MAX_TEMPLATES = 3


@dataclass
class PromptSources:
    settings: Settings
    base: BasePrompts = field(default_factory=BasePrompts)
    templates: Templates = field(default_factory=Templates)
    frames: Frames = field(default_factory=Frames)
    externals: ExternalAgents = field(default_factory=NoExternalAgents)
    guidance: AllGuidance = field(default_factory=AllGuidance)

    def parts(
        self,
        role: AgentRole,
        context: Context,
        request: str,
        base: BasePrompt | None,
        tools: Sequence[Tool],
        finder: Tool,
        protocol: ToolProtocol,
    ) -> PromptParts:
        """Choose the parts of the prompt; with the `finder` if not all tools fit."""
        runs_code = any(tool.name == RUN_CODE for tool in tools)
        profile = _profile(self.settings.prompt_profile, protocol)
        if protocol == "code" and not (runs_code and role.spec.commands_may_write):
            protocol = "json"  # plans, reviews and delegations are no blocks of Python
        if protocol == "code":  # a block of Python is how that one is called
            tools = [tool for tool in tools if tool.name != RUN_CODE]
        # What opens guidance takes no room from the other tools, as guidance does not.
        openers = [tool for tool in tools if tool.name == READ_SKILL]
        tools = [tool for tool in tools if tool.name != READ_SKILL]
        parts = PromptParts(
            role=role,
            tools=[describe_tool(finder)],
            others=len(tools),
            base=_base_text(base, profile),
            protocol=protocol,
            profile=profile,
            runs_code=runs_code,
            has_answer_form=bool(AnswerForm.of(request).slots),
            facts={**self._facts(context), **self.externals.facts(role)},
            templates=[template.outline for template in self.fitting_templates(role, request)],
            guidance=[
                text
                for text in self.guidance.texts(role, context, request, profile)
                if openers or text.about.kind != "skill"
            ],
            frame=self.frames.of(context.id),
        )
        if profile == "thin":
            # The same tools for every request, so that servers find the prompt in their cache.
            tools, request = sorted(tools, key=_thin_order), ""
        chosen, others = choose_tools(
            list(map(describe_tool, tools)), request, room_for_tools(parts)
        )
        if not any(text.about.kind == "skill" for text in parts.guidance):
            openers = []
        offered_tools = [*chosen, *map(describe_tool, openers), *(parts.tools if others else ())]
        return replace(parts, tools=offered_tools, others=others)

    def fitting_templates(self, role: AgentRole, request: str) -> list[Template]:
        if "plan" not in role.spec.formats:
            return []
        by_outline = {item.outline: item for item in self.templates.listing().items}
        fitting = closest(list(by_outline), request, MAX_TEMPLATES)
        return [by_outline[outline] for outline in fitting]

    def _facts(self, context: Context) -> dict[str, str]:
        facts = {
            "workspace": f"{self.settings.workspace.name} (paths are relative to it)",
            "date": datetime.now(UTC).date().isoformat(),
        }
        return {**facts, "notebook": context.notebook} if context.notebook else facts


def _profile(choice: ProfileChoice, protocol: ToolProtocol) -> PromptProfile:
    if choice != "auto":
        return choice
    return "thin" if protocol == "code" else "full"  # which is for small models


def _base_text(base: BasePrompt | None, profile: PromptProfile) -> str:
    """The prompt that the user chose; ours is shorter for small models."""
    is_ours = base is not None and base.id == DEFAULT_PROMPT
    return "" if base is None or (is_ours and profile == "thin") else base.text


def _thin_order(tool: Tool) -> int:
    return _THIN_TOOLS.index(tool.name) if tool.name in _THIN_TOOLS else len(_THIN_TOOLS)


def describe_tool(tool: Tool) -> DescribedTool:
    return _describe(tool.category, tool.name, tool.description, tool.parameters)


@lru_cache(maxsize=1024)
def _describe(
    category: str, name: str, description: str, parameters: type[ToolParameters]
) -> DescribedTool:
    """Cached, because making a schema takes milliseconds. Must not be mutated."""
    return DescribedTool(category, ToolSpec(name, description, parameters.model_json_schema()))


def request_for(parts: PromptParts, *, in_task: bool) -> dict[str, Any]:
    specs = [tool.spec for tool in parts.tools]
    formats = parts.role.spec.formats
    return request_arguments(parts.protocol, specs, (*formats, "result") if in_task else formats)
