"""Finds commands that a command would run in turn, so that deny rules see through wrappers.

If the wrapper's flags are known, its command is found exactly. Otherwise every suffix of its words
counts as one: that denies too much rather than too little.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence

from .git import without_globals
from .lexer import ASSIGNMENT
from .model import CommandEffect
from .options import ANYWHERE, Program, given
from .running import SHELLS
from .table import PROGRAMS, program_name
from .words import Word

Argv = tuple[str, ...]
MAX = 64
"""Hidden commands per line; a line with more is not plain."""

_PYTHONS = frozenset(["python", "pypy"])
_PYTHON_FLAG = re.compile(r"([cmWX])(.*)", re.DOTALL)
_OWN_WAY = frozenset(["env", "find", "make", "gmake"])
"""Programs whose flags name no command line."""
_ENV_SPACES = re.compile(r"\\_|[\v\f]")
_TAKES_ASSIGNMENTS = frozenset(["env", "sudo", "doas"])


class HiddenCommands:
    def __init__(self, read: Callable[[str], Iterable[Argv]]) -> None:
        self.read = read
        self.found: dict[Argv, None] = {}
        self.too_many = False

    def look_behind(self, words: Argv) -> None:
        waiting = [words]
        while waiting:
            for argv in self._behind(waiting.pop()):
                if not argv or argv in self.found or argv == words:
                    continue
                if len(self.found) >= MAX:
                    self.too_many = True
                    return
                self.found[argv] = None
                waiting.append(argv)

    def read_input(self, name: str, text: str) -> None:
        """For a shell whose input is given in the line."""
        if posixpath.basename(name) in SHELLS:
            for argv in self.read(text):
                self.found[argv] = None
                self.look_behind(argv)

    def _behind(self, words: Argv) -> Iterator[Argv]:
        name, rest = words[0], words[1:]
        base = posixpath.basename(name).lower()
        if base and base != name:
            yield (base, *rest)
            return
        row = PROGRAMS.get(name)
        if row and row.wraps == ANYWHERE:
            yield from (rest[at:] for at in range(len(rest)))
            for text in filter(_has_words, rest):
                yield from self.read(text)
                if text.startswith("-"):
                    yield from self.read(text[2:])
                    yield from self.read(text.partition("=")[2])
        elif row and row.wraps is not None:
            yield from _wrapped(name, row, rest)
            if name == "env":
                yield from _split_by_env(row, rest)
        elif name == "git":
            yield from self._git(words)
        elif program_name(name) in _PYTHONS:
            yield from _python(rest)
        for text in _strings(name, rest):
            yield from self.read(text)
        if name in ("find", "fd"):
            yield from _find(name, rest)

    def _git(self, words: Argv) -> Iterator[Argv]:
        yield without_globals(words)
        for at, text in enumerate(words):
            key, _, value = text.partition("=")
            if value.startswith("!"):
                yield from self.read(value[1:])
            elif key.startswith("alias.") and value:
                yield from self.read("git " + value)
            elif text in ("run", "foreach"):
                yield words[at + 1 :]
                yield from self.read(" ".join(words[at + 1 :]))
            elif text.endswith("-filter"):
                yield from self.read(" ".join(words[at + 1 : at + 2]))


def _wrapped(name: str, row: Program, rest: Argv) -> Iterator[Argv]:
    assert row.flags is not None
    parsed = row.flags.parse([Word(text, text) for text in rest], permuted=False)
    if parsed.unknown:
        yield from (rest[at:] for at in range(len(rest)))
        return
    inner = [word.text for word in parsed.operands]
    while name in _TAKES_ASSIGNMENTS and inner and ASSIGNMENT.match(inner[0]):
        del inner[0]
    yield tuple(inner[row.wraps :])


def _split_by_env(row: Program, rest: Argv) -> Iterator[Argv]:
    """`env -S "-i rm x" y` is `env -i rm x y`: its flags end before the command."""
    assert row.flags is not None
    for argument in row.arguments(CommandEffect.RUNS_PROGRAMS):
        for text, after in given(rest, argument):
            before = [Word(word, word) for word in rest[: len(rest) - len(after) - 1]]
            parsed = row.flags.parse(before, permuted=False)
            if parsed.unknown or not parsed.operands:
                yield ("env", *_words_of_env(text), *after)


def _words_of_env(text: str) -> list[str]:
    """Its own quoting is that of a shell, but for some escapes that are spaces."""
    text = _ENV_SPACES.sub(" ", text)
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _has_words(text: str) -> bool:
    return len(text.split()) > 1


def _python(rest: Argv) -> Iterator[Argv]:
    """`-m pip`, `-mpip` and `-Im pip` run pip, and so does the path of its script."""
    waiting = list(rest)
    while waiting:
        text = waiting.pop(0)
        if not text.startswith("-"):
            if "/" in text or text.endswith(".py"):
                yield (text, *waiting)
            return
        flag, value = _python_flag(text)
        if flag and not value:
            value = waiting.pop(0) if waiting else ""
        if text.startswith("--") and "=" not in text and waiting and waiting[0][:1] != "-":
            del waiting[0]  # may be its value
        if flag == "m":
            yield from _module(value, waiting)
        if flag in ("m", "c"):
            return


def _python_flag(text: str) -> tuple[str, str]:
    """The flag in a cluster that takes a value, and the value if it is attached."""
    found = None if text.startswith("--") else _PYTHON_FLAG.search(text)
    return (found[1], found[2]) if found else ("", "")


def _module(name: str, rest: Sequence[str]) -> Iterator[Argv]:
    """`pip._internal` is pip; `http.server` is in the table by its full name."""
    whole = name.removesuffix(".__main__")
    yield (whole if whole in PROGRAMS else whole.partition(".")[0], *rest)


def _strings(name: str, rest: Argv) -> Iterator[str]:
    if name in SHELLS:
        if any(text[:1] in "-+" and "c" in text for text in rest if text):
            yield from (text for text in rest if text[:1] not in ("-", "+"))
    elif name == "eval":
        yield " ".join(rest)
    elif name == "trap":
        yield from rest[:1]
    elif name == "alias":
        yield from (text.partition("=")[2] for text in rest if "=" in text)
    row = PROGRAMS.get(name)
    flags = row.arguments(CommandEffect.RUNS_PROGRAMS) if row and name not in _OWN_WAY else ()
    for flag in flags:
        if flag.startswith("-"):
            yield from (text.removeprefix("exec=") for text, _ in given(rest, flag))


def _find(name: str, rest: Sequence[str]) -> Iterator[Argv]:
    runs = PROGRAMS[name].arguments(CommandEffect.RUNS_PROGRAMS)
    for at, text in enumerate(rest):
        if text in runs:
            inner = list[str]()
            for word in rest[at + 1 :]:
                if word in (";", "+"):
                    break
                inner.append(word)
            yield tuple(inner)
