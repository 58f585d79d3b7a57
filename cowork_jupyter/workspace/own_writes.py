"""Files that this process has just written itself, by what no command can forge.

A command that ends is cleaned up after (see `sandbox.aftermath`). What the user let us write
meanwhile, with another tool, must stay.
"""

from __future__ import annotations

import os
from collections import deque

_MAX = 1000
_written: deque[tuple[int, int, int]] = deque(maxlen=_MAX)


def remember(facts: os.stat_result) -> None:
    """Note that a file is ours as it is now. Its change time is set by the kernel alone."""
    _written.append(_mark(facts))


def is_own(facts: os.stat_result) -> bool:
    """Whether the file is as we wrote it."""
    return _mark(facts) in _written


def _mark(facts: os.stat_result) -> tuple[int, int, int]:
    return facts.st_dev, facts.st_ino, facts.st_ctime_ns
