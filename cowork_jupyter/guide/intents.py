"""What a text asks for, by its words: a user's request, or a step of a plan.

The sentences that the guide puts into its plans are understood the same way, so that a step
means what the user has read, also after they have edited it.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

from .tables import SUFFIXES

Intent = Literal["order", "explain", "profile", "clean", "join", "plot", "model"]

_WORDS: dict[Intent, str] = {
    "join": r"join|merge|combine",
    "model": r"model|predict\w*|regression|classif\w*|baseline|forecast",
    "clean": r"clean\w*|missing|duplicates?|dedup\w*|impute|tidy",
    "plot": r"plot\w*|charts?|graphs?|visuali[sz]e|draw|histograms?|distributions?|trends?",
    "profile": r"profile|describe|explor\w*|overview|summary|summari[sz]e|statistics|analy[sz]e"
    r"|analysis|look at|inspect|understand|eda",
}
_FOUND = {intent: re.compile(rf"\b(?:{words})\b") for intent, words in _WORDS.items()}
_ORDER = re.compile(r"\b(?:order|sort|arrange|rearrange|reorder|tidy)\b.*\b(?:cells?|notebook)\b")
_CELLS = re.compile(r"\bcells?\b.*\bin (?:the right )?order\b")
_EXPLAIN = re.compile(r"\b(?:explain|describe|summari[sz]e|understand|what does|what is in)\b")
_COUNTING = re.compile(r"\b(?:how many|how much|count|are there|which)\b")
_QUOTED = re.compile(r"`[^`\n]+`")
_PATH = re.compile(r"[\w./\\-]+\.\w{1,8}\b")
_BLANKS = re.compile(r"\s+|\\ |%20")
"""Also as a shell or a web address writes them."""
_ALIKE = {**dict.fromkeys(map(ord, "‘’ʼ"), "'"), **dict.fromkeys(map(ord, "“”„«»"), '"')}


def intents_in(text: str, names: Sequence[str] = ()) -> list[Intent]:
    """What is asked for, in the order in which it is best done.

    `names` are words of the user's own, such as columns, which ask for nothing.
    """
    words = _plain(text, names)
    about_notebook = ".ipynb" in text or re.search(r"\bnotebook\b", words) is not None
    if _ORDER.search(words) or _CELLS.search(words):
        return ["order"]
    if about_notebook and _EXPLAIN.search(words):
        return ["explain"]
    found = {intent for intent, pattern in _FOUND.items() if pattern.search(words)}
    if "clean" in found and _COUNTING.search(words):
        found = (found - {"clean"}) | {"profile"}
    if found == {"profile"} and re.search(r"\banaly", words):
        found.add("plot")
    order: tuple[Intent, ...] = ("profile", "clean", "join", "plot", "model")
    return [intent for intent in order if intent in found]


def quoted(text: str) -> list[str]:
    """What stands between backticks, in order."""
    return [one.strip("`") for one in _QUOTED.findall(text)]


def unquoted(text: str) -> str:
    """All the rest of it."""
    return _QUOTED.sub(" ", text)


def with_files_quoted(text: str, paths: Sequence[str]) -> str:
    """The text with the files that it names whole between backticks: words in a file's name ask
    for nothing.
    """
    names = {name for path in paths for name in (path, posixpath.basename(path))}
    there = [one for one in names if one.lower() in text.lower() and "`" not in one]
    if not there:
        return text
    either = "|".join(map(re.escape, sorted(there, key=len, reverse=True)))
    found = rf"{_QUOTED.pattern}|(?<![\w./])(?:{either})(?!\w|\.\w)"
    return re.sub(found, lambda name: f"`{name[0].strip('`')}`", text, flags=re.IGNORECASE)


def comparable(text: str) -> str:
    """The text so that what a reader takes for the same is the same: letters, quotes, blanks."""
    folded = unicodedata.normalize("NFC", text).translate(_ALIKE).casefold()
    return _BLANKS.sub(" ", unicodedata.normalize("NFC", folded))


def named_in(text: str, paths: Sequence[str], folder: str = "") -> list[str]:
    """The paths that a text names, whole, by their end or without the suffix; in its order.

    A name within a longer one does not count. Of several with the same name, the one is meant
    that is spelled just so, or that a text in `folder` would mean.
    """
    plain = re.sub(r"(?<![\w./])\./", "", comparable(text))
    for before, spellings in ((r"\w./", _ends), (r"\w.", _base), (r"\w.", _stem)):
        found: dict[str, tuple[str, list[_Span]]] = {}
        for path in paths:
            names = spellings(comparable(path), comparable(folder))
            places = ((name, _spans(plain, name, before)) for name in names)
            first = next(((name, spans) for name, spans in places if spans), None)
            if first:
                found[path] = first
        if found:
            return _in_order(found, text, folder)
    return []


_Span = tuple[int, int]


def _in_order(found: dict[str, tuple[str, list[_Span]]], text: str, folder: str) -> list[str]:
    every = {span for _, spans in found.values() for span in spans}
    by_place: dict[int, dict[str, str]] = {}
    for path, (name, spans) in found.items():
        own = [span for span in spans if not any(_is_within(span, other) for other in every)]
        if own:
            by_place.setdefault(own[0][0], {})[path] = name
    return [
        path
        for at in sorted(by_place)
        for path in _nearest(_spelled_so(by_place[at], text), folder)
    ]


def _is_within(span: _Span, other: _Span) -> bool:
    return span != other and other[0] <= span[0] and span[1] <= other[1]


def _spelled_so(named: dict[str, str], text: str) -> dict[str, str]:
    """Those of them that the text writes with the same capitals; all, if none."""
    exact = {path: name for path, name in named.items() if posixpath.basename(path) in text}
    return exact or named


def _ends(path: str, folder: str) -> list[str]:
    """As the folder sees it, and `a/b/c.csv`, `b/c.csv`, `c.csv`."""
    parts = path.split("/")
    return [_seen_from(folder, path), *("/".join(parts[at:]) for at in range(len(parts)))]


def _base(path: str, _folder: str) -> list[str]:
    return [path.rsplit("/", 1)[-1]]


def _stem(path: str, _folder: str) -> list[str]:
    stem = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return [stem] if len(stem) > 2 else []


def _nearest(named: dict[str, str], folder: str) -> list[str]:
    """Of paths that the same words name: the one that lies just there, from the folder or from the
    top; else those in the folder; else all.
    """
    from_here = [one for one in named if named[one] == comparable(_seen_from(folder, one))]
    from_top = [one for one in named if named[one] == comparable(one)]
    beside = [one for one in named if posixpath.dirname(one) == folder]
    return from_here or from_top or beside or list(named)


def _seen_from(folder: str, path: str) -> str:
    return posixpath.relpath(path, folder or ".")


def columns_in(text: str, names: Sequence[str]) -> list[str]:
    """The columns that a text names, in its order: between backticks, or as plain words."""
    sure = [one for one in quoted(text) if one in names]
    if sure:
        return list(dict.fromkeys(sure))
    lower = without_names(text)
    found: dict[str, int] = {}
    for name in names:
        spellings = {name.lower(), name.lower().replace("_", " ")}
        at = max((_place(lower, spelling) for spelling in spellings), default=-1)
        if at >= 0:
            found[name] = at
    whole = [one for one in found if not any(one != other and one in other for other in found)]
    return sorted(whole, key=lambda name: found[name])


def without_names(text: str) -> str:
    """The text in lower case, without files and whatever stands between backticks."""
    return _PATH.sub(" ", unquoted(text)).lower()


def is_table(path: str) -> bool:
    """Whether a file is a table by its name."""
    return path.lower().endswith(SUFFIXES)


def _place(text: str, name: str) -> int:
    """Where a name stands first by itself."""
    spans = _spans(text, name)
    return spans[0][0] if spans else -1


def _spans(text: str, name: str, before: str = r"\w.") -> list[_Span]:
    """Where a name stands by itself: none of the signs `before` in front, no word going on."""
    if not name:
        return []
    alone = rf"(?<![{before}]){re.escape(name)}(?!\w|\.\w)"
    return [found.span() for found in re.finditer(alone, text)]


def _plain(text: str, names: Sequence[str]) -> str:
    words = without_names(text)
    for name in sorted(names, key=len, reverse=True):
        if len(name) > 2 and name.lower() not in ("model", "trend"):
            words = re.sub(rf"(?<!\w){re.escape(name.lower())}(?!\w)", " ", words)
    return words
