"""Spells out characters that hide, reorder or break text."""

from __future__ import annotations

import re
import sys
import unicodedata

_KEPT = {"\n", "\t", " "}
_BREAKS = re.compile(r"[\n\t]")
HIDING_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"}
"""Unicode categories of controls, formatting (bidi, zero width), surrogates, unassigned, line ends,
and spaces other than the usual one."""
_BLANK = set("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks that are drawn as nothing."""

_CONTROLS = "\x00-\x08\x0b-\x1f\x7f"
_HIDDEN_FROM_MODELS = re.compile(
    f"[{_CONTROLS}\x80-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_HIDDEN_IN_ASCII = re.compile(f"[{_CONTROLS}]")
_JOINERS = "\u200c\u200d"
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_KEYCAPS = set("0123456789#*©®")
_CHAT_MARKS = re.compile(
    r"[<\[](?=[|｜][\w▁]{1,40}[|｜]>|(?:start|end)_of_turn>|/?s>"
    r"|/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\])"
)
"""The beginning of a chat template's speaker mark: some servers interpret these wherever they
are."""
_SPELLED = re.compile(r"⟨U\+([0-9A-F]{4,6})⟩")


def visible(text: str) -> str:
    """Write every invisible or reordering character as `⟨U+202E⟩`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_spelled(char) if hides(char) else char for char in text)


def visible_line(text: str) -> str:
    """The same for names and sentences: what is in them must not look like another line."""
    return _BREAKS.sub(lambda found: _spelled(found[0]), visible(text))


def hides(char: str) -> bool:
    if char in _KEPT:
        return False
    return char in _BLANK or unicodedata.category(char) in HIDING_CATEGORIES


def spell_hidden(text: str) -> str:
    r"""Spell out for models: controls, bidi and zero-width characters, and chat template marks.

    That is less than for people. Spaces of all widths and private letters stay, and so does what
    writing needs: a joiner between non-ASCII letters (Persian, emoji), one variation selector
    behind a symbol, and `\r` in front of `\n`.
    """
    hidden = _HIDDEN_IN_ASCII if text.isascii() else _HIDDEN_FROM_MODELS
    return _CHAT_MARKS.sub(lambda mark: _spelled(mark[0]), hidden.sub(_spell_unless_needed, text))


def decode_hidden_characters(text: str, original: str | None = None) -> str:
    """Restore the real characters in what a model wrote after it had read `original` spelled out.

    Only characters of the original come back, so that none can be smuggled in; without an original,
    all do.
    """

    def real(spelled: re.Match[str]) -> str:
        code = int(spelled[1], 16)
        char = chr(code) if code <= sys.maxunicode else spelled[0]
        stands_for_char = original is None or (char in original and spelled[0] not in original)
        return char if stands_for_char else spelled[0]

    return _SPELLED.sub(real, text)


def _spell_unless_needed(match: re.Match[str]) -> str:
    char, text, at = match[0], match.string, match.start()
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if char == "\r":
        is_needed = after == "\n"
    elif char in _JOINERS:
        is_needed = _is_written(before) and _is_written(after)
    elif _SELECTORS.match(char):
        is_needed = _takes_selector(before)
    else:
        is_needed = False
    return char if is_needed else _spelled(char)


def _is_written(char: str) -> bool:
    """Whether it can be joined with another: a letter, mark or symbol that is not ASCII."""
    return char > "\x7f" and unicodedata.category(char)[0] in "LMS" and char not in _BLANK


def _takes_selector(char: str) -> bool:
    return char in _KEYCAPS or (char > "\xff" and unicodedata.category(char)[0] in "LS")


def _spelled(char: str) -> str:
    return f"⟨U+{ord(char):04X}⟩"
