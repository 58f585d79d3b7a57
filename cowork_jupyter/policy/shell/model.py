"""Result types of the analysis."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class CommandEffect(str, Enum):
    READS = "reads"
    WRITES = "writes"
    DELETES = "deletes"
    NETWORK = "network"
    INSTALLS = "installs"
    GIT_HISTORY = "git_history"
    RUNS_CODE = "runs_code"
    """Computes: runs a program of the workspace, or given text."""
    RUNS_PROGRAMS = "runs_programs"
    """Starts other programs named by its words."""
    UNKNOWN = "unknown"


NO_FILES = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty"})
"""Paths that a command can read and write without touching any file."""


def names(text: str) -> frozenset[str]:
    """Split a word list, which is easier to read without quotes and commas."""
    return frozenset(text.split())


@dataclass(frozen=True)
class SimpleCommand:
    words: tuple[str, ...]
    """The literal arguments, name first; a word that is not literal is kept as written."""
    text: str
    doubts: tuple[str, ...] = ()
    nested: tuple[tuple[str, ...], ...] = ()
    """Commands that this one would run. For deny rules only; they never allow it."""
    effects: frozenset[CommandEffect] = frozenset({CommandEffect.UNKNOWN})
    writes_unnamed: bool = False
    writes_undeclared_paths: bool = False
    """Whether an archive, a patch or a commit determines which files it writes."""
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Analysis:
    commands: tuple[SimpleCommand, ...] = ()
    writes: tuple[str, ...] = ()
    """Files written, created or deleted. Incomplete unless `plain`."""
    reads: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    """Why it cannot be proved plain, including the doubts of every command."""

    @property
    def plain(self) -> bool:
        return not self.doubts
