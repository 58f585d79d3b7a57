"""Our tools for agents of others, over the Model Context Protocol.

The `ToolHost` decides what is offered and what becomes of a call; the modules here import the SDK,
so they are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...service.parts import Part

if TYPE_CHECKING:
    from argparse import ArgumentParser, _SubParsersAction


def _add_commands(commands: _SubParsersAction[ArgumentParser]) -> None:
    from . import connect, subcommand

    subcommand.add_mcp(commands)
    connect.add_to(commands)


def _handlers() -> list[tuple[str, type[Any]]]:
    from .handler import McpHandler

    return [(r"/cowork/mcp", McpHandler)]


PART = Part(add_commands=_add_commands, handlers=_handlers)
