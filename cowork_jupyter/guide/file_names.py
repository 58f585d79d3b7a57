"""Which files a text names, in whatever way people write their names."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Sequence

from .tables import FORMATS, SUFFIXES

_QUOTED = re.compile(r"`[^`\n]+`")
_BLANKS = re.compile(r"\s+|\\ |%20")
"""Also as a shell or a web address writes them."""
_ALIKE = {**dict.fromkeys(map(ord, "‘’ʼ"), "'"), **dict.fromkeys(map(ord, "“”„«»"), '"')}


def quoted(text: str) -> list[str]:
    """What stands between backticks, in order."""
    return [match.strip("`") for match in _QUOTED.findall(text)]


def unquoted(text: str) -> str:
    """All the rest of it."""
    return _QUOTED.sub(" ", text)


def with_files_quoted(text: str, paths: Sequence[str]) -> str:
    """The text with the files that it names whole between backticks: words in a file's name ask
    for nothing.
    """
    names = {name for path in paths for name in (path, posixpath.basename(path))}
    there = [name for name in names if name.lower() in text.lower() and "`" not in name]
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
    from_here = [path for path in named if named[path] == comparable(_seen_from(folder, path))]
    from_top = [path for path in named if named[path] == comparable(path)]
    beside = [path for path in named if posixpath.dirname(path) == folder]
    return from_here or from_top or beside or list(named)


def _seen_from(folder: str, path: str) -> str:
    return posixpath.relpath(path, folder or ".")


def is_table(path: str) -> bool:
    """Whether a file is a table by its name."""
    return path.lower().endswith((*SUFFIXES, *FORMATS))


def _spans(text: str, name: str, before: str = r"\w.") -> list[_Span]:
    """Where a name stands by itself: none of the signs `before` in front, no word going on."""
    if not name:
        return []
    alone = rf"(?<![{before}]){re.escape(name)}(?!\w|\.\w)"
    return [found.span() for found in re.finditer(alone, text)]
