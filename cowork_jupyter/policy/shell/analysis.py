"""Analysis of a command line: both parsers, then the effects of each command."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from .hidden import HiddenCommands
from .hosts import ANY_HOST, hosts_of
from .lexer import NotPlain, Phrase, Redirect, split
from .model import Analysis, CommandEffect, SimpleCommand, names
from .options import CommandUse
from .programs import examine
from .table import program_name
from .tree import MISREAD, can_be_read, find_commands
from .words import Word, whole_word

_ORDINARY = re.compile(r"[\n\t -~]*")
_HIDING = names("Cc Cf Cs Co Cn Zl Zp Zs")
_INSIDE_A_WORD = re.compile(r"[^ \t]\\\n")


def character_doubts(text: str) -> list[str]:
    """Doubts about control, direction, invisible and unknown characters."""
    doubts = list[str]()
    if not _ORDINARY.fullmatch(text):
        signs = set(text) - set("\n\t ")
        strange = {sign for sign in signs if unicodedata.category(sign) in _HIDING}
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
_NOWHERE = frozenset(["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty"])

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
        hidden = HiddenCommands(self._inside)
        hidden.look_behind(words)
        for redirect in phrase.redirects:
            if redirect.operator.startswith("<<"):
                hidden.read_input(name.text, redirect.body or redirect.target.text)
        if hidden.too_many:
            use.doubts.append(_TOO_DEEP)
        proved = not use.doubts and use.effects == {CommandEffect.READS}
        behind = () if proved else hidden.found
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
            hidden=tuple(hidden.found),
            effects=frozenset(use.effects),
            writes_unnamed=any(each_use.writes_unnamed for each_use in (own, *uses)),
            brings=any(each_use.brings for each_use in (own, *uses)),
            hosts=_hosts(words, use, own, uses, behind),
        )
        self.commands.append(command)

    def _inside(self, text: str) -> Iterator[tuple[str, ...]]:
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
            yield from command.hidden

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
        if target.text in _NOWHERE:
            continue
        if operator in ("<", "<&"):
            use.reads.append(target.text)
        else:
            use.writes.append(target.text)
            use.effects.add(CommandEffect.WRITES)
    return use
