"""What “Always allow” may be offered for, and how a rule's words meet a command's."""

from __future__ import annotations

from collections.abc import Sequence

from .hidden import OPAQUE, SHELLS, WRAPPERS
from .model import SimpleCommand, names
from .programs import INSTALLERS, INTERPRETERS, program_name

_BUILDERS = names("""
    make gmake cmake ninja bazel ant mvn gradle gradlew rake just task go cargo dotnet snakemake
    crontab systemctl launchctl open xdg-open pre-commit rsync scp sftp nc ncat netcat socat telnet
    """)
_NEVER = SHELLS | OPAQUE | INSTALLERS | INTERPRETERS | _BUILDERS | WRAPPERS.keys()
"""Programs that run whatever they are told: one rule for them would allow everything."""


def is_always_allowable(command: SimpleCommand) -> bool:
    """Whether a rule for this command's words says something about what it would allow."""
    if not command.words or command.doubts or command.hidden:
        return False
    name = program_name(command.words[0])
    return "/" not in name and name.lower() not in _NEVER


def matches_prefix(words: Sequence[str], prefix: Sequence[str]) -> bool:
    """Whether a command begins with a rule's words, each of them whole."""
    return bool(prefix) and tuple(words[: len(prefix)]) == tuple(prefix)
