"""Stands in for ripgrep as a filter of lines, where ripgrep is not installed.

Run as a program of its own, so that a pattern which takes for ever can be stopped:
`python line_filter.py PATTERN FLAGS MAX_MATCHES CONTEXT`. Reads lines, writes `12:match` and
`13-context`. It is run by path, isolated from the package, so it imports nothing of ours.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Iterator
from typing import BinaryIO

MAX_LENGTH = 4000


def matching(
    source: BinaryIO, pattern: re.Pattern[str], most: int, context: int
) -> Iterator[tuple[int, str, str]]:
    """Number, `:` or `-`, and text of matching lines and those around them."""
    before: deque[tuple[int, str, str]] = deque(maxlen=context)
    after = 0
    for number, raw in enumerate(source, 1):
        line = raw.decode("utf-8", "replace").removesuffix("\n")
        if most and pattern.search(line):
            yield from before
            before.clear()
            yield number, ":", line
            most, after = most - 1, context
        elif after:
            yield number, "-", line
            after -= 1
        else:
            before.append((number, "-", line))
        if not most and not after:
            return


def main() -> None:
    """Filter standard input."""
    pattern, flags, most, context = sys.argv[1:]
    compiled = re.compile(pattern, int(flags))
    for number, mark, line in matching(sys.stdin.buffer, compiled, int(most), int(context)):
        out = f"{number}{mark}{line[:MAX_LENGTH]}\n"
        sys.stdout.buffer.write(out.encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
