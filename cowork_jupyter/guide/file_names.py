"""Which files a text names, in whatever way people write their names."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Sequence

from .tables import FORMATS, SUFFIXES

_QUOTED = re.compile(r"`[^`\n]+`")
_BLANKS = re.compile(r"\s+|\\ |%20")  # also as shells and URLs write them
_ALIKE = {**dict.fromkeys(map(ord, "‘’ʼ"), "'"), **dict.fromkeys(map(ord, "“”„«»"), '"')}


def quoted(text: str) -> list[str]:
    return [match.strip("`") for match in _QUOTED.findall(text)]


def unquoted(text: str) -> str:
    return _QUOTED.sub(" ", text)


def with_names_quoted(text: str, paths: Sequence[str]) -> str:
    """Put names of files and columns in backticks, since the words in them request nothing."""
    names = {name for path in paths for name in (path, posixpath.basename(path))}
    there = [name for name in names if name.lower() in text.lower() and "`" not in name]
    if not there:
        return text
    either = "|".join(map(re.escape, sorted(there, key=len, reverse=True)))
    found = rf"{_QUOTED.pattern}|(?<![\w./])(?:{either})(?!\w|\.\w)"
    return re.sub(found, lambda name: f"`{name[0].strip('`')}`", text, flags=re.IGNORECASE)


def comparable(text: str) -> str:
    """Normalize letters, quotes and whitespace for comparison."""
    folded = unicodedata.normalize("NFC", text).translate(_ALIKE).casefold()
    return _BLANKS.sub(" ", unicodedata.normalize("NFC", folded))


def named_paths(text: str, paths: Sequence[str], folder: str = "") -> list[str]:
    """The paths that a text names, fully, by their end or without suffix, in order of appearance.

    A name within a longer one does not count. Among equal names, exact case wins, then what is
    nearest to `folder`.
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
    named = [_spelled_so(by_place[at], text) for at in sorted(by_place)]
    return [path for paths in named for path in _nearest(paths, folder)]


def _is_within(span: _Span, other: _Span) -> bool:
    return span != other and other[0] <= span[0] and span[1] <= other[1]


def _spelled_so(named: dict[str, str], text: str) -> dict[str, str]:
    exact = {path: name for path, name in named.items() if posixpath.basename(path) in text}
    return exact or named


def _ends(path: str, folder: str) -> list[str]:
    """Relative to the folder, then `a/b/c.csv`, `b/c.csv`, `c.csv`."""
    parts = path.split("/")
    return [_seen_from(folder, path), *("/".join(parts[at:]) for at in range(len(parts)))]


def _base(path: str, _folder: str) -> list[str]:
    return [path.rsplit("/", 1)[-1]]


def _stem(path: str, _folder: str) -> list[str]:
    stem = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return [stem] if len(stem) > 2 else []


def _nearest(named: dict[str, str], folder: str) -> list[str]:
    """Prefer exact relative paths, then paths from the top, then files in the folder."""
    from_here = [path for path in named if named[path] == comparable(_seen_from(folder, path))]
    from_top = [path for path in named if named[path] == comparable(path)]
    beside = [path for path in named if posixpath.dirname(path) == folder]
    return from_here or from_top or beside or list(named)


def _seen_from(folder: str, path: str) -> str:
    return posixpath.relpath(path, folder or ".")


def is_table(path: str) -> bool:
    return path.lower().endswith((*SUFFIXES, *FORMATS))


def _spans(text: str, name: str, before: str = r"\w.") -> list[_Span]:
    """Where a name stands alone: no character of `before` in front, no word continuing."""
    if not name:
        return []
    alone = rf"(?<![{before}]){re.escape(name)}(?!\w|\.\w)"
    return [found.span() for found in re.finditer(alone, text)]
