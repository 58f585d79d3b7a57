"""Path globs with `.gitignore` syntax.

`*` and `?` stay within one name, `**` crosses folders, `[a-z]` is a class, `{a,b}` a choice.
A glob with a slash is matched from the top, one without matches at any depth. Globs may come from
untrusted files, so matching is O(len(glob) * len(path)) whatever the glob.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Sequence

_MAX_CHOICES = 64
_CLASS = re.compile(r"\[[!^]?\]?[^\]]*\]")
_INNERMOST_CHOICE = re.compile(r"(?<!\\)\{([^{}]*)\}")
_PIECE = re.compile(rf"\\(?P<escaped>.)|(?P<group>{_CLASS.pattern})|(?P<rest>[^\[\\])", re.DOTALL)

_Names = list[re.Pattern[str] | None]
"""One pattern per path component; None stands for `**`."""


class Glob:
    """Raises ValueError if the glob is malformed."""

    def __init__(self, glob: str) -> None:
        anchored = "/" in glob
        glob = glob.removeprefix("/") if anchored else f"**/{glob}"
        self._choices = [_names_of(choice) for choice in _choices_of(glob)]

    def matches(self, path: str) -> bool:
        parts = path.split("/")
        return any(_fits(names, parts) for names in self._choices)


def _fits(names: _Names, parts: Sequence[str]) -> bool:
    """Simulate an NFA: keep every position in the glob that the parts may have led to."""
    positions = _skipping(names, {0})
    for part in parts:
        positions = _skipping(names, set(_after(names, positions, part)))
    return len(names) in positions


def _after(names: _Names, positions: set[int], part: str) -> Iterator[int]:
    for at in positions - {len(names)}:
        name = names[at]
        if name is None:
            yield from (at, at + 1)
        elif name.match(part):
            yield at + 1


def _skipping(names: _Names, positions: set[int]) -> set[int]:
    """`**` may match nothing, except at the end: `data/**` is what is below `data`."""
    for at in range(len(names) - 1):
        if at in positions and names[at] is None:
            positions.add(at + 1)
    return positions


def _names_of(glob: str) -> _Names:
    return [
        None if part == "**" else re.compile(fnmatch.translate("".join(_for_fnmatch(part))))
        for part in glob.split("/")
    ]


def _for_fnmatch(part: str) -> Iterator[str]:
    """Translate to fnmatch's dialect: no backslash, and classes are negated with `!` only."""
    position = 0
    while position < len(part):
        piece = _PIECE.match(part, position)
        if piece is None:
            raise ValueError(f"'{part}' is not a valid glob: a bracket or backslash is not closed")
        position = piece.end()
        if piece["escaped"]:
            yield f"[{piece['escaped']}]" if piece["escaped"] in "*?[" else piece["escaped"]
        elif piece["group"]:
            yield piece["group"].replace("[^", "[!", 1)
        else:
            yield piece["rest"]


def _choices_of(glob: str) -> list[str]:
    """Expand `{a,b}` into every alternative."""
    done: list[str] = []
    todo = [glob]
    while todo:
        choice = todo.pop()
        braces = _INNERMOST_CHOICE.search(choice)
        if braces is None:
            done.append(choice)
            continue
        before, after = choice[: braces.start()], choice[braces.end() :]
        todo.extend(f"{before}{option}{after}" for option in braces[1].split(","))
        if len(todo) + len(done) > _MAX_CHOICES:
            raise ValueError(f"'{glob}' has too many alternatives in braces")
    if any(re.search(r"(?<!\\)[{}]", choice) for choice in done):
        raise ValueError(f"'{glob}' is not a valid glob: its braces do not match")
    return done
