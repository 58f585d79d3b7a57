"""Analysis of a command line: both parsers, nested commands, then the effects of each command.

Deny rules see the commands that a command would run in turn. If the wrapper's flags are known, its
command is found exactly. Otherwise every suffix of its words counts as one: that denies too much
rather than too little.
"""

from __future__ import annotations

import posixpath
import re
import shlex
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..visible import HIDING_CATEGORIES
from .git import without_globals
from .hosts import ANY_HOST, hosts_of
from .lexer import ASSIGNMENT, NotPlain, Phrase, Redirect, Word, split, whole_word
from .model import NO_FILES, Analysis, CommandEffect, SimpleCommand
from .options import ANYWHERE, CommandUse, Program, given
from .program_table import SHELLS
from .programs import PROGRAMS, examine, program_name
from .tree import MISREAD, can_be_read, find_commands

Argv = tuple[str, ...]

_ORDINARY = re.compile(r"[\n\t -~]*")
_INSIDE_A_WORD = re.compile(r"[^ \t]\\\n")


def character_doubts(text: str) -> list[str]:
    """Doubts about control, direction, invisible and unknown characters."""
    doubts = list[str]()
    if not _ORDINARY.fullmatch(text):
        signs = set(text) - set("\n\t ")
        strange = {sign for sign in signs if unicodedata.category(sign) in HIDING_CATEGORIES}
        if strange:
            named = ", ".join(f"U+{ord(sign):04X}" for sign in sorted(strange)[:5])
            doubts.append(f"It contains invisible or misleading characters: {named}.")
    if _INSIDE_A_WORD.search(text):
        doubts.append("A word continues on the next line.")
    return doubts


MAX_LENGTH = 10_000
"""Characters. Nobody reads a longer line on a card, so it is never plain."""
_LOOKED_AT = 100_000
"""Characters that are still searched for denied commands."""
_REMEMBERED = 2_000
"""Analyses of lines up to this length are cached; each call is analysed several times."""
_MAX_COMMANDS = 500
_MAY_BEGIN = re.compile(r"[;&|()`\n{}]+")
_MAX_NESTED_SCRIPTS = 8
_INSIDE = 40_000
"""Total characters of nested command lines that are read."""
_MAX_FOLDERS = 8

_TOO_LONG = f"It is longer than {MAX_LENGTH:,} characters."
_TOO_DEEP = "It nests too many commands inside commands to check them all."
_TOO_MANY = f"It has more than {_MAX_COMMANDS} commands."
_DIFFERENT = "Two parsers disagree about where its commands and words start and end."
_ASSIGNS = "It sets a variable for the command, which can change what the command does."
_NO_NAME = "The command does not spell out which program it runs."
_ELSEWHERE = "git would use the settings of another folder."
_FILLED = "The command does not spell out which file it redirects to or from."


def analyse(text: str) -> Analysis:
    """What `text` would do in bash. Never raises; what cannot be proved is a doubt."""
    return _remembered(text) if len(text) <= _REMEMBERED else _analyse(text, _Budget())


@lru_cache(maxsize=256)
def _remembered(text: str) -> Analysis:
    return _analyse(text, _Budget())


@dataclass
class _Budget:
    """How much nested text may still be read; shared by everything in one line."""

    characters: int = _INSIDE
    depth: int = _MAX_NESTED_SCRIPTS

    def covers(self, text: str) -> bool:
        self.characters -= len(text)
        return self.characters >= 0 and self.depth > 0


def _analyse(text: str, budget: _Budget) -> Analysis:
    doubts = character_doubts(text)
    if len(text) > MAX_LENGTH:
        doubts.append(_TOO_LONG)
    phrases, more = _read(text[:_LOOKED_AT])
    doubts += more
    collector = _Collector(budget)
    for phrase in phrases:
        collector.add(phrase)
    doubts += collector.doubts
    return Analysis(
        commands=tuple(collector.commands),
        writes=_unique(collector.writes),
        reads=_unique(collector.reads),
        doubts=_unique(doubts),
    )


def _unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))


