"""Commands: what a message that begins with `/` wants done instead of being said.

    /reviewer look at cell 3            in another role
    /write_tests module=sales.py        a workflow with its parameters
    /joins add the customers' cities    by a skill
    /github:review number=3             a prompt of an MCP server; /github:review 3 is the same

A path such as `/data/x`, and a slash anywhere else, is plain text.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ...domain.errors import InvalidInput
from ...domain.roles import AgentRole
from ...guidance.skills import Skills
from ...workflows import WorkflowRegistry
from ...workflows.workflow import assigned

_COMMAND = re.compile(r"/(?P<name>[\w-]{1,80})(?::(?P<prompt>[\w./-]{1,200}))?(?:\s+|$)")


@dataclass(frozen=True)
class InRole:
    """Say this to another role."""

    role: AgentRole
    text: str


@dataclass(frozen=True)
class RunWorkflow:
    """Run a workflow with these parameters."""

    name: str
    parameters: dict[str, Any]


@dataclass(frozen=True)
class FollowSkill:
    """Say this, to be done as a skill says."""

    name: str
    text: str


@dataclass(frozen=True)
class SendPrompt:
    """Send what a server's prompt says."""

    server: str
    prompt: str
    words: tuple[str, ...] = ()
    """Its arguments: `name=value`, or values in their order."""


Command = InRole | RunWorkflow | FollowSkill | SendPrompt


def command_in(
    text: str,
    roles: Sequence[AgentRole],
    workflows: WorkflowRegistry,
    servers: Collection[str],
    skills: Callable[[], Collection[str]] = tuple,
) -> Command | None:
    """What a message commands; None if it is plain text. Unknown names are not said to a model."""
    match = _COMMAND.match(text)
    if match is None:
        return None
    name, prompt, rest = match["name"], match["prompt"], text[match.end() :].strip()
    if prompt is not None:
        if name not in servers:
            raise _unknown(f"{name}:{prompt}", (f"{server}:{prompt}" for server in servers))
        return SendPrompt(name, prompt, tuple(_split(rest, f"{name}:{prompt}")))
    role = next((candidate for candidate in roles if candidate.value == name), None)
    if role:
        return InRole(role, _wanted(rest, name))
    if name in workflows:
        schema = workflows[name].schema
        return RunWorkflow(name, assigned(schema, _split(rest, name)))
    known = skills()
    if name in known:
        return FollowSkill(name, _wanted(rest, name))
    raise _unknown(name, [*(candidate.value for candidate in roles), *workflows, *known])


def called_prompt(text: str, servers: Collection[str]) -> SendPrompt | None:
    """The prompt of a server that a text begins with; for where there are no other commands."""
    match = _COMMAND.match(text)
    if match is None or not match["prompt"] or match["name"] not in servers:
        return None
    words = _split(text[match.end() :], f"{match['name']}:{match['prompt']}")
    return SendPrompt(match["name"], match["prompt"], tuple(words))


def is_callable(name: str) -> bool:
    """Whether a command of this name would be read as one."""
    return bool(_COMMAND.fullmatch(f"/{name}"))


def called_skill(text: str, skills: Skills) -> tuple[str, str]:
    """The skill that a text begins with, and the rest; for where there are no other commands."""
    match = _COMMAND.match(text)
    rest = text[match.end() :].strip() if match else ""
    if match and rest and match["name"] in (skill.name for skill in skills.usable()):
        return match["name"], rest
    return "", text


def _wanted(rest: str, name: str) -> str:
    if not rest:
        raise InvalidInput(f"Write what you want after /{name}.", code="empty_command")
    return rest


def _split(rest: str, name: str) -> list[str]:
    try:
        return shlex.split(rest)
    except ValueError as error:
        raise InvalidInput(f"/{name}: {error}.", code="bad_parameters") from None


def _unknown(name: str, known: Iterable[str]) -> InvalidInput:
    close = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
    hint = f" Did you mean {' or '.join(f'/{command}' for command in close)}?" if close else ""
    why = f"There is no command /{name}.{hint} Put a space first to send it as text."
    return InvalidInput(why, code="unknown_command", details={"close": close})
