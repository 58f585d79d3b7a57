"""Prompts of MCP servers, called with `/`: their arguments, and what is then sent."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from ...domain.errors import InvalidInput, NotFound
from ...domain.messages import ImagePart
from ...mcp.client import offers
from ...mcp.client.servers import McpServers
from .commands import SendPrompt


@dataclass(frozen=True)
class WrittenPrompt:
    """What is sent for a prompt, as the user will see it."""

    name: str
    """`server:prompt`."""
    text: str
    pictures: tuple[ImagePart, ...] = ()


async def written(command: SendPrompt, mcp: McpServers) -> WrittenPrompt:
    """Get the prompt from the server; an error says how to write the arguments."""
    connection = mcp.connection(command.server)
    name = f"{command.server}:{command.prompt}"
    known = {offer.name: offer for offer in await offers.prompts_of(connection)}
    prompt = known.get(command.prompt)
    if prompt is None:
        close = difflib.get_close_matches(command.prompt, known, n=3, cutoff=0.5)
        hint = " or ".join(f"/{command.server}:{candidate}" for candidate in close)
        why = f"There is no prompt /{name}.{f' Did you mean {hint}?' if hint else ''}"
        raise NotFound(why, code="unknown_command")
    values = values_of(prompt, command.words, name)
    got = await offers.prompt_of(connection, prompt.name, values)
    if not got.text.strip():
        raise InvalidInput(f"The prompt {command.prompt} is empty.", code="empty_command")
    head = f"[The prompt {command.prompt} of the MCP server {command.server}:]"
    return WrittenPrompt(name, f"{head}\n\n{got.text}", tuple(got.images))


def values_of(prompt: offers.Prompt, words: Sequence[str], name: str) -> dict[str, str]:
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


def _wrong(prompt: offers.Prompt, name: str, why: str) -> InvalidInput:
    takes = [f'{argument.name}="…"' for argument in prompt.arguments if argument.required]
    takes += [f'[{argument.name}="…"]' for argument in prompt.arguments if not argument.required]
    how = " ".join([f"/{name}", *takes])
    return InvalidInput(f"/{name} {why}. Write it as: {how}", code="bad_parameters")