def _read(text: str) -> tuple[list[Phrase], list[str]]:
    """The commands that both parsers see; if they differ, those of either, and a doubt."""
    joined = text.replace("\\\n", "") if "\\\n" in text else text
    tree = find_commands(joined)
    doubts = list(dict.fromkeys(tree.doubts))
    if joined is not text and not can_be_read(text):
        doubts.append(MISREAD)
    try:
        phrases = split(text)
    except NotPlain as stop:
        phrases = stop.phrases + [stop.unfinished] * (MISREAD in doubts)
        doubts = doubts or [f"Part of it cannot be parsed reliably: {stop}."]
    if not doubts and _same(phrases, tree.phrases, tree.redirects):
        return phrases, doubts
    if not doubts:
        doubts.append(_DIFFERENT)
    if MISREAD in doubts:
        # Possible commands in a line that cannot be parsed, so that deny rules still match them.
        pieces = filter(None, map(str.split, _MAY_BEGIN.split(text)))
        phrases = phrases + [Phrase(words=[*map(whole_word, piece)]) for piece in pieces]
    seen = {_words(phrase) for phrase in tree.phrases}
    missed = [phrase for phrase in phrases if phrase.words and _words(phrase) not in seen]
    own = [redirect for phrase in phrases for redirect in phrase.redirects]
    redirects = tree.redirects + own
    for phrase in missed:
        phrase.redirects = []
    return [*tree.phrases, *missed, Phrase(redirects=redirects)], doubts


def _words(phrase: Phrase) -> tuple[str, ...]:
    return tuple(word.text for word in phrase.words)


def _same(ours: list[Phrase], theirs: list[Phrase], redirects: list[Redirect]) -> bool:
    def targets(items: Iterable[Redirect]) -> list[tuple[str, str]]:
        return sorted((item.operator, item.target.text) for item in items)

    mine = [_words(phrase) for phrase in ours if phrase.words]
    if mine != [_words(phrase) for phrase in theirs if phrase.words]:
        return False
    if any(phrase.assignments and not phrase.words for phrase in ours):
        return False
    own = (redirect for phrase in ours for redirect in phrase.redirects)
    return targets(own) == targets(redirects)


class _Collector:
    """Collects commands in order, with the folders that a `cd` may have led to."""

    def __init__(self, budget: _Budget) -> None:
        self.budget = budget
        self.commands = list[SimpleCommand]()
        self.reads = list[str]()
        self.writes = list[str]()
        self.doubts = list[str]()
        self.folders = [""]

    def add(self, phrase: Phrase) -> None:
        use = _redirected(phrase.redirects)
        if len(self.commands) >= _MAX_COMMANDS:
            self.doubts.append(_TOO_MANY)
            self.commands.append(SimpleCommand(_words(phrase), phrase.text, (_TOO_MANY,)))
        elif phrase.words:
            self._add_command(phrase, use)
        self.doubts += use.doubts
        self.reads += self._placed(use.reads)
        self.writes += self._placed(use.writes)
        if phrase.words and program_name(phrase.words[0].text) == "cd":
            self._change_folder(phrase.words[1:])

    def _add_command(self, phrase: Phrase, use: CommandUse) -> None:
        name = phrase.words[0]
        if phrase.assignments:
            use.doubts.append(_ASSIGNS)
        if not name.literal or not name.text or not name.text.isascii() or name.text.isspace():
            use.doubts.append(_NO_NAME)
        own = examine(phrase.words)
        use.join(own)
        words = tuple(word.text for word in phrase.words)
        nested = NestedCommands(self._read_script)
        nested.collect_nested_commands(words)
        for redirect in phrase.redirects:
            if redirect.operator.startswith("<<"):
                nested.read_input(name.text, redirect.body or redirect.target.text)
        if nested.too_many:
            use.doubts.append(_TOO_DEEP)
        proved = not use.doubts and use.effects == {CommandEffect.READS}
        behind = () if proved else nested.commands
        uses = [examine([Word(word, word) for word in argv]) for argv in behind]
        for inner in uses:
            use.effects |= inner.effects - {CommandEffect.UNKNOWN}
            use.reads += inner.reads
            use.writes += inner.writes
        if program_name(name.text) == "git" and len(self.folders) > 1:
            use.doubts.append(_ELSEWHERE)
        command = SimpleCommand(
            words=words,
            text=phrase.text,
            doubts=_unique(use.doubts),
            nested=tuple(nested.commands),
            effects=frozenset(use.effects),
            writes_unnamed=any(each_use.writes_unnamed for each_use in (own, *uses)),
            writes_undeclared_paths=any(
                each_use.writes_undeclared_paths for each_use in (own, *uses)
            ),
            hosts=_hosts(words, use, own, uses, behind),
        )
        self.commands.append(command)

    def _read_script(self, text: str) -> Iterator[tuple[str, ...]]:
        if not self.budget.covers(text):
            self.doubts.append(_TOO_DEEP)
            return
        self.budget.depth -= 1
        inner = _analyse(text, self.budget)
        self.budget.depth += 1
        if _TOO_DEEP in inner.doubts:
            self.doubts.append(_TOO_DEEP)
        for command in inner.commands:
            yield command.words
            yield from command.nested

    def _change_folder(self, words: list[Word]) -> None:
        """What follows may be relative to there; or to here, if the change fails."""
        targets = [word.text for word in words if word.text not in ("-L", "-P", "-e", "--")]
        if len(targets) != 1 or targets[0] == "-" or len(self.folders) >= _MAX_FOLDERS:
            self.doubts.append("The command does not spell out which folder it changes to.")
            return
        new = [posixpath.join(folder, targets[0]) for folder in self.folders]
        self.folders = list(_unique([*self.folders, *new]))

    def _placed(self, paths: list[str]) -> Iterator[str]:
        for path in paths:
            yield from (posixpath.join(folder, path) for folder in self.folders)


