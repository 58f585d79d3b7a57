"""The system prompt: base + role + permitted tools + formats + facts, rendered from files.

The tools given here are already filtered by role: what a role may not use is not mentioned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from ..domain.guidance import GuidanceKind, GuidanceText
from ..domain.roles import AgentRole, Permission, RoleSpec
from ..domain.settings import PromptProfile, ToolProtocol
from ..policy.visible import visible
from .frames import EXPLAINED, Frame
from .protocols import ToolSpec
from .relevance import fitness
from .tokens import Count, estimate_tokens

PROMPTS = Path(__file__).parent / "prompts"
THIN_TOOL_TOKENS, THIN_TOOL_TOKENS_BESIDE_CODE = 250, 110
"""Budget for tool descriptions of the thin prompt; less where code does most of the work."""
PROMPT_TOKENS, PERMISSION_TOKENS = 1_800, 250
"""Budget of a read-only role's prompt, and what each further permission adds.

Tools beyond it are not described; they are found with `find_tools`."""
MAX_FOUND = 8

_ALLOWED = {
    Permission.READ_FILES: "read files, notebooks and variables",
    Permission.WRITE_FILES: "change files",
    Permission.CREATE_FILES: "create files",
    Permission.DELETE_FILES: "delete files",
    Permission.EXECUTE_COMMANDS: "run commands and cells",
}

_GUIDANCE: dict[GuidanceKind, str] = {
    "instructions": "Instructions",
    "memory": "What is known about this workspace",
    "skill": "Skills",
}


@dataclass(frozen=True)
class DescribedTool:
    category: str
    spec: ToolSpec

    @cached_property
    def line(self) -> str:
        called = f"{self.spec.name}({_signature(self.spec.parameters)})"
        return f"- {called}: {' '.join(self.spec.description.split())}"


@dataclass(frozen=True)
class PromptParts:
    role: AgentRole
    tools: Sequence[DescribedTool]
    others: int = 0
    """How many more can be found with `find_tools`."""
    delegates: Sequence[AgentRole] = ()
    base: str = ""
    protocol: ToolProtocol = "json"
    profile: PromptProfile = "full"
    runs_code: bool = False
    has_answer_form: bool = False
    """Whether the user says how the answer is to be written, such as `@mean[value]`."""
    facts: dict[str, str] = field(default_factory=dict)
    templates: Sequence[str] = ()
    guidance: Sequence[GuidanceText] = ()
    frame: Frame | None = None


def render_prompt(parts: PromptParts) -> str:
    sections = _thin_sections(parts) if parts.profile == "thin" else _sections(parts)
    return "\n\n".join(section.strip() for section in sections if section) + "\n"


def _thin_sections(parts: PromptParts) -> list[str]:
    """Only what helps a small model: every further sentence may confuse it.

    The role is described only where it delivers something, such as a plan.
    """
    spec = parts.role.spec
    delivers = [name for name in spec.formats if name != "question"]
    return [
        parts.base or read_prompt("base", "thin.md"),
        _role_text(parts) if delivers or parts.protocol != "code" else "",
        f"# Replies\n{_formats(parts, delivers)}",
        f"# {'Other tools' if parts.protocol == 'code' else 'Tools'}\n{_tools(parts)}"
        if _describes_tools(parts)
        else "",
        *_guidance(parts),
        f"# Facts\n{_facts(parts.facts)}" if parts.facts else "",
        EXPLAINED if parts.frame else "",
    ]


def _sections(parts: PromptParts) -> list[str]:
    spec = parts.role.spec
    return [
        parts.base or read_prompt("base", "default.md"),
        f"# Role\n{_role_text(parts)}",
        f"# Permissions\n{_permissions(parts.role)}",
        f"# Tools\n{_tools(parts)}" if _describes_tools(parts) else "",
        f"# Replies\n{_formats(parts, [*spec.formats, *_beside(spec), 'diagram'])}",
        _examples(parts),
        "\n".join(["# Templates", read_prompt("formats", "templates.md"), *parts.templates])
        if parts.templates
        else "",
        *_guidance(parts),
        f"# Facts\n{_facts(parts.facts)}" if parts.facts else "",
        # Last, because it differs between conversations, and servers cache common prefixes.
        parts.frame.explained if parts.frame else "",
    ]


def _beside(spec: RoleSpec) -> list[str]:
    writes_cells = {Permission.WRITE_FILES, Permission.EXECUTE_COMMANDS} <= spec.permissions
    plans = "plan" in spec.formats
    leads = plans and bool(spec.delegates_to)
    return ["expects"] * plans + ["team"] * leads + ["cells"] * writes_cells


def room_for_tools(frame: PromptParts, count: Count = estimate_tokens) -> int:
    """Token budget for tool descriptions beside the rest of the prompt.

    The user's own base prompt and guidance take no room from the tools.
    """
    if frame.profile == "thin":
        return THIN_TOOL_TOKENS_BESIDE_CODE if frame.protocol == "code" else THIN_TOOL_TOKENS
    limit = PROMPT_TOKENS + PERMISSION_TOKENS * (len(frame.role.spec.permissions) - 1)
    return limit - count(render_prompt(replace(frame, base="", templates=(), guidance=())))


@cache
def read_prompt(folder: str, name: str) -> str:
    path = PROMPTS / folder / name
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def choose_tools(
    tools: Sequence[DescribedTool], request: str, budget: int, count: Count = estimate_tokens
) -> tuple[list[DescribedTool], int]:
    """Select the most relevant tools within the budget; also return how many were left out.

    Our own tools come before foreign ones, then those that share words with the request. The given
    order is kept, so that the prompt changes as little as possible.
    """
    fits = _fitness(tools, request)

    def rank(place: int) -> tuple[bool, float, int]:
        return tools[place].spec.name.startswith("mcp__"), -fits[place], place

    chosen: set[int] = set()
    headings: set[str] = set()
    for place in sorted(range(len(tools)), key=rank):
        tool = tools[place]
        heading = "" if tool.category in headings else f"{_heading(tool.category)}\n"
        cost = count(f"{heading}{tool.line}\n")
        if cost <= budget:
            chosen.add(place)
            headings.add(tool.category)
            budget -= cost
    return [tools[place] for place in sorted(chosen)], len(tools) - len(chosen)


def search_tools(tools: Sequence[DescribedTool], query: str) -> list[DescribedTool]:
    fits = _fitness(tools, query)
    best = sorted(range(len(tools)), key=lambda place: -fits[place])
    return [tools[place] for place in best[:MAX_FOUND] if fits[place]]


def _fitness(tools: Sequence[DescribedTool], request: str) -> list[float]:
    return fitness([f"{tool.spec.name} {tool.spec.description}" for tool in tools], request)


def _permissions(role: AgentRole) -> str:
    held = role.spec.permissions
    lines = [
        f"{'✅' if permission in held else '❌'} {_ALLOWED[permission]}"
        for permission in Permission
    ]
    return "\n".join(lines)


def _describes_tools(parts: PromptParts) -> bool:
    """With native calls the request describes the tools, and the prompt only mentions others."""
    return bool(parts.others if parts.protocol == "native" else parts.tools)


def _tools(parts: PromptParts) -> str:
    lines = []
    described = () if parts.protocol == "native" else parts.tools
    for category in dict.fromkeys(tool.category for tool in described):
        group = [tool.line for tool in parts.tools if tool.category == category]
        lines += [_heading(category), *group]
    if parts.others:
        lines.append(f"You have {parts.others} more tools. Find them with find_tools.")
    return "\n".join(lines)


def _heading(category: str) -> str:
    return f"## {category.capitalize()}"


_HOW_TO_CALL: dict[ToolProtocol, tuple[str, ...]] = {
    "native": ("tool_call_native",),
    "code": ("code", "code_tools"),
}


def _formats(parts: PromptParts, formats: Sequence[str]) -> str:
    calls = _HOW_TO_CALL.get(parts.protocol, ("tool_call",)) if parts.tools else ()
    example = read_prompt("examples", "code_in_form.md" if parts.has_answer_form else "code.md")
    others = [role.value for role in parts.delegates if role not in list(AgentRole)]
    declared = f", and here also {', '.join(others)}" if others else ""
    texts = (read_prompt("formats", f"{name}.md") for name in [*calls, *formats])
    return "\n\n".join(
        text.replace("{example}", example).replace("{declared}", declared) for text in texts
    )


def _role_text(parts: PromptParts) -> str:
    spec = parts.role.spec
    text = spec.prompt or read_prompt("roles", spec.prompt_file)
    names = [role.value for role in parts.delegates] or spec.delegates_to
    return text.replace("{delegates}", ", ".join(names))


def _examples(parts: PromptParts) -> str:
    """Small models need examples; with native calls they would show the wrong form."""
    if parts.protocol in ("native", "code"):
        return ""
    name = parts.role.spec.prompt_file
    with_code = read_prompt("examples", name.replace(".md", "_code.md")) if parts.runs_code else ""
    text = with_code or read_prompt("examples", name)
    return f"# Examples\n{text}" if text else ""


def _guidance(parts: PromptParts) -> Iterator[str]:
    for kind, heading in _GUIDANCE.items():
        texts = [guidance.text for guidance in parts.guidance if guidance.about.kind == kind]
        if texts:
            yield "\n".join([f"# {heading}", read_prompt("guidance", f"{kind}.md"), *texts])


def _facts(facts: dict[str, str]) -> str:
    """One line each, whatever a folder or a notebook is called."""
    return "\n".join(
        f"- {name}: {visible(' '.join(value.split()))}" for name, value in facts.items()
    )


def _signature(schema: dict[str, Any]) -> str:
    required = set(schema.get("required", []))
    return ", ".join(
        name + ("" if name in required else "?") + _hint(of)
        for name, of in schema.get("properties", {}).items()
    )


def _hint(schema: dict[str, Any]) -> str:
    """The type, unless it is string, which most parameters are."""
    kinds = [option for option in schema.get("anyOf", [schema]) if option.get("type") != "null"]
    kind = kinds[0] if kinds else {}
    if "enum" in kind:
        return f": {'|'.join(map(str, kind['enum']))}"
    name = kind.get("type", "string")
    return "" if name == "string" else f": {name}"
