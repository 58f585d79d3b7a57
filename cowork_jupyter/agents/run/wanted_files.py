"""The files that a request asks to be written: whether they are there is seen without a model."""

from __future__ import annotations

import re
from collections.abc import Callable

MAX_FILES = 8

_VERB = re.compile(
    r"\b(?:write|save|export|store|create|convert|produce|generate|schreib\w*|speicher\w*)\b",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"[\w./-]+\.(?:csv|tsv|jsonl?|xlsx|parquet|png|svg|pdf|md|txt|html|ipynb|py)\b", re.IGNORECASE
)


def wanted_files(request: str, exists: Callable[[str], bool]) -> tuple[str, ...]:
    """Files that are named behind a verb of writing, and are not there yet."""
    verb = _VERB.search(request)
    if verb is None:
        return ()
    named = dict.fromkeys(_FILE.findall(request, verb.end()))
    return tuple(path for path in named if not exists(path))[:MAX_FILES]
