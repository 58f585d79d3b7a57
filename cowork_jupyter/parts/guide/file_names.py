"""Which files a text names, in whatever way people write their names."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Sequence

from .tables import FORMATS, SUFFIXES

_QUOTED = re.compile(r"`[^`\n]+`")
_ALIKE = {**dict.fromkeys(map(ord, "‘’ʼ"), "'"), **dict.fromkeys(map(ord, "“”„«»"), '"')}
_Span = tuple[int, int]


def quoted(text: str) -> list[str]:
    return [match.strip("`") for match in _QUOTED.findall(text)]


def unquoted(text: str) -> str:
    return _QUOTED.sub(" ", text)


def is_table(path: str) -> bool:
    return path.lower().endswith((*SUFFIXES, *FORMATS))


def spelled(text: str) -> str:
    """With one way to write each letter, quote and blank."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFC", text).translate(_ALIKE))


def comparable(text: str) -> str:
    return unicodedata.normalize("NFC", spelled(text).casefold())


def without_dots(path: str) -> str:
    return re.sub(r"^(?:\.{1,2}/)+", "", path)


def missing_paths(text: str, files: Sequence[str], suffixes: Sequence[str]) -> list[str]:
    """Paths with these suffixes that a text names, and that are none of the files."""
    endings = "|".join(suffix[1:] for suffix in suffixes)
    written = [path for path in quoted(text) if path.lower().endswith(tuple(suffixes))]
    in_text = rf"[\w./-]{{0,200}}\w\.(?:{endings})\b(?!\.\w)"
    written += re.findall(in_text, unquoted(text), re.IGNORECASE)
    known = list(map(comparable, files))
    return [
        path
        for path in dict.fromkeys(written)
        if not any(each.endswith(comparable(without_dots(path))) for each in known)
    ]


def named_paths(text: str, paths: Sequence[str], folder: str = "") -> list[str]:
    """The paths that a text names, fully, by their end or without suffix, in order of appearance.

    A name within a longer one does not count. Among equal names, exact case wins, then what is
    nearest to `folder`.
    """
    plain = re.sub(r"(?<![\w./])\./", "", comparable(text))
    for spellings in (_ends, _stem):
        found: dict[str, list[_Span]] = {}
        for path in paths:
            places = (_spans(plain, comparable(name)) for name in spellings(path, folder))
            found[path] = next(filter(None, places), [])
        every = [span for spans in found.values() for span in spans]
        by_place: dict[_Span, list[str]] = {}
        for path, spans in found.items():
            own = [span for span in spans if not any(_is_within(span, other) for other in every)]
            if own:
                by_place.setdefault(own[0], []).append(path)
        if by_place:
            meant = (
                _nearest(by_place[span], plain[slice(*span)], text, folder)
                for span in sorted(by_place)
            )
            return [path for paths in meant for path in paths]
    return []


def _ends(path: str, folder: str) -> list[str]:
    """Relative to the folder, then `a/b/c.csv`, `b/c.csv`, `c.csv`."""
    parts = path.split("/")
    return [_seen_from(folder, path), *("/".join(parts[at:]) for at in range(len(parts)))]


def _stem(path: str, _folder: str) -> list[str]:
    stem = posixpath.splitext(posixpath.basename(path))[0]
    return [stem] if len(stem) > 2 else []


def _spans(text: str, name: str) -> list[_Span]:
    """Where a name stands alone: not the end of another path, no word continuing."""
    alone = rf"(?<![\w./]){re.escape(name)}(?!\w|\.\w)"
    return [found.span() for found in re.finditer(alone, text)]


def _is_within(span: _Span, other: _Span) -> bool:
    return span != other and other[0] <= span[0] and span[1] <= other[1]


def _nearest(paths: Sequence[str], name: str, text: str, folder: str) -> Sequence[str]:
    """Of paths with the same name: exact case, as seen from the folder, from the top, within it."""
    paths = [path for path in paths if posixpath.basename(path) in text] or paths
    from_here = [path for path in paths if comparable(_seen_from(folder, path)) == name]
    from_top = [path for path in paths if comparable(path) == name]
    beside = [path for path in paths if posixpath.dirname(path) == folder]
    return from_here or from_top or beside or paths


def _seen_from(folder: str, path: str) -> str:
    return posixpath.relpath(path, folder or ".")
