"""The table of programs: effects, and what options and sub-commands add.

Decisions, deny rules that look behind a command, and the offer of “Always allow” all use it. For
programs with known flags any other flag asks. Left out are flags that run programs, write to
unexpected places, or read lists of files from a file: `sort --compress-program`, `rg --pre`, `tree
-o`, `wc --files0-from`, `date -s`; if such a flag names a command, the row says so, and deny rules
see that command. git's sub-commands are in `git`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from .model import CommandEffect, SimpleCommand
from .options import NO_FLAGS, Program, mentions
from .running import RUNNING
from .simple_programs import CHANGING, LOOKING, TELLING

_READS = frozenset({CommandEffect.READS})
_RUNS = CommandEffect.RUNS_PROGRAMS


def _language(more: dict[CommandEffect, str]) -> Program:
    return Program(_READS, NO_FLAGS, more=more)


_LANGUAGES: dict[str, Program] = {
    "find": _language(
        {
            _RUNS: "-exec -execdir -ok -okdir",
            CommandEffect.DELETES: "-delete",
            CommandEffect.WRITES: "-fprint -fprint0 -fls -fprintf",
        }
    ),
    "sed": _language({CommandEffect.WRITES: "-i --in-place"}),
    "tar": _language(
        {
            _RUNS: "--to-command -I --use-compress-program --rsh-command --info-script -F"
            " --checkpoint-action",
            CommandEffect.DELETES: "--remove-files",
        }
    ),
    "git": _language(
        {
            _RUNS: "-x --exec --extcmd --upload-pack --receive-pack -O --open-files-in-pager",
            CommandEffect.WRITES: "--output",
        }
    ),
    **dict.fromkeys(("awk", "gawk", "mawk"), Program(_READS, NO_FLAGS, kept=False)),
}
_COMMAND_FLAGS = {
    "sort": "--compress-program",
    "rg": "--pre --hostname-bin",
    "man": "-P --pager -H",
    "rsync": "-e --rsh --rsync-path",
    "zip": "-TT --unzip-command",
    "split": "--filter",
}
"""Flags that name a command, of programs with known flags. They are unknown, so they ask."""
_KNOWN = {**LOOKING, **TELLING, **CHANGING}

PROGRAMS: dict[str, Program] = {
    **RUNNING,
    **_KNOWN,
    **{name: replace(_KNOWN[name], more={_RUNS: text}) for name, text in _COMMAND_FLAGS.items()},
    **_LANGUAGES,
}

_SYSTEM = re.compile(r"/(?:usr/(?:local/)?)?s?bin/([^/]+)")
_NUMBERED = re.compile(r"(python|pypy|pip|perl|ruby|node|lua|php|gcc|clang)[0-9][0-9.]*")


def program_name(word: str) -> str:
    """The program's name in the table; the path itself if it is not a system program."""
    if match := _SYSTEM.fullmatch(word):
        word = match[1]
    if match := _NUMBERED.fullmatch(word):
        return match[1]
    return word


def row_of(word: str) -> Program | None:
    """`Rscript` is in the table in lower case."""
    name = program_name(word)
    return PROGRAMS.get(name) or RUNNING.get(name.lower())


_COMPUTES = frozenset({CommandEffect.READS, CommandEffect.RUNS_CODE})
_EXECUTES = frozenset(
    {CommandEffect.RUNS_CODE, CommandEffect.RUNS_PROGRAMS, CommandEffect.INSTALLS}
)


def is_always_allowable(command: SimpleCommand) -> bool:
    """Whether a rule for this command's words limits what it would allow."""
    if not command.words or command.doubts or command.hidden or command.brings:
        return False
    if command.effects & _EXECUTES and command.effects - _COMPUTES:
        return False
    name = program_name(command.words[0])
    row = row_of(name)
    return "/" not in name and (row is None or row.kept)


def names_more_programs(words: Sequence[str], after: int) -> bool:
    """Whether the words after the first ones give it further programs to run."""
    row = row_of(words[0])
    return row is not None and any(mentions(words[after:], each) for each in row.arguments(_RUNS))


def matches_prefix(words: Sequence[str], prefix: Sequence[str]) -> bool:
    return bool(prefix) and tuple(words[: len(prefix)]) == tuple(prefix)
