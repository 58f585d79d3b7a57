"""The files that a request asks for: whether they exist can be checked without a model."""

from __future__ import annotations

import re
from collections.abc import Callable

MAX_FILES = 8

_VERB = re.compile(
    r"\b(?:write|save|export|store|create|convert|produce|generate|schreib\w*|speicher\w*)\b",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"(?<![\w./-])(?<!\(['\"])"  # not what a call in quoted code is given
    r"[\w./-]+\.(?:csv|tsv|jsonl?|xlsx|parquet|png|svg|pdf|md|txt|html|ipynb|py)\b",
    re.IGNORECASE,
)
_CALLS = {
    "csv": "table.to_csv({path!r}, index=False)",
    "xlsx": "table.to_excel({path!r}, index=False)",
    "parquet": "table.to_parquet({path!r})",
    "json": "table.to_json({path!r})",
    **dict.fromkeys(("png", "svg", "pdf"), "fig.savefig({path!r})"),
    "ipynb": "nbformat.write(notebook, {path!r})",
}


def wanted_files(request: str, exists: Callable[[str], bool]) -> tuple[str, ...]:
    """Files named behind a verb of writing that do not exist yet."""
    verb = _VERB.search(request)
    if verb is None:
        return ()
    named = dict.fromkeys(_FILE.findall(request, verb.end()))
    return tuple(path for path in named if not exists(path))[:MAX_FILES]


def how_to_write(path: str) -> str:
    """Example code for such a file: small models do not think of it by themselves."""
    ending = path.rpartition(".")[2].lower()
    return _CALLS.get(ending, "Path({path!r}).write_text(text)").format(path=path)
