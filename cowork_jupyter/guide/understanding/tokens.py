"""A text as words: names between backticks, values between quotes, numbers, and plain words."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from .spelling import pieces

MAX_LENGTH = 4_000
"""Characters of a request that are looked at; whoever writes more has pasted something."""
_MAX_TOKENS = 400
Kind = Literal["code", "quoted", "number", "word", "sign"]
_TOKEN = re.compile(
    r"""["“„«](?P<quoted>[^"“”„«»\n]{1,200})["”“»]
    |(?P<number>\d{4}-(?:\d\d(?:-\d\d)?|[Qq][1-4])(?![\w-])|\d{1,2}\.\d{1,2}\.\d{4}(?!\w)
       |\d{1,15}(?:[.,]\d{1,15})*(?![^\W_]))
    |(?P<word>[^\W_](?:[^\W_]|['’](?=\w))*)
    |(?P<sign>[<>]=?|!=|[≥≤=,;:.?!&+/])""",
    re.VERBOSE,
)
_OTHERS: tuple[Kind, ...] = ("quoted", "number", "sign")
_SHORTENED = {"whats": "what is", "whos": "who is", "hows": "how is", "wheres": "where is"}


@dataclass(frozen=True)
class Token:
    """One word, and how it is compared with others."""

    kind: Kind
    text: str
    """As the user wrote it."""
    plain: str
    """In small letters without accents."""


def tokens_in(text: str) -> list[Token]:
    """The words of a text, in order."""
    found: list[Token] = []
    for is_code, piece in pieces(text[:MAX_LENGTH]):
        if is_code:
            found.append(_token("code", piece))
            continue
        for match in _TOKEN.finditer(piece):
            if match["word"]:
                found += [_token("word", word) for word in _words(match["word"])]
            else:
                found += [_token(kind, match[kind]) for kind in _OTHERS if match[kind]]
    return found[:_MAX_TOKENS]


def _token(kind: Kind, text: str) -> Token:
    return Token(kind, text, folded(text))


def _words(word: str) -> list[str]:
    """Without the ends that English puts behind an apostrophe."""
    bare = word.replace("’", "'")
    bare = re.sub(r"'(?:s|re|ve|ll|d|m)$", "", bare, flags=re.IGNORECASE)
    whole = _SHORTENED.get(bare.replace("'", "").lower())
    return whole.split() if whole else [bare]


def folded(text: str) -> str:
    """In small letters, without accents."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in apart if not unicodedata.combining(sign))


def word_set(words: str) -> frozenset[str]:
    """Words in a row, each as it is compared."""
    return frozenset(folded(words).split())


@lru_cache(maxsize=8_192)
def stems(word: str) -> frozenset[str]:
    """A word as it may stand in a dictionary: singular, whatever the language."""
    found = {word}
    if len(word) > 3:
        if word.endswith("s") and not word.endswith(("ss", "us", "is")):
            found.add(word[:-1])
        if word.endswith("ies"):
            found.add(f"{word[:-3]}y")
        if word.endswith(("es", "en", "er")):
            found.add(word[:-2])
        if word.endswith(("e", "n")):
            found.add(word[:-1])
    return frozenset(found)


_ENDINGS = re.compile(
    r"(?:ations?|ments?|ions?|ings?|ungen|ung|ed|es|ly|er|en|[se]|(?<=[bdfgl])t)$"
)
_MISSION = re.compile(r"missions?$")
_VERBAL = re.compile(r"(?:ed|ings?|e)$")


@lru_cache(maxsize=8_192)
def root(word: str) -> str:
    """What a verb and its noun share: `rated` and `rating`; empty where that is too short."""
    if len(word) > 40:
        return ""
    bare = _MISSION.sub("mit", word) if _MISSION.search(word) else _ENDINGS.sub("", word)
    if len(bare) > 4 and bare[-1] == bare[-2]:
        bare = bare[:-1]
    return bare if len(bare) > 3 or (len(bare) == 3 and _VERBAL.search(word)) else ""


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PART = re.compile(r"[^\W_]+")


def words_of(name: str) -> list[str]:
    """The words in the name of a column or a file: `orderDate`, `order_date`, `Order date`."""
    return [folded(part) for part in _PART.findall(_CAMEL.sub(" ", name[:300]))]
