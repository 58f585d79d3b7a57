"""A word of the shell: its unquoted text, and what the shell would do to it first."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum


class Quirk(str, Enum):
    """A part of a word that the shell replaces, so that the text alone is not reliable."""

    VARIABLE = "variable"
    SUBSTITUTION = "substitution"
    GLOB = "glob"
    BRACES = "braces"
    TILDE = "tilde"
    HISTORY = "history"
    ENCODING = "encoding"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Word:
    """A word as written and, if it is literal, as the program gets it."""

    text: str
    source: str
    quirks: frozenset[Quirk] = frozenset()

    @property
    def literal(self) -> bool:
        return not self.quirks


class Unclear(Exception):
    """The shell continues by rules that the small parser does not know."""

    def __init__(self, quirk: Quirk) -> None:
        super().__init__(quirk)
        self.quirk = quirk


_SAFE = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
_PIECE = re.compile(
    r"""
      (?P<bare>    [^ \t\n|&;()<>\\'"`$]+ )
    | (?P<escaped> \\ (?:.|\n) )
    | '(?P<single> [^']* )'
    | "(?P<double> (?: [^"\\`$] | \\ (?:.|\n) | \$(?![A-Za-z_0-9?\#$!@*({\[-]|\\\n) )* )"
    | \$'(?P<ansi> (?: [^'\\] | \\ (?:.|\n) )* )'
    | (?P<variable> \$ (?: [A-Za-z_]\w* | [0-9?\#$!@*-] ) )
    | (?P<quoted>  " (?: [^"\\`$] | \\ (?:.|\n) | \$ (?: [A-Za-z_]\w* | [0-9?\#$!@*-] )
                       | \$(?![A-Za-z_0-9?\#$!@*({\[-]|\\\n) )* " )
    | (?P<dollar>  \$ (?= [ \t\n|&;)<>/.,:=%+~\]}^] | $ ) )
    """,
    re.VERBOSE | re.ASCII,
)
_DOUBLE_ESCAPE = re.compile(r'\\([$`"\\\n])')
_TILDE = re.compile(r"(?:^|[=:])~")
_BRACES = re.compile(r"\{.*(?:,|\.\.).*\}", re.DOTALL)
_HISTORY = re.compile(r"![^\s=(\"]")
_QUOTED = "\0"
"""Stands for quoted text when the unquoted rest is searched for special characters."""


def read_word(text: str, start: int = 0) -> tuple[Word, int]:
    """The word at `start`, and where it ends. Raises `Unclear`."""
    match = _SAFE.match(text, start)
    if match and (match.end() == len(text) or text[match.end()] in " \t\n;"):
        return Word(match[0], match[0]), match.end()  # the fast path for most words
    at, said, bare = start, list[str](), list[str]()
    quirks = set[Quirk]()
    while match := _PIECE.match(text, at):
        at = match.end()
        kind = str(match.lastgroup)
        value = match[kind]
        if kind in ("bare", "dollar"):
            said.append(value)
            bare.append(value)
        else:
            said.append(_unquoted(kind, value, quirks))
            if value != "\\\n":
                bare.append(_QUOTED)
    if at < len(text) and text[at] in "$`\"'\\":
        raise Unclear(Quirk.SUBSTITUTION if text[at] in '$`"' else Quirk.UNREADABLE)
    source = text[start:at]
    quirks |= _bare_quirks("".join(bare))
    keeps_text = quirks <= {Quirk.HISTORY}
    return Word("".join(said) if keeps_text else source, source, frozenset(quirks)), at


def whole_word(source: str) -> Word:
    """A word cut out by another parser; not literal if it does not end where it should."""
    try:
        word, end = read_word(source)
    except Unclear as stop:
        return Word(source, source, frozenset({stop.quirk}))
    if end != len(source):
        return Word(source, source, frozenset({Quirk.UNREADABLE}))
    return word


def _unquoted(kind: str, value: str, quirks: set[Quirk]) -> str:
    match kind:
        case "escaped":
            return "" if value == "\\\n" else value[1]
        case "single":
            return value
        case "double":
            if _HISTORY.search(value):
                quirks.add(Quirk.HISTORY)
            return _DOUBLE_ESCAPE.sub(lambda match: match[1].replace("\n", ""), value)
        case "ansi":
            return _ansi(value, quirks)
    quirks.add(Quirk.VARIABLE)
    return value


def _bare_quirks(bare: str) -> set[Quirk]:
    found = set[Quirk]()
    if bare != "[" and any(sign in bare for sign in "*?["):
        found.add(Quirk.GLOB)
    if _TILDE.search(bare):
        found.add(Quirk.TILDE)
    if _BRACES.search(bare):
        found.add(Quirk.BRACES)
    if _HISTORY.search(bare):
        found.add(Quirk.HISTORY)
    return found


_ANSI = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|(.|\n))"
)
_ANSI_LETTERS = {
    **dict(zip("abeEfnrtv", "\a\b\x1b\x1b\f\n\r\t\v", strict=True)),
    **{sign: sign for sign in "\\'\"?"},
}


def _ansi(value: str, quirks: set[Quirk]) -> str:
    """Decode `$'…'`. What ends the string early or depends on the locale is not literal."""

    def decode(match: re.Match[str]) -> str:
        octal, byte, short, long, letter = match.groups()
        if letter:
            if letter in "cxuU":
                quirks.add(Quirk.ENCODING)
            return _ANSI_LETTERS.get(letter, "\\" + letter)
        code = int(octal, 8) if octal else int(byte or short or long, 16)
        if not 0 < code < 128:
            quirks.add(Quirk.ENCODING)
            return match[0]
        return chr(code)

    return _ANSI.sub(decode, value)
