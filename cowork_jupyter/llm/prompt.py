"""The system prompt: base + role + permitted tools + formats + facts, rendered from files.

What a role may not use is absent: the list of tools given here is already filtered. The
same text goes to the model and to whoever wants to see it.
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
"""What descriptions of tools may cost a small model; less where code does most of it."""
PROMPT_TOKENS, PERMISSION_TOKENS = 1_800, 250
"""How long the prompt of a role that only reads may be, and what each further permission adds.

Tools that would make it longer are not described; they are found with `find_tools`."""
MAX_FOUND = 8
"""Tools that one search gives."""

_ALLOWED = {
    Permission.READ_FILES: "read files, notebooks and variables",
    Permission.WRITE_FILES: "change files",
    Permission.CREATE_FILES: "create files",
    Permission.DELETE_FILES: "delete files",
    Permission.EXECUTE_COMMANDS: "run commands and cells",
}

_GUIDANCE: dict[GuidanceKind, str] = {
    "instructions": "Instructions",
    "memory": "What is known of this workspace",
    "skill": "Skills",
}


@dataclass(frozen=True)
class DescribedTool:
    """A tool with the heading it stands under in the prompt."""

    category: str
    spec: ToolSpec

    @cached_property
    def line(self) -> str:
        """How it is called and what it does."""
        called = f"{self.spec.name}({_signature(self.spec.parameters)})"
        return f"- {called}: {' '.join(self.spec.description.split())}"


@dataclass(frozen=True)
class PromptParts:
    """All that a system prompt is made of."""

    role: AgentRole
    tools: Sequence[DescribedTool]
    """Those to describe: permitted, and chosen by `choose_tools`."""
    others: int = 0
    """How many more there are, to be found with `find_tools`."""
    base: str = ""
    protocol: ToolProtocol = "json"
    profile: PromptProfile = "full"
    runs_code: bool = False
    """Whether the role can run code here."""
    facts: dict[str, str] = field(default_factory=dict)
    """What is known of the workspace: its name, the notebook, the date."""
    templates: Sequence[str] = ()
    """Outlines of saved plans that fit the request."""
    guidance: Sequence[GuidanceText] = ()
    """How this user and workspace work."""
    frame: Frame | None = None
    """What stands around text that others wrote."""


def render_prompt(parts: PromptParts) -> str:
    """The system prompt, whole."""
    sections = _thin_sections(parts) if parts.profile == "thin" else _sections(parts)
    return "\n\n".join(section.strip() for section in sections if section) + "\n"


def _thin_sections(parts: PromptParts) -> list[str]:
    """Only what helps a small model: every sentence more is one to stumble over.

    The role is told where it has something to deliver, such as a plan.
    """
    spec = parts.role.spec
    delivers = [name for name in spec.formats if name != "question"]
    return [
        parts.base or read_prompt("base", "thin.md"),
        _role_text(spec) if delivers or parts.protocol != "code" else "",
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
        f"# Role\n{_role_text(spec)}",
        f"# Permissions\n{_permissions(parts.role)}",
        f"# Tools\n{_tools(parts)}" if _describes_tools(parts) else "",
        f"# Replies\n{_formats(parts, [*spec.formats, *_beside(spec), 'diagram'])}",
        _examples(parts),
        f"# Templates\n{_templates(parts.templates)}" if parts.templates else "",
        *_guidance(parts),
        f"# Facts\n{_facts(parts.facts)}" if parts.facts else "",
        # Last, because it differs between conversations, and servers cache what is the same.
        parts.frame.explained if parts.frame else "",
    ]


def _beside(spec: RoleSpec) -> list[str]:
    """What plans may say of tables and how cells are written: more than a small model can use."""
    writes_cells = {Permission.WRITE_FILES, Permission.EXECUTE_COMMANDS} <= spec.permissions
    plans = "plan" in spec.formats
    leads = plans and bool(spec.delegates_to)
    return ["expects"] * plans + ["team"] * leads + ["cells"] * writes_cells


def room_for_tools(frame: PromptParts, count: Count = estimate_tokens) -> int:
    """What descriptions of tools may cost beside all that is in this frame of a prompt.

    A long base prompt of the user's own takes no room from the tools, nor does guidance.
    """
    if frame.profile == "thin":
        return THIN_TOOL_TOKENS_BESIDE_CODE if frame.protocol == "code" else THIN_TOOL_TOKENS
    limit = PROMPT_TOKENS + PERMISSION_TOKENS * (len(frame.role.spec.permissions) - 1)
    return limit - count(render_prompt(replace(frame, base="", templates=(), guidance=())))


@cache
def read_prompt(folder: str, name: str) -> str:
    """A prompt file of the package; empty where there is none."""
    path = PROMPTS / folder / name
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def choose_tools(
    tools: Sequence[DescribedTool], request: str, budget: int, count: Count = estimate_tokens
) -> tuple[list[DescribedTool], int]:
    """Those that fit the budget, the most relevant first to stay, and how many do not.

    Our own tools come before foreign ones, then what shares words with the request. The
    order in which they were given is kept, so that the prompt changes as little as possible.
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
    """The few that share most with the query, best first."""
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
    """With native calls the request itself does, and the prompt tells only of what it lacks."""
    return bool(parts.others if parts.protocol == "native" else parts.tools)


