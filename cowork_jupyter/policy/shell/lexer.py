"""The small parser: splits the plain part of the shell's language into commands.

It knows words, quotes, redirections, lists, pipes, groups, `if` and `while`, and rejects anything
else. It exists because tree-sitter's grammar and bash do not always agree; where the two parsers
disagree, the line is not plain.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .model import names
from .words import Quirk, Unclear, Word, read_word


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
    return _Reader(text).read()


class _Reader:
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
            found, start = False, self.at
            while self.at < len(self.text) and not found:
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line, self.at = self.text[self.at : end], end + 1
                found = (line.lstrip("\t") if redirect.operator == "<<-" else line) == mark.text
                if mark.source == mark.text and any(sign in line for sign in "$`\\"):
                    raise Unclear(Quirk.SUBSTITUTION)
            redirect.body = self.text[start : self.at]
            if not found or mark.quirks:
                raise self._beyond("a here-document without an end")
        self.bodies.clear()
