"""Known flags of programs: which are harmless, which take a value, which name a file.

Notation: `"ln:f<o>"` for short flags, `"all lines= file<"` for long ones. After a flag, `:` or `=`
means a value, `<` a file that is read, `>` a file that is written, `?` an optional value (attached
to the flag). Flags not listed are unknown, abbreviations of long ones included, and ask.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from .lexer import Quirk, Word
from .model import CommandEffect


def mentions(texts: Sequence[str], argument: str) -> bool:
    """Whether one of these words is the argument, as programs read it.

    It errs towards yes: a long option counts if abbreviated or with a value, a short one anywhere
    in a cluster, a sub-command at any position. The price is a question too many.
    """
    return any(_is(text, argument) for text in texts)


def given(texts: Sequence[str], argument: str) -> Iterator[tuple[str, Sequence[str]]]:
    """Each value of this option, attached to it or in the next word, and the words after that."""
    for at, text in enumerate(texts):
        if not _is(text, argument):
            continue
        alone = len(argument) == 2
        attached = text[text.index(argument[1], 1) + 1 :] if alone else text.partition("=")[2]
        if attached:
            yield attached.removeprefix("="), texts[at + 1 :]
        elif texts[at + 1 :]:
            yield texts[at + 1], texts[at + 2 :]


def _is(text: str, argument: str) -> bool:
    if argument == "@":  # a file with further arguments
        return text.startswith("@")
    if argument == "=":  # a variable that is set
        return "=" in text and not text.startswith("-")
    if not argument.startswith("-"):
        return text == argument
    option = text.partition("=")[0]
    if argument.startswith("--"):
        return len(option) > 2 and option.startswith("--") and argument.startswith(option)
    if len(argument) == 2:
        return text.startswith("-") and not text.startswith("--") and argument[1] in text[1:]
    return option == argument


ANYWHERE = -1
"""The wrapped command begins somewhere among the words."""


class Operands(Enum):
    NONE = "none"
    TEXT = "text"
    READ = "read"
    WRITE = "write"
    PATTERN = "pattern"
    """The first is a pattern, unless a flag gave one; the others are read."""
    COPY = "copy"
    """The last is written, the others are read."""
    MOVE = "move"
    """The last is written, the others are removed."""
    MODE = "mode"
    """The first is a mode, the others are written."""


@dataclass
class CommandUse:
    effects: set[CommandEffect] = field(default_factory=set)
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    writes_undeclared_paths: bool = False
    """Whether an archive, a patch or a commit determines which files it writes."""

    @property
    def writes_unnamed(self) -> bool:
        return self.writes_undeclared_paths or (
            CommandEffect.WRITES in self.effects and not self.writes
        )

    def join(self, other: CommandUse) -> None:
        self.effects |= other.effects
        self.reads += other.reads
        self.writes += other.writes
        self.doubts += other.doubts
        self.writes_undeclared_paths |= other.writes_undeclared_paths


@dataclass
class Parsed:
    flags: list[tuple[str, str | None]] = field(default_factory=list)
    operands: list[Word] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def has(self, *names: str) -> bool:
        return any(flag in names for flag, _ in self.flags)

    def values(self, *names: str) -> list[str]:
        return [value for flag, value in self.flags if flag in names and value is not None]


_NUMBER = re.compile(r"-[0-9]+")
_SHORT = re.compile(r"(.)([:<>?]?)")
_LONG = re.compile(r"([^=<>?]+)([=<>?]?)")


@dataclass(frozen=True)
class Flags:
    short: str = ""
    long: str = ""
    digits: bool = False

    @cached_property
    def _table(self) -> dict[str, str]:
        table = {"-" + name: mark for name, mark in _SHORT.findall(self.short)}
        table |= {"--version": "", "--help": ""}
        for word in self.long.split():
            name, mark = _LONG.findall(word)[0]
            table["--" + name] = mark.replace("=", ":")
        return table

    def parse(self, words: Sequence[Word], permuted: bool = True) -> Parsed:
        """Unless `permuted`, flags end at the first operand."""
        parsed, rest = Parsed(), list(words)
        while rest:
            word = rest.pop(0)
            text = word.text
            if text == "--":
                parsed.operands += rest
                break
            if len(text) < 2 or text[0] != "-":
                parsed.operands.append(word)
                if not permuted:
                    parsed.operands += rest
                    break
            elif self.digits and _NUMBER.fullmatch(text):
                parsed.flags.append((text, None))
            elif text.startswith("--"):
                self._take_long(text, rest, parsed)
            else:
                self._take_cluster(text, rest, parsed)
        return parsed

    def _take_long(self, text: str, rest: list[Word], parsed: Parsed) -> None:
        name, equals, value = text.partition("=")
        mark = self._table.get(name)
        if mark is None or (equals and not mark):
            parsed.unknown.append(name)
        elif equals or not mark or mark == "?":
            self._note(name, mark, value if equals else None, parsed)
        elif rest:
            self._note(name, mark, rest.pop(0).text, parsed)
        else:
            parsed.unknown.append(name)

    def _take_cluster(self, text: str, rest: list[Word], parsed: Parsed) -> None:
        for at in range(1, len(text)):
            name = "-" + text[at]
            mark = self._table.get(name)
            if mark is None:
                parsed.unknown.append(name)
                return
            if mark:
                value: str | None = text[at + 1 :] or None
                if value is None and mark != "?":
                    if not rest:
                        parsed.unknown.append(name)
                        return
                    value = rest.pop(0).text
                self._note(name, mark, value, parsed)
                return
            parsed.flags.append((name, None))

    def _note(self, name: str, mark: str, value: str | None, parsed: Parsed) -> None:
        parsed.flags.append((name, value))
        if value is not None and mark == "<":
            parsed.reads.append(value)
        if value is not None and mark == ">":
            parsed.writes.append(value)


NO_FLAGS = Flags()


@dataclass(frozen=True)
class Program:
    effects: frozenset[CommandEffect]
    """Regardless of its arguments."""
    flags: Flags | None = NO_FLAGS
    """Flags that do not change that; any other asks. None: flags are not checked."""
    operands: Operands = Operands.READ
    names_only: bool = False
    """Whether it shows no contents, so that file patterns reveal nothing."""
    max_operands: int | None = None
    """Maximum number of operands; a further one would be written to."""
    added_effects: Mapping[CommandEffect, str] = field(default_factory=dict)
    """Options and sub-commands that add an effect."""
    info_arguments: tuple[str, ...] = ()
    """Arguments with which it only prints information."""
    info_flags: Flags | None = None
    """What may follow those; None if nothing may."""
    wraps: int | None = None
    """Number of operands before the command that it runs; None if it runs none."""
    writes_undeclared_paths: bool = False
    always_allowable: bool = True
    """Whether “Always allow” makes sense: not for programs that run whatever a file or word
    says."""

    def arguments(self, effect: CommandEffect) -> list[str]:
        return self.added_effects.get(effect, "").split()

    def examine(self, name: str, words: Sequence[Word]) -> CommandUse:
        texts = [word.text for word in words]
        if self._only_prints_info(words, " ".join(texts)):
            return CommandUse({CommandEffect.READS})
        use = CommandUse(set(self.effects), writes_undeclared_paths=self.writes_undeclared_paths)
        for effect in self.added_effects:
            if any(mentions(texts, argument) for argument in self.arguments(effect)):
                use.effects.add(effect)
        if self.flags is None:
            return use
        parsed = self.flags.parse(words, permuted=self.wraps is None)
        use.doubts += [unknown_flag(name, flag) for flag in parsed.unknown]
        if self.wraps is not None:
            if parsed.operands[self.wraps :] or parsed.unknown:
                use.effects.add(CommandEffect.RUNS_PROGRAMS)
            return use
        use.join(CommandUse(reads=parsed.reads, writes=parsed.writes))
        if parsed.writes:
            use.effects.add(CommandEffect.WRITES)
        self._operands(name, parsed, use)
        if not self.names_only and self.operands is not Operands.TEXT:
            use.doubts += glob_doubts(words)
        return use

    def _only_prints_info(self, words: Sequence[Word], text: str) -> bool:
        if self.info_flags is None:
            return text in self.info_arguments
        is_info = bool(words) and words[0].text in self.info_arguments
        return is_info and not self.info_flags.parse(words[1:]).unknown

    def _operands(self, name: str, parsed: Parsed, use: CommandUse) -> None:
        operands = [word.text for word in parsed.operands]
        if self.max_operands is not None and len(operands) > self.max_operands:
            use.doubts.append(
                f"{name} would change something with “{operands[self.max_operands]}”."
            )
        match self.operands:
            case Operands.NONE if operands:
                use.doubts.append(f"Cowork does not know that {name} accepts “{operands[0]}”.")
            case Operands.READ:
                use.reads += [operand for operand in operands if operand != "-"]
            case Operands.WRITE:
                use.writes += [operand for operand in operands if operand != "-"]
            case Operands.PATTERN:
                has_pattern = parsed.has("-e", "-f", "--regexp", "--file", "--files")
                files = operands if has_pattern else operands[1:]
                use.reads += [operand for operand in files if operand != "-"]
            case Operands.MODE:
                use.writes += operands[1:]
            case Operands.COPY | Operands.MOVE:
                into = parsed.values("-t", "--target-directory") or operands[-1:]
                sources = operands if parsed.has("-t", "--target-directory") else operands[:-1]
                gone = use.writes if self.operands is Operands.MOVE else use.reads
                gone += sources
                use.writes += into
                names = map(posixpath.basename, sources)
                use.writes += [posixpath.join(*into, name) for name in names]


def unknown_flag(name: str, flag: str) -> str:
    return f"Cowork does not know what the flag {flag} of {name} does."


def glob_doubts(words: Sequence[Word]) -> list[str]:
    """Doubts about file patterns, for programs that read or change what these match."""
    return [
        f"Cowork does not know which files “{word.source}” stands for."
        for word in words
        if Quirk.GLOB in word.quirks
    ]
