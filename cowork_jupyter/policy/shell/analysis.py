"""The analysis of a command line: both readers, then what each command does."""

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
from .tree import MISREAD, can_be_read, look
from .words import Word, whole_word

_ORDINARY = re.compile(r"[\n\t -~]*")
_HIDING = names("Cc Cf Cs Co Cn Zl Zp Zs")
_INSIDE_A_WORD = re.compile(r"[^ \t]\\\n")


def character_doubts(text: str) -> list[str]:
    """Sentences about control, direction, invisible and unknown characters in `text`."""
    doubts = list[str]()
    if not _ORDINARY.fullmatch(text):
        strange = {sign for sign in text if sign not in "\n\t " and _hides(sign)}
        if strange:
            named = ", ".join(f"U+{ord(sign):04X}" for sign in sorted(strange)[:5])
            doubts.append(f"It contains invisible or misleading characters: {named}.")
    if _INSIDE_A_WORD.search(text):
        doubts.append("A word continues on the next line.")
    return doubts


def _hides(sign: str) -> bool:
    return unicodedata.category(sign) in _HIDING


MAX_LENGTH = 10_000
"""Characters. Nobody reads a longer line on a card, so it is never plain."""
_LOOKED_AT = 100_000
"""Characters that are still searched for denied commands."""
_REMEMBERED = 2_000
"""Characters of lines whose analysis is kept; one call is looked at several times."""
_MAX_COMMANDS = 500
_MAY_BEGIN = re.compile(r"[;&|()`\n{}]+")
_MAX_NESTED_SCRIPTS = 8
_INSIDE = 40_000
"""Characters of command lines inside command lines that are read, all together."""
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
    """What `text` would do if bash ran it. Never raises; what cannot be proved is a doubt."""
    return _remembered(text) if len(text) <= _REMEMBERED else _analyse(text, _Budget())


@lru_cache(maxsize=256)
def _remembered(text: str) -> Analysis:
    return _analyse(text, _Budget())


@dataclass
class _Budget:
    """How much more is read of what commands hide; shared by all that one line hides."""

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
    gathering = _Gathering(budget)
    for phrase in phrases:
        gathering.add(phrase)
    doubts += gathering.doubts
    return Analysis(
        commands=tuple(gathering.commands),
        writes=_unique(gathering.writes),
        reads=_unique(gathering.reads),
        doubts=_unique(doubts),
    )


def _unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))


def _read(text: str) -> tuple[list[Phrase], list[str]]:
    """The commands that both readers see; when they differ, those of either, and a doubt."""
    joined = text.replace("\\\n", "") if "\\\n" in text else text
    sighting = look(joined)
    doubts = list(dict.fromkeys(sighting.doubts))
    if joined is not text and not can_be_read(text):
        doubts.append(MISREAD)
    try:
        phrases = split(text)
    except NotPlain as stop:
        phrases = stop.phrases + [stop.unfinished] * (MISREAD in doubts)
        doubts = doubts or [f"Part of it cannot be parsed reliably: {stop}."]
    if not doubts and _same(phrases, sighting.phrases, sighting.redirects):
        return phrases, doubts
    if not doubts:
        doubts.append(_DIFFERENT)
    if MISREAD in doubts:
        phrases = phrases + _guessed(text)
    seen = {_words(phrase) for phrase in sighting.phrases}
    missed = [phrase for phrase in phrases if phrase.words and _words(phrase) not in seen]
    redirects = sighting.redirects + [
        redirect for phrase in phrases for redirect in phrase.redirects
    ]
    for phrase in missed:
        phrase.redirects = []
    return [*sighting.phrases, *missed, Phrase(redirects=redirects)], doubts


def _guessed(text: str) -> list[Phrase]:
    """What may be commands in a line that nobody can read, so that deny rules still meet them."""
    pieces = [piece.split() for piece in _MAY_BEGIN.split(text)]
    return [Phrase(words=[whole_word(word) for word in piece]) for piece in pieces if piece]


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
    return targets(redirect for phrase in ours for redirect in phrase.redirects) == targets(
        redirects
    )


class _Gathering:
    """Commands one after the other, with the folders that a `cd` may have led to."""

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
        """The commands of a command line that another command is given."""
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
        """What follows may be meant from there; or from here, if the change fails."""
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
    """Whom a command talks to, or the only one that it would run in turn."""
    if CommandEffect.NETWORK not in use.effects:
        return ()
    inner = list(behind)
    if not inner and CommandEffect.NETWORK in own.effects:
        return hosts_of(words)
    if (
        len(inner) == 1
        and CommandEffect.NETWORK in uses[0].effects
        and "/" not in program_name(words[0])
    ):
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