def _hosts(
    words: tuple[str, ...],
    use: CommandUse,
    own: CommandUse,
    uses: list[CommandUse],
    behind: Iterable[tuple[str, ...]],
) -> tuple[str, ...]:
    """The hosts of a command, or of the only one that it would run."""
    if CommandEffect.NETWORK not in use.effects:
        return ()
    inner = list(behind)
    if not inner and CommandEffect.NETWORK in own.effects:
        return hosts_of(words)
    only_inner = len(inner) == 1 and CommandEffect.NETWORK in uses[0].effects
    if only_inner and "/" not in program_name(words[0]):
        return hosts_of(inner[0])
    seen = (host for argv in (words, *inner) for host in hosts_of(argv) if host != ANY_HOST)
    return _unique([*seen, ANY_HOST])


def _redirected(redirects: list[Redirect]) -> CommandUse:
    use = CommandUse()
    for redirect in redirects:
        operator, target = redirect.operator, redirect.target
        if operator.startswith("<<"):
            if not target.literal:
                use.doubts.append("The shell expands text that it passes on.")
            continue
        if operator in (">&", "<&") and (target.text.isdigit() or target.text == "-"):
            continue
        if not target.literal or not target.text:
            use.doubts.append(_FILLED)
        elif target.text.startswith(("/dev/tcp/", "/dev/udp/")):
            use.effects.add(CommandEffect.NETWORK)
            use.doubts.append("It opens a connection to another machine.")
        if target.text in NO_FILES:
            continue
        if operator in ("<", "<&"):
            use.reads.append(target.text)
        else:
            use.writes.append(target.text)
            use.effects.add(CommandEffect.WRITES)
    return use


# --- nested commands

_MAX_NESTED = 64
"""Nested commands per line; a line with more is not plain."""

_PYTHONS = frozenset(["python", "pypy"])
_PYTHON_FLAG = re.compile(r"([cmWX])(.*)", re.DOTALL)
_OWN_WAY = frozenset(["env", "find", "make", "gmake"])
"""Programs whose flags name no command line."""
_ENV_SPACES = re.compile(r"\\_|[\v\f]")
_TAKES_ASSIGNMENTS = frozenset(["env", "sudo", "doas"])


class NestedCommands:
    def __init__(self, read: Callable[[str], Iterable[Argv]]) -> None:
        self.read = read
        self.commands: dict[Argv, None] = {}
        self.too_many = False

    def collect_nested_commands(self, words: Argv) -> None:
        waiting = [words]
        while waiting:
            for argv in self._run_by(waiting.pop()):
                if not argv or argv in self.commands or argv == words:
                    continue
                if len(self.commands) >= _MAX_NESTED:
                    self.too_many = True
                    return
                self.commands[argv] = None
                waiting.append(argv)

    def read_input(self, name: str, text: str) -> None:
        """For a shell whose input is given in the line."""
        if posixpath.basename(name) in SHELLS:
            for argv in self.read(text):
                self.commands[argv] = None
                self.collect_nested_commands(argv)

    def _run_by(self, words: Argv) -> Iterator[Argv]:
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
    match = None if text.startswith("--") else _PYTHON_FLAG.search(text)
    return (match[1], match[2]) if match else ("", "")


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
