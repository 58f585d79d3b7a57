"""The small parser: splits the plain part of the shell's language into commands and words.

It knows words, quotes, redirections, lists, pipes, groups, `if` and `while`, and rejects anything
else. It exists because tree-sitter's grammar and bash do not always agree; where the two parsers
disagree, the line is not plain. A word is its unquoted text, and what the shell would do to it
first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum

from .model import names


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
    at, unquoted, bare = start, list[str](), list[str]()
    quirks = set[Quirk]()
    while match := _PIECE.match(text, at):
        at = match.end()
        kind = str(match.lastgroup)
        value = match[kind]
        if kind in ("bare", "dollar"):
            unquoted.append(value)
            bare.append(value)
        else:
            unquoted.append(_unquoted(kind, value, quirks))
            if value != "\\\n":
                bare.append(_QUOTED)
    if at < len(text) and text[at] in "$`\"'\\":
        raise Unclear(Quirk.SUBSTITUTION if text[at] in '$`"' else Quirk.UNREADABLE)
    source = text[start:at]
    quirks |= _bare_quirks("".join(bare))
    keeps_text = quirks <= {Quirk.HISTORY}
    return Word("".join(unquoted) if keeps_text else source, source, frozenset(quirks)), at


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
    quirks = set[Quirk]()
    if bare != "[" and any(sign in bare for sign in "*?["):
        quirks.add(Quirk.GLOB)
    if _TILDE.search(bare):
        quirks.add(Quirk.TILDE)
    if _BRACES.search(bare):
        quirks.add(Quirk.BRACES)
    if _HISTORY.search(bare):
        quirks.add(Quirk.HISTORY)
    return quirks


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


@dataclass(slots=True)
class Redirect:
    """A redirection and its target; for a here-document, the delimiter."""

    operator: str
    target: Word
    body: str = ""


@dataclass(slots=True)
class Phrase:
    words: list[Word] = field(default_factory=list)
    assignments: list[Word] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    text: str = ""

    def __bool__(self) -> bool:
        return bool(self.words or self.assignments or self.redirects)


class NotPlain(Exception):
    """The line goes beyond the small parser; carries what was read so far."""

    def __init__(self, why: str, phrases: list[Phrase], unfinished: Phrase) -> None:
        super().__init__(why)
        self.phrases = phrases
        self.unfinished = unfinished


_BLANK = re.compile(r"(?:[ \t]|\\\n)+")
_COMMENT = re.compile(r"#[^\n]*")
_OPERATOR = re.compile(
    r"\n|&>>|&>|&&|&|\|\||\|&|\||;;&?|;&|;|\(\(|\(|\)|<<<|<<-|<<|<[&>(]?|>[>&|(]?"
)
_DESCRIPTOR = re.compile(r"[0-9]+(?=[<>])")
_DUPLICATE = re.compile(r"[0-9]+|-|[^-0-9].*", re.DOTALL)
"""What may follow `>&`; bash reads `>&1-` and `>& --` in its own way."""
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[.*\])?\+?=", re.ASCII | re.DOTALL)
_SEPARATORS = names("&& & || |& | ; )") | {"\n"}
_REDIRECTS = names("&>> &> <<< < <& <> > >> >& >|")
_PASSED = names("if then elif else fi while until do done { } !")
_BEYOND = names("for case esac select function in [[ ]] coproc")


def split(text: str) -> list[Phrase]:
    return _Lexer(text).read()


class _Lexer:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.phrases = list[Phrase]()
        self.phrase = Phrase()
        self.began: int | None = None
        self.ended = 0
        self.piped = False
        self.misleading = False
        self.bodies = list[Redirect]()
        """Here-documents whose bodies begin after the next newline."""

    def read(self) -> list[Phrase]:
        try:
            while self._step():
                pass
        except Unclear as stop:
            raise self._beyond(f"a {stop.quirk.value}") from None
        if self.bodies:
            raise self._beyond("a here-document without an end")
        self._end()
        if self.misleading:
            raise self._beyond("a comment that seems to go on")
        return self.phrases

    def _beyond(self, what: str) -> NotPlain:
        return NotPlain(what, self.phrases, self.phrase)

    def _end(self) -> None:
        if self.phrase:
            self.phrase.text = self.text[self.began : self.ended]
            self.phrases.append(self.phrase)
        self.phrase, self.began = Phrase(), None

    def _skip_blanks(self) -> None:
        if blank := _BLANK.match(self.text, self.at):
            self.at = blank.end()

    def _step(self) -> bool:
        self._skip_blanks()
        if self.at >= len(self.text):
            return False
        start = self.at
        if comment := _COMMENT.match(self.text, start):
            self.at = comment.end()
            self.misleading |= comment[0].endswith("\\")
        elif operator := _OPERATOR.match(self.text, start):
            self.at = operator.end()
            self._operator(operator[0])
        elif descriptor := _DESCRIPTOR.match(self.text, start):
            self.at = descriptor.end()
        else:
            word, self.at = read_word(self.text, start)
            self._word(word)
        if self.phrase and self.began is None:
            self.began = start
        self.ended = self.at if self.phrase else self.ended
        return True

    def _operator(self, sign: str) -> None:
        if sign in _SEPARATORS:
            self._end()
            self.piped = sign in ("|", "|&")
            if sign == "\n":
                self._read_bodies()
        elif sign in _REDIRECTS:
            target = self._target()
            if sign.endswith("&") and not _DUPLICATE.fullmatch(target.source):
                raise self._beyond(f"{sign}{target.source}")
            self.phrase.redirects.append(Redirect(sign, target))
        elif sign in ("<<", "<<-"):
            redirect = Redirect(sign, self._target())
            self.phrase.redirects.append(redirect)
            self.bodies.append(redirect)
        elif sign != "(" or self.phrase:
            raise self._beyond(sign)

    def _target(self) -> Word:
        self._skip_blanks()
        word, end = read_word(self.text, self.at)
        if end == self.at or _DESCRIPTOR.match(self.text, self.at):
            raise self._beyond("a redirection to nothing")
        self.at = end
        return word

    def _word(self, word: Word) -> None:
        phrase = self.phrase
        if not word.source:
            raise self._beyond("an unknown sign")
        if self.text[self.at : self.at + 1] in ("<", ">") and word.source.startswith("{"):
            raise self._beyond("a named descriptor")
        if phrase.words:
            phrase.words.append(word)
        elif word.source in _BEYOND or (word.source in _PASSED and (phrase or self.piped)):
            raise self._beyond(word.source)
        elif ASSIGNMENT.match(word.source):
            phrase.assignments.append(word)
        elif word.source not in _PASSED:
            phrase.words.append(word)

    def _read_bodies(self) -> None:
        for redirect in self.bodies:
            mark = redirect.target
            is_closed, start = False, self.at
            while self.at < len(self.text) and not is_closed:
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line, self.at = self.text[self.at : end], end + 1
                is_closed = (line.lstrip("\t") if redirect.operator == "<<-" else line) == mark.text
                if mark.source == mark.text and any(sign in line for sign in "$`\\"):
                    raise Unclear(Quirk.SUBSTITUTION)
            redirect.body = self.text[start : self.at]
            if not is_closed or mark.quirks:
                raise self._beyond("a here-document without an end")
        self.bodies.clear()
