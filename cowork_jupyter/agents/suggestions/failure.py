"""How a cell failed, for a model: the frames of the user's own code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ...domain.suggestions import CellError

_FRAME = re.compile(r"(?:Cell In\s*\[|Input In\s*\[|File |<ipython-input)")
_LIBRARY = ("site-packages", "dist-packages", "/lib/python", "\\lib\\", "<frozen ", "<__array_")
_NUMBERED = re.compile(r"^(?:-+>)?\s*\d+\s?")
_MAX_TRACEBACK = 60_000
_SHORT = 4
"""Characters below which a line is no evidence of a cell."""


def told_failure(error: CellError, private: Iterable[str] = ()) -> str:
    """The traceback with library frames counted instead, and lines of private cells left out."""
    hidden = {
        line.strip()
        for source in private
        for line in source.splitlines()
        if len(line.strip()) >= _SHORT
    }
    lines = list(_own_frames(error.traceback[-_MAX_TRACEBACK:].splitlines()))
    kept = [line for line in lines if _NUMBERED.sub("", line).strip() not in hidden]
    said = f"{error.name}: {error.value}".rstrip(": ")
    text = "\n".join(kept).strip()
    return text if error.value and error.value.strip() in text else f"{text}\n{said}".strip()


def _own_frames(lines: list[str]) -> Iterator[str]:
    skipped, is_library = 0, False
    for line in lines:
        if _FRAME.match(line.lstrip()):
            is_library = any(sign in line for sign in _LIBRARY)
            skipped += is_library
        elif is_library and line and not line[0].isspace() and not line.startswith("-"):
            is_library = False  # what the error says, after the last frame
        if is_library:
            continue
        if skipped:
            yield f"[{skipped} frame{'' if skipped == 1 else 's'} of libraries]"
            skipped = 0
        yield line
    if skipped:
        yield f"[{skipped} frame{'' if skipped == 1 else 's'} of libraries]"
