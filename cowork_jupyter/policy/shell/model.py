"""The values that the analysis of a command line gives."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class CommandEffect(str, Enum):
    """What a program does, as far as its name and its flags prove it."""

    READS = "reads"
    WRITES = "writes"
    DELETES = "deletes"
    NETWORK = "network"
    INSTALLS = "installs"
    GIT_HISTORY = "git_history"
    RUNS_CODE = "runs_code"
    """Computes: runs a program of the workspace, or text that it is given."""
    RUNS_PROGRAMS = "runs_programs"
    """Starts other programs, which its words name."""
    UNKNOWN = "unknown"


def names(text: str) -> frozenset[str]:
    """The words of a list that is easier to read without quotes and commas."""
    return frozenset(text.split())


@dataclass(frozen=True)
class SimpleCommand:
    """One program with its arguments, wherever in the line it stands."""

    words: tuple[str, ...]
    """The literal arguments, name first. A word that is not literal stands as it is written."""
    text: str
    doubts: tuple[str, ...] = ()
    hidden: tuple[tuple[str, ...], ...] = ()
    """Commands that this one would run in turn. For deny rules; they never make it allowed."""
    effects: frozenset[CommandEffect] = frozenset({CommandEffect.UNKNOWN})
    writes_unnamed: bool = False
    """Whether it writes files that its words do not name."""
    brings: bool = False
    """Whether an archive, a patch or a commit says which files it writes."""
    hosts: tuple[str, ...] = ()
    """Whom it talks to, if it uses the network; see `hosts`."""


@dataclass(frozen=True)
class Analysis:
    """A whole command line."""

    commands: tuple[SimpleCommand, ...] = ()
    writes: tuple[str, ...] = ()
    """Files that are written, created or deleted. Not all of them, unless `plain`."""
    reads: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    """Why the whole cannot be proved plain, the doubts of every command included."""

    @property
    def plain(self) -> bool:
        """Whether the words above are what the shell would really see."""
        return not self.doubts
