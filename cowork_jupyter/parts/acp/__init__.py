"""Editors as host: the service over the Agent Client Protocol, `jupyter cowork acp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...service.parts import Part

if TYPE_CHECKING:
    from argparse import ArgumentParser, _SubParsersAction


def _add_commands(commands: _SubParsersAction[ArgumentParser]) -> None:
    from .subcommand import add_acp

    add_acp(commands)


PART = Part(add_commands=_add_commands)
