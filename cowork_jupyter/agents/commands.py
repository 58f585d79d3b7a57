"""What the text of a message asks for; one that begins with `/` may be a command.

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

from ..domain.errors import InvalidInput, NotFound
from ..domain.messages import ImagePart
from ..domain.roles import AgentRole
from ..workflows import WorkflowRegistry
from ..workflows.workflow import assigned
from .foreign import ForeignServers, Prompt

_COMMAND = re.compile(r"/(?P<name>[\w-]{1,80})(?::(?P<prompt>[\w./-]{1,200}))?(?:\s+|$)")


@dataclass(frozen=True)
class WorkflowCall:
    name: str
    parameters: dict[str, Any]
    role: AgentRole
    """Who works on it."""


@dataclass(frozen=True)
class PromptCall:
    server: str
    prompt: str
    words: tuple[str, ...] = ()
    """Its arguments: `name=value`, or values in their order."""


@dataclass(frozen=True)
class MessageRequest:
    """What a message asks for; at most one of these, or that its text is said."""

    text: str
    role: AgentRole | None = None
    skill: str = ""
    prompt: PromptCall | None = None
    workflow: WorkflowCall | None = None

    @property
    def is_command(self) -> bool:
        return bool(self.role or self.skill or self.prompt or self.workflow)


def parse_message(
    text: str,
    roles: Sequence[AgentRole],
    workflows: WorkflowRegistry,
    servers: Collection[str],
    skills: Callable[[], Collection[str]] = tuple,
) -> MessageRequest:
    """Raises InvalidInput for an unknown command, which must not reach a model."""
    match = _COMMAND.match(text)
    if match is None:
        return MessageRequest(text)
    name, prompt, rest = match["name"], match["prompt"], text[match.end() :].strip()
    if prompt is not None:
        if name not in servers:
            raise _unknown(f"{name}:{prompt}", (f"{server}:{prompt}" for server in servers))
        return _prompt_request(text, name, prompt, rest)
    role = next((candidate for candidate in roles if candidate.value == name), None)
    if role:
        return MessageRequest(_require_text(rest, name), role=role)
    if name in workflows:
        workflow = workflows[name]
        arguments = assigned(workflow.schema, _split(rest, name))
        return MessageRequest(text, workflow=WorkflowCall(name, arguments, workflow.role))
    available_skills = skills()
    if name in available_skills:
        return MessageRequest(_require_text(rest, name), skill=name)
    raise _unknown(name, [*(candidate.value for candidate in roles), *workflows, *available_skills])


def parse_call(text: str, servers: Collection[str], skills: Iterable[str]) -> MessageRequest:
    """The same where a server's prompts and skills are the only commands, and all else is said."""
    match = _COMMAND.match(text)
    if match is None:
        return MessageRequest(text)
    name, prompt, rest = match["name"], match["prompt"], text[match.end() :].strip()
    if prompt is not None:
        is_known = name in servers
        return _prompt_request(text, name, prompt, rest) if is_known else MessageRequest(text)
    return MessageRequest(rest, skill=name) if rest and name in skills else MessageRequest(text)


def _prompt_request(text: str, server: str, prompt: str, rest: str) -> MessageRequest:
    arguments = tuple(_split(rest, f"{server}:{prompt}"))
    return MessageRequest(text, prompt=PromptCall(server, prompt, arguments))


def is_callable(name: str) -> bool:
    """Whether a command of this name would be parsed as one."""
    return bool(_COMMAND.fullmatch(f"/{name}"))


def _require_text(rest: str, name: str) -> str:
    if not rest:
        raise InvalidInput(f"Write what you want after /{name}.", code="empty_command")
    return rest


def _split(rest: str, name: str) -> list[str]:
    try:
        return shlex.split(rest)
    except ValueError as error:
        raise InvalidInput(f"/{name}: {error}.", code="bad_parameters") from None


def _unknown(name: str, commands: Iterable[str]) -> InvalidInput:
    close = difflib.get_close_matches(name, list(commands), n=3, cutoff=0.5)
    hint = f" Did you mean {' or '.join(f'/{command}' for command in close)}?" if close else ""
    why = f"There is no command /{name}.{hint} Put a space first to send it as text."
    return InvalidInput(why, code="unknown_command", details={"close": close})


@dataclass(frozen=True)
class WrittenPrompt:
    name: str
    """`server:prompt`."""
    text: str
    pictures: tuple[ImagePart, ...] = ()


async def fetch_prompt(command: PromptCall, servers: ForeignServers) -> WrittenPrompt:
    """Get the prompt from the server; an error says how to write the arguments."""
    server = servers.server(command.server)
    name = f"{command.server}:{command.prompt}"
    offers = {offer.name: offer for offer in await server.prompts()}
    prompt = offers.get(command.prompt)
    if prompt is None:
        close = difflib.get_close_matches(command.prompt, offers, n=3, cutoff=0.5)
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
