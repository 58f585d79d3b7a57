r"""Search patterns that ripgrep and Python's `re` read the same way.

Common to both: literals, `.`, `[a-z]`, `\d \w \s \b`, `* + ? {m,n}` and their lazy forms,
groups, `(?P<name>…)`, `|`, `^ $`, `(?i)`. Not common, and therefore refused with a sentence
that says so: look-around, back-references, possessive and conditional forms, line breaks,
sets inside sets.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ..domain.errors import InvalidInput

_NOT_COMMON = re.compile(
    r"""
    \\[1-9] | \(\?P= | \(\?\(                 # back-references, conditions
  | \(\?<?[=!] | \(\?>                        # look-around, atomic groups
  | [*+?}]\+                                  # possessive
  | \\n | \n | \\[AZNuU] | \(\?[a-zA-Z]*[aLuxsm]   # line breaks, anchors and flags that differ
    """,
    re.VERBOSE,
)
_SKIP = re.compile(r"\\[^1-9nAZNuU]|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_DIFFERENT = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(?!\d+(?:,\d*)?\})", re.DOTALL)
_SAME = {"{": r"\{", r"\<": "<", r"\>": ">"}
_ATOM = re.compile(
    r"""
    (?: \\(?P<escaped>[^\w\s]) | (?P<plain>[^\\\[(){}.^$?*+])
      | \\. | \[\^?\]?(?:\\.|[^\]\\])*\] | . )
    (?P<times> [*+?] | \{\d+(?:,\d*)?\} )? \??
    """,
    re.VERBOSE,
)
_SAME_IN_JSON = re.compile(r"[A-Za-z0-9 !#$%()*+,.:;=?@\[\]^_`{|}~-]+")


@dataclass(frozen=True)
class Pattern:
    """What to look for in a line."""

    text: str
    literal: bool = False
    ignore_case: bool = False

    def __post_init__(self) -> None:
        if "\n" in self.text or "\r" in self.text:
            raise _bad("it contains a line break, and lines are searched one by one")
        if "\0" in self.text:
            raise _bad("it contains a NUL character, and files with those are not searched")
        if not self.literal:
            _refuse_uncommon(self.text)
            self.compiled()

    @property
    def regex(self) -> str:
        """The same as a regular expression."""
        return re.escape(self.text) if self.literal else _same_in_both(self.text)

    @property
    def flags(self) -> re.RegexFlag:
        """Flags for `re`."""
        return re.IGNORECASE if self.ignore_case else re.NOFLAG

    @cached_property
    def sure_text(self) -> str:
        """The longest text that every match holds and that looks the same inside JSON, or nothing.

        With it notebooks are sifted before they are opened as notebooks.
        """
        runs = [self.text] if self.literal else _sure_texts(self.text)
        found = [text for run in runs for text in _SAME_IN_JSON.findall(run)]
        return max(found, key=len, default="")

    def compiled(self) -> re.Pattern[str]:
        """The regular expression for Python."""
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            try:
                return re.compile(self.regex, self.flags)
            except (re.error, OverflowError, RecursionError) as error:
                raise _bad(str(error)) from error
            except FutureWarning:
                raise _bad("sets inside sets are not supported") from None


def _refuse_uncommon(text: str) -> None:
    position = 0
    while position < len(text):
        found = _NOT_COMMON.match(text, position)
        if found:
            raise _bad(f"'{found[0]}' is not supported here (no look-around, no back-references)")
        skipped = _SKIP.match(text, position)
        position = skipped.end() if skipped else position + 1


def _sure_texts(regex: str) -> Iterator[str]:
    """Runs of plain characters that a match cannot do without."""
    if "|" in regex or "(?" in regex:
        return
    run, depth = "", 0
    for atom in _ATOM.finditer(regex):
        depth += (atom[0][0] == "(") - (atom[0][0] == ")")
        character = atom["escaped"] or atom["plain"]
        if character is None or depth:
            yield run
            run = ""
        elif atom["times"] is None:
            run += character
        else:
            yield run + (character if atom["times"] == "+" else "")
            run = ""
    yield run


def _same_in_both(text: str) -> str:
    r"""Escape braces that count nothing; `\<` is a word's start to one and a `<` to the other."""
    return _DIFFERENT.sub(lambda found: _SAME.get(found[0], found[0]), text)


def _bad(why: str) -> InvalidInput:
    return InvalidInput(f"The pattern is not valid: {why}.", code="bad_pattern")
