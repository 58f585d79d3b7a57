"""Reads what is to be reviewed, by the tools that everybody has to use."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...tools.notebook.state import CellState
from .. import words
from ..conversation import Result
from ..file_names import named_in, quoted, unquoted
from ..script import Script
from .subject import ReviewedCell, Subject

MAX_FILES = 6
_MAX_PARTS = 8  # of up to 100 cells each
_CODE = (".ipynb", ".py")
_PATH = re.compile(r"[\w./-]{0,200}\w\.(?:ipynb|py)\b(?!\.?\w)", re.IGNORECASE)


def named_files(script: Script, text: str, files: Sequence[str]) -> list[str]:
    folder = "" if script.run.is_step else posixpath.dirname(script.here.notebook or "")
    known = [path for path in files if path.lower().endswith(_CODE)]
    named = [path for path in named_in(text, known, folder) if _is_whole(path, text)]
    written = [path for path in quoted(text) if path.lower().endswith(_CODE)]
    written += _PATH.findall(unquoted(text))
    missing = [
        code_path.removeprefix("./") for code_path in written
        if not any(path.lower().endswith(_plain(code_path).lower()) for path in known)
    ]  # fmt: skip
    return list(dict.fromkeys([*named, *missing]))[:MAX_FILES]


def _plain(path: str) -> str:
    return re.sub(r"^(?:\.{1,2}/)+", "", path)


def _is_whole(path: str, text: str) -> bool:
    """The suffix is required: `review` alone is a word."""
    return posixpath.basename(path).lower() in text.lower()


def read_subject(script: Script, path: str) -> Subject:
    if path.lower().endswith(".ipynb"):
        return _notebook(script, path)
    read = _read(script, path, "read_file", {})
    last = int(read.facts.get("last_line", 0))
    source = "\n".join(read.text.split("\n")[:last])  # behind it the tool may say how to read on
    cell = ReviewedCell(0, CellState(path, "code", source))
    return Subject(path, [cell], total=int(read.facts.get("total_lines", last)))


def _notebook(script: Script, path: str) -> Subject:
    cells: list[ReviewedCell] = []
    facts: Mapping[str, Any] = {}
    for _part in range(_MAX_PARTS):
        facts = _read(script, path, "read_notebook", {"offset": len(cells)} if cells else {}).facts
        cells += [_cell(number, cell) for number, cell in enumerate(facts["cells"], len(cells) + 1)]
        if not facts["cells"] or len(cells) >= facts["total_cells"]:
            break
    return Subject(path, cells, str(facts["language"]), int(facts["total_cells"]))


def _read(script: Script, path: str, tool: str, more: dict[str, int]) -> Result:
    read = script.call(tool, path=path, **more)
    if not read.ok:
        script.fail(f"I cannot read `{path}`: {words.first_line(read.text)}")
    return read


def _cell(number: int, fact: Mapping[str, Any]) -> ReviewedCell:
    state = CellState(
        id=fact["id"],
        cell_type=fact["cell_type"],
        source=fact["source"],
        execution_count=fact["execution_count"],
        tags=tuple(fact["tags"]),
    )
    return ReviewedCell(number, state, fact["failed"], fact["output_size"])