def _tools(parts: PromptParts) -> str:
    lines = []
    described = () if parts.protocol == "native" else parts.tools
    for category in dict.fromkeys(tool.category for tool in described):
        group = [tool.line for tool in parts.tools if tool.category == category]
        lines += [_heading(category), *group]
    if parts.others:
        lines.append(f"You have {parts.others} more tools. Look for them with find_tools.")
    return "\n".join(lines)


def _heading(category: str) -> str:
    return f"## {category.capitalize()}"


_HOW_TO_CALL: dict[ToolProtocol, tuple[str, ...]] = {
    "native": ("tool_call_native",),
    "code": ("code", "code_tools"),
}


def _formats(parts: PromptParts, formats: Sequence[str]) -> str:
    calls = _HOW_TO_CALL.get(parts.protocol, ("tool_call",)) if parts.tools else ()
    return "\n\n".join(read_prompt("formats", f"{name}.md") for name in [*calls, *formats])


def _role_text(spec: RoleSpec) -> str:
    text = spec.prompt or read_prompt("roles", spec.prompt_file)
    return text.replace("{delegates}", ", ".join(spec.delegates_to))


def _examples(parts: PromptParts) -> str:
    """Small models need a few; with native calls they would show the wrong form."""
    if parts.protocol in ("native", "code"):
        return ""
    name = parts.role.spec.prompt_file
    with_code = read_prompt("examples", name.replace(".md", "_code.md")) if parts.runs_code else ""
    text = with_code or read_prompt("examples", name)
    return f"# Examples\n{text}" if text else ""


def _templates(outlines: Sequence[str]) -> str:
    """Said with care: what was good once may not fit now, and the braces are not to be copied."""
    return "\n".join([read_prompt("formats", "templates.md"), *outlines])


def _guidance(parts: PromptParts) -> Iterator[str]:
    """A section for each kind, which says how far to follow it."""
    for kind, heading in _GUIDANCE.items():
        texts = [guidance.text for guidance in parts.guidance if guidance.about.kind == kind]
        if texts:
            yield "\n".join([f"# {heading}", read_prompt("guidance", f"{kind}.md"), *texts])


def _facts(facts: dict[str, str]) -> str:
    """Each on one line, whatever a folder or a notebook is called."""
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
    """The type where it is not text, which most parameters are."""
    kinds = [option for option in schema.get("anyOf", [schema]) if option.get("type") != "null"]
    kind = kinds[0] if kinds else {}
    if "enum" in kind:
        return f": {'|'.join(map(str, kind['enum']))}"
    name = kind.get("type", "string")
    return "" if name == "string" else f": {name}"
