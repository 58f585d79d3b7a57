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

from ...domain.errors import InvalidInput, NotFound
from ...domain.messages import ImagePart
from ...domain.roles import AgentRole
from ...workflows import WorkflowRegistry
from ...workflows.workflow import assigned
from ..foreign import ForeignServers, Prompt
from ..guidance import KnownSkill

_COMMAND = re.compile(r"/(?P<name>[\w-]{1,80})(?::(?P<prompt>[\w./-]{1,200}))?(?:\s+|$)")


@dataclass(frozen=True)
class InRole:
    role: AgentRole
    text: str


@dataclass(frozen=True)
class RunWorkflow:
    name: str
    parameters: dict[str, Any]


@dataclass(frozen=True)
class FollowSkill:
    name: str
    text: str


@dataclass(frozen=True)
class SendPrompt:
    server: str
    prompt: str
    words: tuple[str, ...] = ()
    """Its arguments: `name=value`, or values in their order."""


Command = InRole | RunWorkflow | FollowSkill | SendPrompt


def parse_command(
    text: str,
    roles: Sequence[AgentRole],
    workflows: WorkflowRegistry,
    servers: Collection[str],
    skills: Callable[[], Collection[str]] = tuple,
) -> Command | None:
    """The command in a message; None if it is plain text. Raises InvalidInput for an unknown name,
    which must not reach a model.
    """
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
        return InRole(role, _require_text(rest, name))
    if name in workflows:
        schema = workflows[name].schema
        return RunWorkflow(name, assigned(schema, _split(rest, name)))
    known = skills()
    if name in known:
        return FollowSkill(name, _require_text(rest, name))
    raise _unknown(name, [*(candidate.value for candidate in roles), *workflows, *known])


def parse_prompt_call(text: str, servers: Collection[str]) -> SendPrompt | None:
    match = _COMMAND.match(text)
    if match is None or not match["prompt"] or match["name"] not in servers:
        return None
    words = _split(text[match.end() :], f"{match['name']}:{match['prompt']}")
    return SendPrompt(match["name"], match["prompt"], tuple(words))


def is_callable(name: str) -> bool:
    """Whether a command of this name would be parsed as one."""
    return bool(_COMMAND.fullmatch(f"/{name}"))


def parse_skill_call(text: str, skills: Iterable[KnownSkill]) -> tuple[str, str]:
    """The skill that a text begins with, and the rest; for where there are no other commands."""
    match = _COMMAND.match(text)
    rest = text[match.end() :].strip() if match else ""
    if match and rest and match["name"] in (skill.name for skill in skills):
        return match["name"], rest
    return "", text


def _require_text(rest: str, name: str) -> str:
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


@dataclass(frozen=True)
class WrittenPrompt:
    name: str
    """`server:prompt`."""
    text: str
    pictures: tuple[ImagePart, ...] = ()


async def fetch_prompt(command: SendPrompt, servers: ForeignServers) -> WrittenPrompt:
    """Get the prompt from the server; an error says how to write the arguments."""
    server = servers.server(command.server)
    name = f"{command.server}:{command.prompt}"
    known = {offer.name: offer for offer in await server.prompts()}
    prompt = known.get(command.prompt)
    if prompt is None:
        close = difflib.get_close_matches(command.prompt, known, n=3, cutoff=0.5)
        hint = " or ".join(f"/{command.server}:{candidate}" for candidate in close)
        why = f"There is no prompt /{name}.{f' Did you mean {hint}?' if hint else ''}"
        raise NotFound(why, code="unknown_command")
    values = prompt_arguments(prompt, command.words, name)
    got = await server.prompt(prompt.name, values)
    if not got.text.strip():
        raise InvalidInput(f"The prompt {command.prompt} is empty.", code="empty_command")
    head = f"[The prompt {command.prompt} of the MCP server {command.server}:]"
    return WrittenPrompt(name, f"{head}\n\n{got.text}", tuple(got.images))


def prompt_arguments(prompt: Prompt, words: Sequence[str], name: str) -> dict[str, str]:
    """The arguments by name. Positional words fill the remaining ones in order."""
    names = [argument.name for argument in prompt.arguments]
    values: dict[str, str] = {}
    bare: list[str] = []
    for word in words:
        key, is_named, value = word.partition("=")
        if is_named and key in names:
            values[key] = value
        elif is_named and key.isidentifier():
            raise _wrong(prompt, name, f"has no argument '{key}'")
        else:
            bare.append(word)
    unnamed = [argument for argument in names if argument not in values]
    if len(bare) > len(unnamed):
        raise _wrong(prompt, name, f"does not take '{bare[len(unnamed)]}'")
    values.update(zip(unnamed, bare, strict=False))
    missing = [
        argument.name
        for argument in prompt.arguments
        if argument.required and argument.name not in values
    ]
    if missing:
        raise _wrong(prompt, name, f"needs {' and '.join(missing)}")
    return values


def _wrong(prompt: Prompt, name: str, why: str) -> InvalidInput:
    takes = [f'{argument.name}="…"' for argument in prompt.arguments if argument.required]
    takes += [f'[{argument.name}="…"]' for argument in prompt.arguments if not argument.required]
    how = " ".join([f"/{name}", *takes])
    return InvalidInput(f"/{name} {why}. Write it as: {how}", code="bad_parameters")
