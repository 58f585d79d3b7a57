"""The system prompt: base + role + permitted tools + formats + facts, rendered from files.

What a role may not use is absent: the list of tools given here is already filtered. The
same text goes to the model and to whoever wants to see it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from ..domain.roles import AgentRole, Permission
from ..domain.settings import ToolProtocol
from .protocols import ToolSpec
from .tokens import estimate_tokens

PROMPTS = Path(__file__).parent / "prompts"
TOOL_TOKENS = 1_400
"""What descriptions of tools may take of the prompt; beyond it they are found with `find_tools`."""

_ALLOWED = {
    Permission.READ_FILES: "read files, notebooks and variables",
    Permission.WRITE_FILES: "change files",
    Permission.CREATE_FILES: "create files",
    Permission.DELETE_FILES: "delete files",
    Permission.EXECUTE_COMMANDS: "run commands and code",
}


@dataclass(frozen=True)
class DescribedTool:
    """A tool with the heading it stands under in the prompt."""

    category: str
    spec: ToolSpec


@dataclass(frozen=True)
class PromptParts:
    """All that a system prompt is made of."""

    role: AgentRole
    tools: Sequence[DescribedTool]
    base: str = ""
    protocol: ToolProtocol = "json"
    facts: dict[str, str] = field(default_factory=dict)
    """What is known of the workspace: its name, the notebook, the date."""
    request: str = ""
    """What the user wants, for choosing tools when there are too many to describe."""


def render_prompt(parts: PromptParts) -> str:
    """The system prompt, whole."""
    spec = parts.role.spec
    described, others = choose_tools(parts.tools, parts.request, TOOL_TOKENS)
    role_text = read_prompt("roles", spec.prompt_file)
    sections = [
        parts.base or read_prompt("base", "default.md"),
        f"# Role\n{role_text.replace('{delegates}', ', '.join(spec.delegates_to))}",
        f"# Permissions\n{_permissions(parts.role)}",
        f"# Tools\n{_tools(described, others)}" if parts.tools else "",
        f"# Replies\n{_formats(parts)}",
        _examples(parts),
        f"# Facts\n{_facts(parts.facts)}" if parts.facts else "",
    ]
    return "\n\n".join(section.strip() for section in sections if section) + "\n"


@cache
def read_prompt(folder: str, name: str) -> str:
    """A prompt file of the package; empty where there is none."""
    path = PROMPTS / folder / name
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def choose_tools(
    tools: Sequence[DescribedTool],
    request: str,
    budget: int,
    count: Callable[[str], int] = estimate_tokens,
) -> tuple[list[DescribedTool], int]:
    """Those that fit the budget, the most relevant first to stay, and how many do not.

    Our own tools come before foreign ones, then what shares words with the request. The
    order in which they were given is kept, so that the prompt changes as little as possible.
    """
    words = _words(request)

    def relevance(place: int) -> tuple[bool, int, int]:
        spec = tools[place].spec
        foreign = spec.name.startswith("mcp__")
        return foreign, -len(words & _words(f"{spec.name} {spec.description}")), place

    chosen: set[int] = set()
    for place in sorted(range(len(tools)), key=relevance):
        cost = count(describe_tool(tools[place].spec))
        if cost <= budget:
            chosen.add(place)
            budget -= cost
    return [tools[place] for place in sorted(chosen)], len(tools) - len(chosen)


def describe_tool(tool: ToolSpec) -> str:
    """One line: how it is called and what it does."""
    return f"- {tool.name}({_signature(tool.parameters)}): {tool.description}"


def _words(text: str) -> set[str]:
    return {word for word in re.split(r"[^a-z0-9]+", text.lower()) if len(word) > 2}


def _permissions(role: AgentRole) -> str:
    held = role.spec.permissions
    lines = [f"{'✅' if one in held else '❌'} {_ALLOWED[one]}" for one in Permission]
    return "\n".join(lines)


def _tools(described: Iterable[DescribedTool], others: int) -> str:
    lines = []
    for category, group in groupby(described, key=lambda one: one.category):
        lines += [f"## {category.capitalize()}", *(describe_tool(one.spec) for one in group)]
    if others:
        lines.append(f"{others} more can be found with find_tools.")
    return "\n".join(lines)


def _formats(parts: PromptParts) -> str:
    how_to_call = "tool_call_native.md" if parts.protocol == "native" else "tool_call.md"
    names = [how_to_call] if parts.tools else []
    names += [f"{name}.md" for name in parts.role.spec.formats]
    return "\n\n".join(read_prompt("formats", name) for name in [*names, "diagram.md"])


def _examples(parts: PromptParts) -> str:
    """Small models need a few; with native calls they would show the wrong form."""
    if parts.protocol == "native":
        return ""
    text = read_prompt("examples", parts.role.spec.prompt_file)
    return f"# Examples\n{text}" if text else ""


def _facts(facts: dict[str, str]) -> str:
    return "\n".join(f"- {name}: {value}" for name, value in facts.items())


def _signature(schema: dict[str, Any]) -> str:
    required = set(schema.get("required", []))
    return ", ".join(
        name + ("" if name in required else "?") + _hint(of)
        for name, of in schema.get("properties", {}).items()
    )


def _hint(schema: dict[str, Any]) -> str:
    """The type where it is not text, which most parameters are."""
    kinds = [one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"]
    kind = kinds[0] if kinds else {}
    if "enum" in kind:
        return f": {'|'.join(map(str, kind['enum']))}"
    name = kind.get("type", "string")
    return "" if name == "string" else f": {name}"
