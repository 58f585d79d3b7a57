"""Completions of MCP resources and prompts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...domain.mentions import MentionKind
from ...mcp.client import offers
from ...mcp.client.connection import McpConnection
from .commands import is_callable
from .syntax import path_text
from .targets import CompletionItem

_VARIABLE = re.compile(r"\{\+?(\w+)\}")


async def resources(connection: McpConnection) -> list[CompletionItem]:
    name = connection.config.name
    return [
        CompletionItem(
            text=path_text(f"{name}:{resource.uri}"), kind="resource", title=resource.name
        )
        for resource in await offers.resources_of(connection)
    ]


async def prompts(connection: McpConnection) -> list[CompletionItem]:
    server = connection.config.name
    found = [(f"{server}:{prompt.name}", prompt) for prompt in await offers.prompts_of(connection)]
    return [
        CompletionItem(text=f"/{name}", kind="prompt", title=_about(prompt))
        for name, prompt in found
        if is_callable(name)
    ]


def _about(prompt: offers.Prompt) -> str:
    takes = " ".join(
        argument.name if argument.required else f"[{argument.name}]"
        for argument in prompt.arguments
    )
    return " · ".join(filter(None, [takes, prompt.description]))[:80]


@dataclass(frozen=True)
class Gap:
    """The place in a template up to which an address is typed."""

    before: str
    """The settled part of the address."""
    variable: str = ""
    """What comes next; empty if only literal text does."""
    value: str = ""
    after: str = ""
    known: tuple[tuple[str, str], ...] = ()
    is_last: bool = False


def find_gap(template: str, written: str) -> Gap | None:
    """Where an address of this template goes on; None if it cannot become one."""
    pieces = _VARIABLE.split(template)  # words, variable, words, variable, …, words
    before, known = "", list[tuple[str, str]]()
    for place in range(0, len(pieces) - 1, 2):
        words, variable, after = pieces[place : place + 3]
        if not written.startswith(words):
            return Gap(before + words) if words.startswith(written) else None
        before, written = before + words, written[len(words) :]
        is_last = place + 3 == len(pieces)
        if is_last or not after or after not in written:
            return Gap(before, variable, written, after, tuple(known), is_last)
        value, _, _ = written.partition(after)
        known.append((variable, value))
        before, written = before + value, written[len(value) :]
    return None


def parse_address(typed: str, server: str) -> str | None:
    """What is typed of an address at this server; None if it is at another."""
    name, colon, written = typed[1:].lstrip('"').partition(":")
    if colon:
        return written if name == server else None
    return "" if name in server else None


async def fill_templates(connection: McpConnection, written: str) -> list[CompletionItem]:
    """Resources of the server's templates, as far as the typed text determines them."""
    name = connection.config.name
    found: list[CompletionItem] = []
    for template in await offers.templates_of(connection):
        gap = find_gap(template.template, written)
        if gap is None:
            continue
        # What is not whole yet is taken as a folder is: one goes on writing.
        if not gap.variable:
            text = path_text(f"{name}:{gap.before}")
            found.append(CompletionItem(text=text, kind="folder", title=template.template[:80]))
            continue
        kind: MentionKind = "resource" if gap.is_last else "folder"
        for value in await offers.values_for(
            connection, template, gap.variable, gap.value, gap.known
        ):
            text = path_text(f"{name}:{gap.before}{value}{gap.after}")
            title = f"{gap.variable} · {template.name}"[:80]
            found.append(CompletionItem(text=text, kind=kind, title=title))
    return found
