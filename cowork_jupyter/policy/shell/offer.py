"""What “Always allow” may be offered for, and how a rule's words meet a command's."""

from __future__ import annotations

from collections.abc import Sequence

from .model import CommandEffect, SimpleCommand
from .table import program_name, row_of

_COMPUTES = frozenset({CommandEffect.READS, CommandEffect.RUNS_CODE})
_RUNS = frozenset({CommandEffect.RUNS_CODE, CommandEffect.RUNS_PROGRAMS, CommandEffect.INSTALLS})


def is_always_allowable(command: SimpleCommand) -> bool:
    """Whether a rule for this command's words says something about what it would allow."""
    if not command.words or command.doubts or command.hidden or command.brings:
        return False
    if command.effects & _RUNS and command.effects - _COMPUTES:
        return False
    name = program_name(command.words[0])
    row = row_of(name)
    return "/" not in name and (row is None or row.kept)


def matches_prefix(words: Sequence[str], prefix: Sequence[str]) -> bool:
    """Whether a command begins with a rule's words, each of them whole."""
    return bool(prefix) and tuple(words[: len(prefix)]) == tuple(prefix)
