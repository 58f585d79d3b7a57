"""Which of the places that run something later a command may write, once it is decided about.

The sandbox keeps them all closed. A command opens those that the user saw when they approved it.
No rule does, but one that names installing: it says that software may be put into environments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..workspace.sandbox.autorun import Opened
from .call_parts import WRITE_RULES
from .calls import ProposedCall
from .paths import AnchorDirs
from .shell import CommandEffect, SimpleCommand, configures_git


def opened_by(call: ProposedCall, anchors: AnchorDirs, *, approved: bool) -> Opened:
    """What the call may write; `approved` says that the user was asked about this very one."""
    commands = [part.command for part in call.parts if part.command]
    installs = any(CommandEffect.INSTALLS in command.effects for command in commands)
    if not approved:
        return Opened(environments=installs)
    paths = dict.fromkeys([*_named(call), *_deleted(call, commands, anchors)])
    argvs = [words for command in commands for words in (command.words, *command.hidden)]
    if any(command.brings for command in commands) or any(map(_clones, argvs)):
        paths[anchors.root] = None  # the card says that any file may be among what it brings
    return Opened(tuple(paths), git=any(map(configures_git, argvs)), environments=installs)


def _named(call: ProposedCall) -> Iterator[str]:
    """Protected places that the card named."""
    for part in call.parts:
        if part.target and part.protected and not set(WRITE_RULES).isdisjoint(part.rules):
            yield from part.target.spellings


def _deleted(
    call: ProposedCall, commands: Sequence[SimpleCommand], anchors: AnchorDirs
) -> Iterator[str]:
    """Whoever lets a folder be deleted lets what is in it be deleted."""
    if not any(CommandEffect.DELETES in command.effects for command in commands):
        return
    for part in call.parts:
        if part.target and part.rules == WRITE_RULES:
            yield from (path for path in part.target.spellings if path != anchors.root)


def _clones(words: Sequence[str]) -> bool:
    return tuple(words[:2]) == ("git", "clone")
