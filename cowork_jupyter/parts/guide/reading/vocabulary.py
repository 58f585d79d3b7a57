"""The words the guide knows, from `words.toml`; a word that is not there stops it: it asks."""

from __future__ import annotations

import tomllib
from pathlib import Path

from .tokens import normalize, word_set, words_of

_WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
_COLUMNS = _WORDS["columns"]
_TO_TWELVE = "one two three four five six seven eight nine ten eleven twelve"
COUNTS = {word: number for number, word in enumerate(_TO_TWELVE.split(), 1)}
COUNTS |= {"fifteen": 15, "twenty": 20, "hundred": 100}

PHRASES: dict[tuple[str, ...], list[str]] = {}
for _tag, _phrases in _WORDS["tags"].items():
    for _phrase in _phrases.split(","):
        PHRASES.setdefault(tuple(normalize(_phrase.strip()).split()), []).append(_tag)
LONGEST = max(map(len, PHRASES))

# Words that begin another request after a comma or “and”.
VERBS = word_set(
    "show plot draw chart graph visualize clean tidy profile describe list count compare find join"
    " merge predict export save drop remove fill compute calculate give tell summarize display"
    " create make trim check"
)
SYNONYMS, ROW_NOUNS, VALUES = (
    tuple(map(word_set, _COLUMNS[name])) for name in ("synonyms", "row_nouns", "values")
)
SUPERLATIVES = {
    adjective: (about.split()[0], about.endswith(" least"))
    for adjectives, about in _WORDS["superlatives"].items()
    for adjective in adjectives.split(", ")
}
_RATES, _ADDITIVE, _WORSE_IF_HIGH = (
    word_set(_COLUMNS[name]) for name in ("rates", "additive", "worse_if_high")
)


def usual_aggregate(column: str) -> str:
    """How a column of this name is usually put together; empty if that has to be asked."""
    words = set(words_of(column))
    return "mean" if _RATES & words else "sum" if _ADDITIVE & words else ""


def is_worse_if_high(column: str) -> bool:
    return bool(_WORSE_IF_HIGH & set(words_of(column)))
