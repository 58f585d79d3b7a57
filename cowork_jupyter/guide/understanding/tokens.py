"""A text as words: names between backticks, values between quotes, numbers, and plain words."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from .spelling import pieces

MAX_LENGTH = 4_000  # of a request; longer ones are pasted text
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
    kind: Kind
    text: str
    plain: str


def tokens_in(text: str) -> list[Token]:
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
    """Without contractions: `what's`."""
    bare = word.replace("’", "'")
    bare = re.sub(r"'(?:s|re|ve|ll|d|m)$", "", bare, flags=re.IGNORECASE)
    whole = _SHORTENED.get(bare.replace("'", "").lower())
    return whole.split() if whole else [bare]


def folded(text: str) -> str:
    """Lower case, without accents."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in apart if not unicodedata.combining(sign))


def word_set(words: str) -> frozenset[str]:
    return frozenset(folded(words).split())


@lru_cache(maxsize=8_192)
def stems(word: str) -> frozenset[str]:
    """Possible singular forms, in any language."""
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
    """The common root of a verb and its noun: `rated` and `rating`; empty if too short."""
    if len(word) > 40:
        return ""
    bare = _MISSION.sub("mit", word) if _MISSION.search(word) else _ENDINGS.sub("", word)
    if len(bare) > 4 and bare[-1] == bare[-2]:
        bare = bare[:-1]
    return bare if len(bare) > 3 or (len(bare) == 3 and _VERBAL.search(word)) else ""


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PART = re.compile(r"[^\W_]+")


def words_of(name: str) -> list[str]:
    """The words of a name: `orderDate`, `order_date`, `Order date`."""
    return [folded(part) for part in _PART.findall(_CAMEL.sub(" ", name[:300]))]
