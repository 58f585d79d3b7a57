"""Looks up the effects of a program in the tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from .git import examine_git
from .lexer import ASSIGNMENT
from .model import CommandEffect, names
from .options import CommandUse
from .running import SHELLS
from .simple_programs import TELLING
from .special import SPECIAL
from .table import program_name, row_of
from .words import Quirk, Word

_CHANGES_SHELL = names("""
    eval source . alias unalias trap coproc exec enable shopt bind complete compgen compopt read
    mapfile readarray let declare typeset local export readonly unset getopts pushd popd dirs
    ulimit umask fc history shift return break continue time logout suspend kill disown fg bg
    jobs""")
_STORES = re.compile(r"%[-+ #0-9.*']*[hlLjzt]*n")
_VERSION = frozenset([("--version",), ("-V",)])


def examine(words: Sequence[Word]) -> CommandUse:
    name, rest = program_name(words[0].text), words[1:]
    texts = tuple(word.text for word in rest)
    use = _examine_known(name, rest)
    use.doubts += [doubt for check in _CHECKS.get(name, ()) for doubt in check(texts)]
    if name in _CHANGES_SHELL:
        use.doubts.append(f"“{name}” changes what the shell does next, or runs its arguments.")
    use.doubts += _word_doubts(name, rest)
    return use


def _examine_known(name: str, rest: Sequence[Word]) -> CommandUse:
    if name == "git":
        return examine_git(rest)
    if name in SPECIAL:
        return SPECIAL[name](rest)
    row = row_of(name)
    if row:
        return row.examine(name, rest)
    return CommandUse({CommandEffect.RUNS_CODE if "/" in name else CommandEffect.UNKNOWN})


_WORD_DOUBTS = {
    Quirk.VARIABLE: "Cowork does not know what “{}” stands for.",
    Quirk.SUBSTITUTION: "Cowork does not know what the shell substitutes for “{}”.",
    Quirk.BRACES: "The shell expands “{}” to several words.",
    Quirk.TILDE: "The shell replaces “{}” with a home folder.",
    Quirk.HISTORY: "A shell may take “{}” for an earlier command.",
    Quirk.ENCODING: "What “{}” says depends on the machine.",
    Quirk.UNREADABLE: "“{}” cannot be parsed reliably.",
}
_MAX_QUOTED = 80


def _word_doubts(name: str, rest: Sequence[Word]) -> list[str]:
    """`echo $HOME` only prints; for all others an unknown word may be a flag or a file."""
    doubts = list[str]()
    for word in rest:
        for quirk in sorted(word.quirks - ({Quirk.VARIABLE} if name == "echo" else set())):
            if quirk is not Quirk.GLOB:
                doubts.append(_WORD_DOUBTS[quirk].format(word.source[:_MAX_QUOTED]))
            elif name != "echo" and word.source[0] in "*?[-":
                doubts.append(
                    f"A file name that “{word.source[:_MAX_QUOTED]}” finds could be a flag."
                )
    return doubts


def _printf(texts: tuple[str, ...]) -> list[str]:
    """`%n` sets a variable, which may be PATH."""
    sets = any(_STORES.search(text.replace("%%", "")) for text in texts)
    return ["It may set a variable."] if sets else []


def _less(texts: tuple[str, ...]) -> list[str]:
    return ["It passes a command to the pager."] if any(text[:1] == "+" for text in texts) else []


def _date(texts: tuple[str, ...]) -> list[str]:
    """An operand that is not a format sets the clock."""
    flags = TELLING["date"].flags
    assert flags is not None
    operands = flags.parse([Word(text, text) for text in texts]).operands
    return ["It may set the clock."] if any(word.text[:1] != "+" for word in operands) else []


def _curl(texts: tuple[str, ...]) -> list[str]:
    sends = any("@" in (text[:1], text[2:3]) or "=@" in text for text in texts)
    local = any(text.lower().startswith("file:") for text in texts)
    return ["It may read or send a file."] if sends or local else []


def _jq(texts: tuple[str, ...]) -> list[str]:
    found = any(re.search(r"\b(?:import|include)\b", text) for text in texts)
    return ["The jq program may read other files."] if found else []


def _ps(texts: tuple[str, ...]) -> list[str]:
    """`ps e` shows the environment of other processes, including secrets."""
    shows = any("environ" in text for text in texts) or any(
        "e" in text for text in texts if not text.startswith("-") and text.isalpha()
    )
    return ["It may show the environment of other programs."] if shows else []


def _env(texts: tuple[str, ...]) -> list[str]:
    """`env LD_PRELOAD=./x ls` is like an assignment before the command."""
    doubt = "It sets a variable for the command, which can change what the command does."
    return [doubt] if any(ASSIGNMENT.match(text) for text in texts) else []


def _shell(texts: tuple[str, ...]) -> list[str]:
    """In `echo … | sh` the shell runs its input."""
    named = any(text[:1] not in ("-", "+") for text in texts) and "-s" not in texts
    passed = not named and texts not in _VERSION
    return ["The shell runs its input, which the command does not spell out."] if passed else []


_CHECKS: dict[str, tuple[Callable[[tuple[str, ...]], list[str]], ...]] = {
    "less": (_less,),
    "more": (_less,),
    "date": (_date,),
    "curl": (_curl,),
    "jq": (_jq,),
    "printf": (_printf,),
    "ps": (_ps,),
    "env": (_env,),
    **dict.fromkeys(SHELLS, (_shell,)),
}
